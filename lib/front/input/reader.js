'use strict'

const assert = require('assert')
const { Partial, parse, found, INCOMPLETE, UNSUPPORTED } = require('./parser')
const { Body } = require('./body')
const { Chunks, MALFORMED } = require('./chunks')
const { NO_LENGTH } = require('./headers')
const { Incoming } = require('./incoming')
const { unexpectedEnd, behindLast } = require('../errors')
const turn = require('../turn')

/** The parser gets a read in windows of about the longest header section, in bytes. */
const WINDOW = 32 * 1024

const LF = 10
const CR = 13

/** Longest header section that is kept to compare the next request with, in bytes. */
const LONGEST_KEPT = 4 * 1024

/**
 * Turns the bytes of one connection into requests. Independent of sockets. Parses a whole read before it dispatches
 * a request of it, because node gets the whole read if any part of it is unsupported.
 *
 *    REQUEST LINE, FIELDS ──▶ BODY (receiving) ──▶ REQUEST LINE … ──▶ LAST, after `Connection: close`
 *      └─ in pieces: partial
 */
class Reader {
  constructor (connection) {
    const { maxHeaderSize, maxHeadersCount } = connection.front // as on node, those of its beginning count
    this.connection = connection
    this.maxHeaderSize = maxHeaderSize
    this.maxHeadersCount = maxHeadersCount
    this.section = connection.front.lastSection(maxHeadersCount) // of the last request: most requests repeat it
    this.partial = null       // a request line and header section without their end
    this.receiving = null     // the request whose body is arriving
    this.chunks = null        //   and its decoder, if it is chunked
    this.next = 0             // offset after the request that was read last
    this.sawLast = false      // nothing follows the last request
    this.hasServed = false    // there was a request
    this.text = ''            // the window
    this.base = 0             //   and its offset in the read
  }

  feed (chunk) {
    const whole = chunk
    if (this.receiving !== null) {
      chunk = this.receive(chunk)
      if (chunk === null) return
    }
    if (this.sawLast) return this.readBehindLast(whole, whole.length - chunk.length)
    if (this.partial !== null) chunk = this.continueSection(chunk)
    if (chunk === null) return
    const at = behindLineBreaks(chunk, 0)
    if (at === chunk.length) return
    if (this.connection.front.fallsBack()) this.connection.onUnsupported(chunk)
    else this.readRequests(chunk, at)
  }

  /** The next piece of a header section. Returns all of its bytes once they can be parsed. */
  continueSection (chunk) {
    const { partial } = this
    const verdict = partial.add(chunk)
    if (verdict === INCOMPLETE && partial.size < this.maxHeaderSize) return null

    this.partial = null
    if (verdict > 0) return partial.bytes
    this.connection.onUnsupported(partial.bytes)
    return null
  }

  /** @return {Buffer} these bytes after those of the header section that has begun, which is given up */
  giveBack (chunk) {
    if (this.receiving !== null) assert.fail('node gets the socket in the middle of a body')
    const { partial } = this
    this.partial = null
    this.connection.deadlines.endMessage()
    if (partial === null) return chunk
    partial.add(chunk)
    return partial.bytes
  }

  /** Finds all requests of a read, from `at` on, then dispatches them. */
  readRequests (chunk, at) {
    const size = chunk.length
    let first = null
    let last = null
    let more = null
    let verdict = INCOMPLETE
    this.look(chunk, at)

    while (at < size) {
      verdict = this.parse(chunk, at)
      if (verdict === INCOMPLETE && size - at >= this.maxHeaderSize) verdict = UNSUPPORTED
      if (verdict <= 0) break
      const incoming = this.request(chunk, verdict)
      const isAlone = first === null && this.next === size
      if (incoming === null || (found.section.isHandshake && !(isAlone && this.connection.onHandshake(incoming)))) {
        this.sawLast = false // node gets it: a malformed body, or a handshake that comes with other bytes, for example
        verdict = UNSUPPORTED
        break
      }
      last = incoming
      if (first === null) first = last
      else (more ??= []).push(last)
      at = behindLineBreaks(chunk, this.next)
      if (this.sawLast) break
    }

    const hasRest = at < size && (this.sawLast || verdict === UNSUPPORTED)
    if (hasRest && this.connection.responses.first === null) {
      this.text = ''
      return this.connection.onUnsupported(chunk)
    }
    this.keep(last, at < size && !hasRest ? chunk.subarray(at) : null)
    if (first !== null) {
      this.hasServed = true
      this.connection.onRequests(first, more)
      if (this.receiving !== null && !this.receiving.body.isBelowMark) this.connection.onBodyFull(this.receiving.body)
    }
    if (hasRest && this.sawLast) this.readBehindLast(chunk, at)
    else if (hasRest) this.connection.onUnsupported(chunk.subarray(at))
  }

  /** @return {number} offset in `chunk` after the header section at `at`, or INCOMPLETE or UNSUPPORTED */
  parse (chunk, at) {
    const { maxHeaderSize, maxHeadersCount } = this
    if (at >= this.base + this.text.length) this.look(chunk, at)
    let end = parse(this.text, at - this.base, this.section, maxHeaderSize, maxHeadersCount)
    if (end <= 0 && at > this.base && this.base + this.text.length < chunk.length) {
      this.look(chunk, at)
      end = parse(this.text, 0, this.section, maxHeaderSize, maxHeadersCount)
    }
    return end <= 0 ? end : this.base + end
  }

