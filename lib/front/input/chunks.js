'use strict'

const assert = require('assert')
const { Buffer } = require('buffer')
const { Probe } = require('../node/probe')
const { noLineBreak } = require('../errors')

/** What decode() returns other than an offset. */
const MALFORMED = -1

const LF = 10
const CR = 13

/** States: what the next byte belongs to. */
const SIZE = 0
const SIZE_END = 1
const EXTENSIONS = 2
const DATA = 3
const DATA_END = 4
const LAST = 5
const TRAILERS = 6
const END = 7
const BROKEN = 8

/** Byte → value of a hexadecimal digit, or -1. */
const DIGITS = Int8Array.from({ length: 256 }, (_, byte) => '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase()))

/** In place of the size of a chunk: no digit was read. */
const NO_SIZE = -1

/**
 * Decodes the chunks of one body.
 *
 *    SIZE → SIZE_END → DATA → DATA_END → SIZE …
 *      └→ EXTENSIONS ┘  └ of 0 bytes: LAST → END
 *                                      └ TRAILERS ┘
 *
 * Only what nearly every client sends is read here: sizes, line breaks and data. Node's own parser reads extensions,
 * trailers, and what is malformed. So limits, errors and what is accepted are those of the Node version.
 */
class Chunks {
  /**
   * @param {http.Server} server
   * @param {{ maxHeaderSize: number, maxHeadersCount: number }} limits of the connection
   * @param {import('./headers').HeaderSection} section of the request
   */
  constructor (server, limits, section) {
    this.server = server
    this.limits = limits
    this.section = section
    this.state = SIZE
    this.size = NO_SIZE      // of the chunk
    this.missing = 0         // bytes of the chunk that have not arrived
    this.sawCR = false       // the last read ended in the middle of a line break
    this.isBelowMark = true  // what the body's add() returned last in this read
    this.closes = section.closes // trailers may decide it, too
    this.error = null        // node's error about malformed bytes
    this.probe = null        // with node's parser, which waits for the size of a chunk unless it reads a line
  }

  get isBroken () { return this.state === BROKEN }

  /**
   * Adds the data between `at` and the end of `read` to `body`, and closes it after the last chunk.
   *
   * @return {number} offset after these bytes of the body, or MALFORMED: `error` says why
   */
  decode (read, at, body) {
    this.isBelowMark = true // a read without data fills no body: the stop for an earlier one may be over
    while (at < read.length && at !== MALFORMED && this.state !== END) at = this.step(read, at, body)
    if (this.state !== END) return at
    body.close(this.probe === null ? null : this.probe.trailers)
    this.release()
    return at
  }

  step (read, at, body) {
    switch (this.state) {
      case SIZE: return this.sizeAt(read, at)
      case SIZE_END: return this.lineBreak(read, at)
      case EXTENSIONS: return this.extensionsAt(read, at)
      case DATA: return this.dataAt(read, at, body)
      case DATA_END: return this.lineBreak(read, at)
      case LAST: return this.sawCR || read[at] === CR ? this.lineBreak(read, at) : this.beginTrailers(at)
      case TRAILERS: return this.trailersAt(read, at)
      case BROKEN: return this.repeatError(read)
    }
    assert.fail(`a body went on in state ${this.state}`)
  }

  sizeAt (read, at) {
    let { size } = this
    let i = at
    for (let digit; i < read.length && (digit = DIGITS[read[i]]) !== -1; i++) {
      size = Math.max(size, 0) * 16 + digit
      if (size > Number.MAX_SAFE_INTEGER) return this.beginEndless(at)
    }
    this.size = size
    if (i === read.length) return i
    if (read[i] === CR && size !== NO_SIZE) this.state = SIZE_END
    else this.beginExtensions(size === NO_SIZE ? '' : size === 0 ? '0' : '1')
    return i
  }

  /** A size that no client can send. Node's parser knows whether it is one. */
  beginEndless (at) {
    this.beginExtensions(this.size === NO_SIZE ? '' : this.size.toString(16))
    this.size = Infinity
    return at
  }

  /** Node's parser reads the rest of this line. For it, each chunk has one byte. */
  beginExtensions (size) {
    this.state = EXTENSIONS
    this.prime(size)
  }

  extensionsAt (read, at) {
    const end = behindLine(read, at)
    if (!this.check(read, at, end)) return MALFORMED
    if (read[end - 1] !== LF) return end
    if (this.size === 0) {
      this.state = TRAILERS
    } else {
      this.beginData()
      if (this.size !== Infinity) this.prime('x\r\n')
    }
    return end
  }

  beginData () {
    this.state = DATA
    this.missing = this.size
  }

  dataAt (read, at, body) {
    const end = Math.min(read.length, at + this.missing)
    this.missing -= end - at
    if (this.missing === 0) this.state = DATA_END
    this.isBelowMark = body.add(read.subarray(at, end))
    return end
  }

  /** Reads CR and LF, and enters the next state. */
  lineBreak (read, at) {
    let i = at
    if (!this.sawCR && read[i++] !== CR) return this.malformed(read, at)
    if (i < read.length && read[i] !== LF) return this.malformed(read, at)
    this.sawCR = i === read.length
    if (this.sawCR) return i
    if (this.state === LAST) this.state = END
    else if (this.state === DATA_END) this.beginChunk()
    else if (this.size === 0) this.state = LAST
    else this.beginData()
    return i + 1
  }

  beginChunk () {
    this.state = SIZE
    this.size = NO_SIZE
  }

  beginTrailers (at) {
    this.state = TRAILERS
    this.prime('0\r\n')
    return at
  }

  trailersAt (read, at) {
    const end = behindLine(read, at)
    if (!this.check(read, at, end)) return MALFORMED
    if (!this.probe.hasEnded) return end
    this.state = END
    this.closes = this.probe.refusesMore()
    return end
  }

  // ---- node's parser

  /** Gives it bytes that it accepts: it is then in the state that it would be in. */
  prime (text) {
    this.probe ??= new Probe(this.server, this.limits, this.section)
    this.probe.feed(Buffer.from(text, 'latin1'))
  }

  /** Gives it bytes of the client. @return {boolean} whether it accepts them */
  check (read, start, end) {
    const { probe } = this
    probe.feed(read.subarray(start, end), read, start)
    if (probe.error === null) return true
    this.breakWith(probe.error)
    return false
  }

  breakWith (err) {
    this.state = BROKEN
    this.error = err
    this.release()
  }

  /** These bytes are not the expected line break. */
  malformed (read, at) {
    const before = this.state === DATA_END ? '1\r\nx' : this.size === 0 ? '0' : '1'
    this.prime(before + (this.state === LAST ? '\r\n' : '') + (this.sawCR ? '\r' : ''))
    if (this.check(read, at, read.length)) this.breakWith(noLineBreak(read, at)) // the server has become lenient
    return MALFORMED
  }

  /** Like node's parser, which gives the same error for every later read. */
  repeatError (rawPacket) {
    this.error = Object.assign(new Error(this.error.message), this.error, { rawPacket })
    return MALFORMED
  }

  release () {
    if (this.probe !== null) this.probe.release()
    this.probe = null
  }
}

function behindLine (read, at) {
  const lf = read.indexOf(LF, at)
  return lf === -1 ? read.length : lf + 1
}

module.exports = { Chunks, MALFORMED }
