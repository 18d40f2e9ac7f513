'use strict'

// The global `process` is a getter, too slow for each request.
const process = require('node:process')
const { callAll } = require('../call')
const { notWritten } = require('../errors')
const { STREAMING, BATCHED, WRITTEN } = require('./outgoing')
const { Pieces } = require('./pieces')

/**
 * The responses of one connection, in the order of their requests:
 *
 *       flushing            batched             first ──▶ next ──▶ … ──▶ last
 *    |  written, not  |  bytes in `batch`,  |  the current   open, or ended    |
 *    |  flushed yet   |  not written yet    |  one           and queued        |
 *                                              streaming
 *
 * A lone response is written at once; several are collected and written together, at the end of the tick or
 * when they reach the socket's high-water mark (measured: 4 to 5 times cheaper for pipelined requests).
 * While the client does not read, responses are kept by reference and not given to the socket.
 *
 * It notifies the connection of three things: which response is the first now, that all are written, and that the
 * one after which the connection closes was written.
 */
class Responses {
  /**
   * @param {Connection} connection
   * @param {net.Socket} socket
   */
  constructor (connection, socket) {
    this.connection = connection
    this.socket = socket
    this.first = null
    this.last = null
    this.length = 0         // from first to last
    this.queuedBytes = 0    // of queued responses, node's own included
    this.batch = new Pieces()
    this.batched = null     // the responses whose bytes are in the batch
    this.flushing = null
    this.delayed = null     // the current response, if it was destroyed: it ends the connection after `flushing`
    this.isScheduled = false
    this.isBurst = false    // one read held several requests
    this.isAsync = socket.encrypted === true // TLS never writes at once
  }

  get isEmpty () { return this.first === null && this.batched === null }

  /** Responses wait for the end of the tick. */
  get isBatching () { return this.batched !== null }

  /** Every response was flushed. */
  get isFlushed () { return this.isEmpty && this.flushing === null }

  /** How many responses have ended and are not flushed. */
  get unflushed () {
    return (this.batched === null ? 0 : this.batched.length) + (this.flushing === null ? 0 : this.flushing.length)
  }

  get keepAliveTimeout () { return this.connection.server.keepAliveTimeout }

  /** The client does not read: the socket still buffers earlier responses. */
  get isBlocked () { return this.socket.writableNeedDrain && this.socket.writableLength > 0 }

  /** Too much is buffered, in the socket or here. */
  get isFull () {
    const { writableNeedDrain, writableHighWaterMark } = this.socket
    return writableNeedDrain || this.queuedBytes >= Math.max(1, writableHighWaterMark) // the mark may be 0
  }

  // ---- in the order of requests

  /** A request arrived. */
  add (outgoing) {
    this.length++
    if (this.first === null) {
      this.first = this.last = outgoing
      this.connection.turnOf(outgoing)
    } else {
      this.last.link(outgoing)
      this.last = outgoing
    }
  }

  /** Several requests of one read follow. */
  burst () {
    this.isBurst = true
    this.schedule()
  }

  /**
   * A response has ended.
   *
   * @param {Outgoing} outgoing
   * @param {string} text header section, and the body if that is a string
   * @param {number} encoding of the text, see pieces.js
   * @param {Uint8Array|null} bytes the body otherwise
   */
  end (outgoing, text, encoding, bytes) {
    if (outgoing !== this.first || (this.isBlocked && !outgoing.isStreaming)) {
      outgoing.queue(text, encoding, bytes)
      this.queuedBytes += outgoing.size
    } else if (!outgoing.isStreaming && (outgoing.next !== null || this.isBurst || this.batched !== null)) {
      this.join(outgoing, text, encoding, bytes)
      this.advance()
    } else {
      outgoing.become(WRITTEN)
      this.put(text, encoding, bytes)
      if (this.isAsync) {
        this.writeAsync([outgoing])
        this.shift(outgoing)
      } else {
        const isWritten = this.write()
        this.shift(outgoing)
        if (isWritten && this.socket.writableLength === 0) outgoing.flushed()
        else this.waitForFlush([outgoing])
      }
      this.proceed(outgoing)
      if (this.first !== null) this.advance() // responses after a streamed one
    }
  }

  /**
   * Write a part of the first response, before its end.
   *
   * @param {Function[]|null} callbacks called when the part was flushed
   */
  stream (outgoing, text, encoding, bytes, callbacks) {
    this.flush()
    if (!outgoing.isStreaming) outgoing.become(STREAMING)
    this.put(text, encoding, bytes)
    this.write(callbacks)
  }

  /** Count bytes that node's ServerResponse queues; negative once it has written them. */
  nodeQueued (bytes) {
    this.queuedBytes += bytes
    if (bytes < 0) this.connection.drained()
  }

  // ---- the first response

  /** Moves queued responses that have become the first into the batch, as long as the client reads. */
  advance () {
    while (this.first !== null && this.first.isQueued && !this.isBlocked) {
      const outgoing = this.first
      const { text, encoding, bytes } = outgoing
      this.queuedBytes -= outgoing.size
      outgoing.unqueue()
      this.join(outgoing, text, encoding, bytes)
    }
    this.connection.drained()
  }

