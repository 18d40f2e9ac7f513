'use strict'

const { Buffer } = require('node:buffer')
const createError = require('http-errors')

/**
 * A request's body while it is on its way: Content-Length bytes, kept until somebody takes them, and
 * no more of them than node's stream would buffer.
 */

const EMPTY = Buffer.alloc(0)

class Body {
  /**
   * @param {Connection} connection told when there is room again
   * @param {number} length bytes in total
   */
  constructor (connection, length) {
    this.connection = connection
    this.length = length
    this.missing = length  // bytes that have not arrived
    this.whole = null      // all of them, once in one piece
    this.chunks = null     // what waits for a reader
    this.waiting = 0       // bytes in chunks
    this.taken = false     // somebody reads it with read()
    this.dropped = false   // nobody wants the rest
    this.stream = null     // node's IncomingMessage, where it goes instead
    this.promise = null
    this.settle = null
    this.failure = null
  }

  /** The next bytes. False when the sender has to wait. */
  write (chunk) {
    this.missing -= chunk.length
    if (this.dropped) return true
    if (this.stream !== null) return this.stream._dumped || this.stream.push(chunk)

    if (this.missing === 0 && this.chunks === null) this.whole = chunk
    else (this.chunks ??= []).push(chunk)
    this.waiting += chunk.length

    if (this.missing === 0) {
      if (this.settle !== null) this.finish()
      return true
    }
    return this.taken || this.waiting < this.connection.socket.readableHighWaterMark
  }

  /** @return {Buffer|Promise<Buffer>} */
  read () {
    this.taken = true
    if (this.missing === 0) return this.all()
    if (this.failure !== null) return Promise.reject(this.failure)
    if (this.promise === null) {
      this.promise = new Promise((resolve, reject) => { this.settle = { resolve, reject } })
      this.connection.go()
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
    const { resolve } = this.settle
    this.settle = null
    resolve(this.all())
  }

  /** The client is gone. */
  abort () {
    if (this.missing === 0) return
    this.failure = cut(this.waiting)
    if (this.settle === null) return
    const { reject } = this.settle
    this.settle = null
    reject(this.failure)
  }

  /** The answer is out and nobody asked: let the rest pass by, as node does. */
  drop () {
    if (this.taken || this.stream !== null) return
    this.dropped = true
    this.chunks = this.whole = null
    this.waiting = 0
    if (this.missing > 0) this.connection.go()
  }
}

function tooLong (limit) {
  const message = `the body is longer than ${limit} bytes`
  return createError(413, message, { code: 'KONE_ERR_BODY_LIMIT', limit })
}

function cut (received) {
  return createError(400, 'the request was aborted', { code: 'KONE_ERR_BODY_ABORTED', received })
}

module.exports = { Body, EMPTY, tooLong, cut }
