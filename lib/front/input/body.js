'use strict'

const assert = require('assert')
const { Buffer } = require('buffer')
const { call } = require('../call')
const { aborted, tooLong } = require('../../engines/errors')
const { MOST, limitTime } = require('../../engines/rest')
const { Held } = require('./held')
const { nextTick } = require('../../shared/timers')

const EMPTY = Buffer.alloc(0)

/**
 * A request's body while it arrives: Content-Length bytes, or chunks. Keeps bytes that nobody has read yet, and no more
 * of them than node's stream would buffer.
 *
 *    UNREAD ──▶ COLLECTED   collect() joins it into one Buffer
 *      │           └──▶ LEFT ──▶ STREAMED, DROPPED   chunks beyond the limit: nobody reads on
 *      ├──────▶ STREAMED    node's IncomingMessage gets it
 *      └──────▶ DROPPED     the response was sent and nobody reads the body: the rest is skipped
 */
const UNREAD = 0
const COLLECTED = 1
const STREAMED = 2
const DROPPED = 3
const LEFT = 4

const NAMES = ['UNREAD', 'COLLECTED', 'STREAMED', 'DROPPED', 'LEFT']

/** From which states a body can go to each: a bit per state. */
const FOLLOWS = [0, 1 << UNREAD | 1 << COLLECTED, 1 << UNREAD | 1 << LEFT, 1 << UNREAD | 1 << LEFT, 1 << COLLECTED]

class Body {
  /**
   * @param {import('../connection').Connection} connection is notified when reading can continue
   * @param {number} length bytes in total; Infinity: until close()
   */
  constructor (connection, length) {
    this.connection = connection
    this.missing = length  // bytes that have not arrived
    this.state = UNREAD
    this.stream = null     // node's IncomingMessage, of a body that is STREAMED
    this.whole = null      // all bytes, once in one piece
    this.held = null       // bytes that nobody has read yet
    this.buffered = 0      //   and their number; of a body that is DROPPED, how many were skipped
    this.limit = Infinity  // of the reader that collects it, in bytes
    this.trailers = null   // names and values in turn
    this.promise = null
    this.resolvers = null
    this.failure = null
  }

  /** @throws {Error} for a change of state that is not allowed: a bug in kone */
  become (state) {
    const isAllowed = (FOLLOWS[state] & 1 << this.state) !== 0
    if (!isAllowed) assert.fail(`a body went from ${NAMES[this.state]} to ${NAMES[state]}`)
    this.state = state
  }

  get isComplete () { return this.missing === 0 }
  get isCollected () { return this.state === COLLECTED }
  get isDropped () { return this.state === DROPPED }
  get isStreamed () { return this.state === STREAMED }
  get isLeft () { return this.state === LEFT }

  /** Is there a reader, or space for more bytes until there is one? */
  get isBelowMark () {
    if (this.state !== UNREAD && this.state !== LEFT) return true
    return this.buffered < this.connection.socket.readableHighWaterMark
  }

  /** @return {boolean} false when the sender has to wait */
  add (chunk) {
    if (chunk.length > this.missing) assert.fail(`a body got ${chunk.length} bytes, and ${this.missing} were missing`)
    this.missing -= chunk.length
    if (this.state === DROPPED) return this.skip(chunk)
    if (this.state === STREAMED) return this.stream._dumped || push(this.stream, chunk)

    if (this.missing === 0 && this.held === null) this.whole = chunk
    else (this.held ??= new Held()).add(chunk)
    this.buffered += chunk.length

    if (this.missing === 0) {
      this.resolve()
      return true
    }
    if (this.buffered > this.limit) this.leave()
    return this.isBelowMark
  }

  /** The last chunk has arrived. */
  close (trailers) {
    this.missing = 0
    this.trailers = trailers
    this.resolve()
  }

  resolve () {
    if (this.resolvers !== null) this.resolvers.resolve(this.all())
  }

  /**
   * @param {number} limit in bytes, of a body of unknown length
   * @return {Buffer|Promise<Buffer>} all bytes; a Buffer if they have arrived
   */
  collect (limit) {
    if (this.failure !== null) return Promise.reject(this.failure)
    this.become(COLLECTED)
    if (this.missing === 0) return this.all()
    if (this.promise === null) {
      this.limit = limit
      this.promise = new Promise((resolve, reject) => { this.resolvers = { resolve, reject } })
      this.connection.onBodyRead()
    }
    return this.promise
  }

  all () {
    if (this.whole === null) {
      const pieces = this.held === null ? [EMPTY] : this.held.reads
      this.whole = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces, this.buffered)
      this.held = null
    }
    return this.whole
  }

  /** It is longer than the limit: what comes now is for another reader, as in node's stream. */
  leave () {
    this.become(LEFT)
    this.failure = tooLong(this.limit)
    this.held = null
    this.buffered = 0
    this.limit = Infinity
    this.resolvers.reject(this.failure)
    this.resolvers = null
  }

  /** From now on the bytes go into node's stream. Returns what add() does. */
  streamTo (req) {
    const pieces = this.whole !== null ? [this.whole] : this.held !== null ? this.held.reads : []
    this.become(STREAMED)
    this.stream = req
    this.whole = this.held = null
    let isBelowMark = true
    for (const piece of pieces) isBelowMark = push(req, piece)
    return isBelowMark
  }

  /** The client has closed the connection. */
  cutOff () {
    if (this.missing === 0) return
    this.failure = aborted(this.buffered)
    if (this.resolvers !== null) this.resolvers.reject(this.failure)
  }

  /** The response was flushed: in the next tick, because on node the handler may still begin to read. */
  onFlushed () {
    if (this.missing > 0) nextTick(() => this.drop())
  }

  /** Skip what nobody reads, as node does; see ../../engines/rest.js. */
  drop () {
    if (this.state === COLLECTED && this.failure === null) this.promise?.catch(() => this.drop()) // it may be left
    if ((FOLLOWS[DROPPED] & 1 << this.state) === 0) return
    this.become(DROPPED)
    this.held = this.whole = null
    this.buffered = 0
    if (this.missing === 0) return
    this.connection.onBodyRead()
  }

  skip (chunk) {
    const before = this.buffered
    this.buffered += chunk.length
    if (before <= MOST && this.buffered > MOST) limitTime(this.connection.socket, () => this.isComplete)
    return true
  }
}

/** Returns what add() does. */
function push (stream, chunk) {
  return call(() => stream.push(chunk)) !== false // a stream that flows calls its listeners for 'data'
}

module.exports = { Body, NAMES, EMPTY }