  /** The first response leaves the queue. */
  shift (outgoing) {
    outgoing.sent(this.connection.clock.iteration())
    outgoing.incoming.sent(outgoing.closes)
    this.length--
    this.first = outgoing.next
    outgoing.unlink()
    if (this.first === null) this.last = null
  }

  /** Continues after a response that has just left the queue. */
  proceed (outgoing) {
    if (outgoing.closes) this.connection.end()
    else if (this.first === null) this.connection.empty()
    else if (!this.first.isQueued) this.connection.turnOf(this.first)
  }

  /**
   * Does the end of the connection have to wait for earlier responses? Then the current one becomes the current one
   * again when they are flushed.
   *
   * @param {Outgoing} outgoing the current one
   * @return {boolean}
   */
  delays (outgoing) {
    this.flush()
    if (this.flushing === null) return false
    this.delayed = outgoing
    return true
  }

  // ---- the batch

  join (outgoing, text, encoding, bytes) {
    outgoing.become(BATCHED)
    if (this.batch.isSealed) this.flush()
    this.put(text, encoding, bytes)
    if (this.batched === null) this.batched = [outgoing]
    else this.batched.push(outgoing)
    this.shift(outgoing)
    this.schedule()
    if (this.batch.size >= this.socket.writableHighWaterMark) this.flush()
    this.proceed(outgoing)
  }

  /** Adds one response, or a part of it, to the batch. */
  put (text, encoding, bytes) {
    const { batch } = this
    if (text !== '') batch.addText(text, encoding)
    if (bytes === null) return
    if (batch.isSealed) this.flush() // its text was added as bytes
    batch.addBytes(bytes)
  }

  schedule () {
    if (this.isScheduled || (this.batched === null && !this.isBurst)) return
    this.isScheduled = true
    process.nextTick(endOfTick, this)
  }

  endOfTick () {
    this.isScheduled = this.isBurst = false
    this.flush()
    if (this.first === null) this.connection.empty()
  }

  flush () {
    const { batched } = this
    if (batched === null) return
    this.batched = null
    for (const outgoing of batched) outgoing.become(WRITTEN)
    if (this.isAsync) this.writeAsync(batched)
    else if (this.write() && this.socket.writableLength === 0) batched.forEach(flushed)
    else this.waitForFlush(batched)
  }

  /** Writes the batch to a socket that never flushes at once: the callback costs less than an empty write. */
  writeAsync (written) {
    this.write([this.flushes(written)])
  }

  /**
   * Write the batch.
   *
   * @param {Function[]|null} [callbacks]
   * @return {boolean} false if the socket can no longer be written to
   */
  write (callbacks = null) {
    const { socket, batch } = this
    if (socket.writable) {
      batch.writeTo(socket, callbacks === null ? undefined : err => callAll(callbacks, err))
    } else {
      batch.clear()
      if (callbacks !== null) process.nextTick(callAll, callbacks, notWritten(socket))
    }
    return socket.writable
  }

  /**
   * The kernel did not take all bytes at once: the callback of an empty write runs after them. A socket that can no
   * longer be written to will close, and responses that were not flushed are lost then.
   */
  waitForFlush (written) {
    const called = this.flushes(written)
    if (this.socket.writable) this.socket.write('', 'latin1', called)
  }

  /** The callback of the write after which these responses are flushed. */
  flushes (written) {
    const count = written.length // the list grows when there is another write before this one is flushed
    if (this.flushing === null) this.flushing = written
    else this.flushing.push(...written)
    return err => this.wroteAll(count, err)
  }

  /** `count` responses are flushed. */
  wroteAll (count, err) {
    if (this.flushing === null) return // the connection was lost
    // Node calls the callback of a write under way without an error when the socket is destroyed.
    const isLost = Boolean(err) || this.socket.destroyed
    if (isLost && this.connection.isOurs) return // the socket's 'close' follows
    const written = this.flushing.splice(0, count)
    if (this.flushing.length === 0) this.flushing = null
    if (isLost) return this.lose(written, err || null)
    written.forEach(flushed)
    if (this.isFlushed) this.connection.deadlines.rest()
    if (this.flushing === null && this.delayed !== null) this.connection.turnOf(this.delayed)
  }

  // ---- the end of the connection

  /** The socket is closed: notifies the listeners of every pending response. */
  loseAll (cause) {
    const lost = [...this.flushing || [], ...this.batched || []]
    for (let outgoing = this.first; outgoing !== null; outgoing = outgoing.next) lost.push(outgoing)
    this.first = this.last = this.flushing = this.delayed = this.batched = null
    this.length = this.queuedBytes = 0
    this.batch.clear()
    this.lose(lost, cause)
  }

  lose (lost, cause) {
    let hadTurn = true
    for (const outgoing of lost) {
      outgoing.unlink()
      outgoing.incoming.abort()
      outgoing.lose(this.connection.front.lossOf(cause), hadTurn)
      this.connection.aborted(outgoing.incoming)
      hadTurn = false
    }
  }
}

function endOfTick (responses) {
  responses.endOfTick()
}

function flushed (outgoing) {
  outgoing.flushed()
}

module.exports = { Responses }
