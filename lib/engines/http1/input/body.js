'use strict'

const assert = require('assert')
const { Buffer } = require('buffer')
const { call } = require('../call')
const { aborted } = require('../../errors')

const EMPTY = Buffer.alloc(0)

/**
 * A request's body while it arrives: Content-Length bytes. Keeps bytes that nobody has read yet, and no more of them
 * than node's stream would buffer.
 *
 *    UNREAD ──▶ COLLECTED   collect() joins it into one Buffer
 *      ├──────▶ STREAMED    node's IncomingMessage gets it
 *      └──────▶ DROPPED     the response was sent and nobody had read the body: the rest is skipped
 */
const UNREAD = 0
const COLLECTED = 1
const STREAMED = 2
const DROPPED = 3

const NAMES = ['UNREAD', 'COLLECTED', 'STREAMED', 'DROPPED']

/** From which states a body can go to each: a bit per state. */
const FOLLOWS = [0, 1 << UNREAD | 1 << COLLECTED, 1 << UNREAD, 1 << UNREAD]

class Body {
  /**
   * @param {Connection} connection is notified when reading can continue
   * @param {number} length bytes in total
   */
  constructor (connection, length) {
    this.connection = connection
    this.length = length
    this.missing = length  // bytes that have not arrived
    this.state = UNREAD
    this.stream = null     // node's IncomingMessage, of a body that is STREAMED
    this.whole = null      // all bytes, once in one piece
    this.chunks = null     // bytes that nobody has read yet
    this.buffered = 0      //   and their number
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

  /** @return {boolean} false when the sender has to wait */
  add (chunk) {
    if (chunk.length > this.missing) assert.fail(`a body got ${chunk.length} bytes, and ${this.missing} were missing`)
    this.missing -= chunk.length
    if (this.state === DROPPED) return true
    if (this.state === STREAMED) return this.stream._dumped || push(this.stream, chunk)

    if (this.missing === 0 && this.chunks === null) this.whole = chunk
    else (this.chunks ??= []).push(chunk)
    this.buffered += chunk.length

    if (this.missing === 0) {
      if (this.resolvers !== null) this.resolvers.resolve(this.all())
      return true
    }
    return this.state === COLLECTED || this.buffered < this.connection.socket.readableHighWaterMark
  }

  /** @return {Buffer|Promise<Buffer>} all bytes; a Buffer if they have arrived */
  collect () {
    this.become(COLLECTED)
    if (this.missing === 0) return this.all()
    if (this.failure !== null) return Promise.reject(this.failure)
    if (this.promise === null) {
      this.promise = new Promise((resolve, reject) => { this.resolvers = { resolve, reject } })
      this.connection.onBodyRead()
    }
    return this.promise
  }

  all () {
    if (this.whole === null) {
      this.whole = this.chunks === null ? EMPTY : Buffer.concat(this.chunks, this.length)
      this.chunks = null
    }
    return this.whole
  }

  /** From now on the bytes go into node's stream. Returns what add() does. */
  streamTo (req) {
    const chunks = this.whole === null ? this.chunks || [] : [this.whole]
    this.become(STREAMED)
    this.stream = req
    this.whole = this.chunks = null
    let isBelowMark = true
    for (const chunk of chunks) isBelowMark = push(req, chunk)
    return isBelowMark
  }

  /** The client has closed the connection. */
  cutOff () {
    if (this.missing === 0) return
    this.failure = aborted(this.buffered)
    if (this.resolvers !== null) this.resolvers.reject(this.failure)
  }

  /** The response was sent: skip an unread body, as node does. */
  drop () {
    if (this.state !== UNREAD) return
    this.become(DROPPED)
    this.chunks = this.whole = null
    if (this.missing > 0) this.connection.onBodyRead()
  }
}

/** Returns what add() does. */
function push (stream, chunk) {
  return call(() => stream.push(chunk)) !== false // a stream that flows calls its listeners for 'data'
}

module.exports = { Body, NAMES, EMPTY }
