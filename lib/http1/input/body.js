'use strict'

const assert = require('node:assert')
const { Buffer } = require('node:buffer')
const createError = require('http-errors')
const { call } = require('../call')

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

  /**
   * The next bytes.
   *
   * @return {boolean} false when the sender has to wait
   */
  write (chunk) {
    if (chunk.length > this.missing) assert.fail(`a body got ${chunk.length} bytes, and ${this.missing} were missing`)
    this.missing -= chunk.length
    if (this.state === DROPPED) return true
    if (this.state === STREAMED) return this.stream._dumped || push(this.stream, chunk)

    if (this.missing === 0 && this.chunks === null) this.whole = chunk
    else (this.chunks ??= []).push(chunk)
    this.buffered += chunk.length

    if (this.missing === 0) {
      if (this.resolvers !== null) this.finish()
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
      this.connection.bodyIsRead()
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

  finish () {
    const { resolve } = this.resolvers
    this.resolvers = null
    resolve(this.all())
  }

  /**
   * From now on the bytes go into node's stream.
   *
   * @param {http.IncomingMessage} req
   * @return {boolean} false when the sender has to wait
   */
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
  abort () {
    if (this.missing === 0) return
    this.failure = aborted(this.buffered)
    if (this.resolvers === null) return
    const { reject } = this.resolvers
    this.resolvers = null
    reject(this.failure)
  }

  /** The response was sent: skip an unread body, as node does. */
  drop () {
    if (this.state !== UNREAD) return
    this.become(DROPPED)
    this.chunks = this.whole = null
    if (this.missing > 0) this.connection.bodyIsRead()
  }
}

/** @return {boolean} false when the sender has to wait */
function push (stream, chunk) {
  return call(pushTo, stream, chunk) !== false
}

function pushTo (stream, chunk) {
  return stream.push(chunk) // calls listeners for 'data' of a stream that flows
}

function tooLong (limit) {
  const message = `the body is longer than ${limit} bytes`
  return createError(413, message, { code: 'KONE_ERR_BODY_LIMIT', limit })
}

function aborted (received) {
  return createError(400, 'the request was aborted', { code: 'KONE_ERR_BODY_ABORTED', received })
}

function used () {
  const message = 'the body was read before, or skipped because the response was sent'
  return createError(500, message, { code: 'KONE_ERR_BODY_USED' })
}

module.exports = { Body, NAMES, EMPTY, tooLong, aborted, used }