  look (chunk, at) {
    this.base = at
    this.text = chunk.latin1Slice(at, Math.min(chunk.length, at + Math.max(WINDOW, 2 * this.maxHeaderSize)))
  }

  /**
   * Creates the request that the parser has just found, with the bytes of its body, which begins at `start`.
   *
   * @return {Incoming|null} null if its body is malformed
   */
  request (chunk, start) {
    const { connection } = this
    const { section } = found
    let body = null
    let arrivedIn = turn.EARLIER
    this.section = section
    this.next = start
    this.sawLast = section.closes
    if (section.contentLength !== NO_LENGTH) {
      body = this.beginBody(chunk, start)
      if (this.next === MALFORMED) return null
      // Node notices the end of an empty body at once.
      if (body !== null && body.isComplete && body.buffered > 0) arrivedIn = turn.now()
    }
    return new Incoming(connection, found.method, found.url, section, body, arrivedIn)
  }

  beginBody (chunk, start) {
    const { connection } = this
    const { contentLength } = found.section
    if (contentLength >= 0) {
      this.next += contentLength
      if (contentLength === 0) return null
      const body = new Body(connection, contentLength)
      if (start < chunk.length) body.add(chunk.subarray(start, this.next))
      return body
    }
    const body = new Body(connection, Infinity)
    const chunks = new Chunks(connection.server, this, found.section)
    this.next = chunks.decode(chunk, start, body)
    if (body.isComplete) this.sawLast = chunks.closes
    else if (this.next !== MALFORMED) this.chunks = chunks
    return body
  }

  /** Keeps what a read has not completed: the body of `last`, or a header section, of which these bytes came. */
  keep (last, bytes) {
    const { deadlines } = this.connection
    if (bytes !== null) {
      this.beginSection(bytes)
      if (last !== null) deadlines.endMessage()
      deadlines.beginMessage()
    } else if (last !== null && last.body !== null && !last.body.isComplete) {
      this.expectNothing()
      this.receiving = last
      deadlines.beginMessage()
    } else {
      deadlines.endMessage()
    }
    if (this.section !== null && this.section.text.length > LONGEST_KEPT) this.section = null
    if (last !== null && !this.hasServed) this.connection.front.keepSection(this.section, this.maxHeadersCount)
    this.text = ''
  }

  beginSection (bytes) {
    this.expectNothing()
    if (this.sawLast) assert.fail('a message began after the last one')
    this.partial = new Partial(bytes)
  }

  /** Adds bytes to the current body. Returns the bytes after it, or null. */
  receive (chunk) {
    const incoming = this.receiving
    const { connection, chunks } = this
    const { body } = incoming
    let end = Math.min(chunk.length, body.missing)
    let isBelowMark
    if (chunks === null) {
      isBelowMark = body.add(end === chunk.length ? chunk : chunk.subarray(0, end))
    } else {
      end = chunks.decode(chunk, 0, body)
      if (end === MALFORMED) connection.onProtocolError(chunks.error)
      isBelowMark = chunks.isBelowMark
    }
    if (!body.isComplete) {
      if (!isBelowMark) connection.onBodyFull(body)
      return null
    }
    if (chunks !== null) this.sawLast = chunks.closes
    this.receiving = this.chunks = null
    connection.deadlines.endMessage()
    const rest = end < chunk.length ? chunk.subarray(end) : null
    if (incoming.req === null) return rest
    if (rest === null || !this.sawLast || behindLineBreaks(rest, 0) === rest.length) {
      connection.onBodyArrived(incoming, rest)
      return null
    }
    connection.onBodyEnd(incoming)
    return rest // an error, which has the whole read
  }

  /** Checks the bytes from `start` on, after a request with `Connection: close`: like node, allows only line breaks. */
  readBehindLast (chunk, start) {
    const at = chunk.latin1Slice(start, chunk.length).search(/[^\r\n]/)
    if (at === -1 && !this.connection.hasFailed) return
    this.connection.onProtocolError(behindLast(chunk, start + Math.max(at, 0) + 1))
  }

  /** At most one thing arrives at a time: the rest of a header section, or of a body. */
  expectNothing () {
    if (this.partial !== null) assert.fail('a message began inside a header section')
    if (this.receiving !== null) assert.fail('a message began inside a body')
  }

  /** @return {Error|null} the error if the client has ended its side in the middle of a message */
  readEnd () {
    const isBetween = this.partial === null && this.receiving === null
    return isBetween || (this.chunks !== null && this.chunks.isBroken) ? null : unexpectedEnd()
  }

  /** The connection is closed. A request whose response was sent is not aborted, as on node. */
  cutOff () {
    if (this.receiving !== null) this.receiving.body.cutOff()
    if (this.chunks !== null) this.chunks.release()
  }
}

/** Offset of the next message: node skips line breaks, which begin none. */
function behindLineBreaks (chunk, at) {
  while (at < chunk.length && (chunk[at] === CR || chunk[at] === LF)) at++
  return at
}

module.exports = { Reader }
