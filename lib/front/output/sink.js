'use strict'

const { EventEmitter } = require('events')
const { Readable } = require('stream')
const { emit } = require('../call')
const { ASCII, UTF8, LARGE_CHUNK } = require('./pieces')
const { CHUNKED } = require('./writer')

const { pipe } = Readable.prototype

/**
 * What a stream is piped into: sends a body in parts without node's ServerResponse (measured, four chunks of 4 KB:
 * 22 µs in place of 37). It frames the chunks itself. At the first chunk it is decided who sends the body: this one, or
 * node's response, if that exists by then or if only node's code can write the header section.
 */
class Sink extends EventEmitter {
  /** Node's own `pipe` needs no more than this class has; others may look at what they pipe into. */
  static takes (stream) {
    return stream.pipe === pipe
  }

  /** @param {import('./outgoing').Outgoing} outgoing */
  constructor (outgoing) {
    super()
    this.outgoing = outgoing
    this.parts = null // once it has begun
    this.isChunked = false
    this.writableNeedDrain = false
    this.hasEnded = false
  }

  /** A callback of `write()` is called when the chunk was flushed. */
  get reportsFlush () { return true }

  get socket () { return this.outgoing.responses.socket }

  /** @throws {TypeError} for what is neither a string nor bytes, and for headers that node rejects */
  write (chunk, callback) {
    const { outgoing } = this
    if (outgoing.writableEnded || outgoing.destroyed) return true
    const isText = typeof chunk === 'string'
    if (!(isText || chunk instanceof Uint8Array) || !this.begin()) return outgoing.materialize().write(chunk)

    const { parts } = this
    const length = isText ? Buffer.byteLength(chunk) : chunk.length
    if (length > 0) {
      if (this.isChunked) parts.addText(length.toString(16) + '\r\n', ASCII)
      if (isText) parts.addText(chunk, length === chunk.length ? ASCII : UTF8)
      else parts.addBytes(chunk, LARGE_CHUNK)
      if (this.isChunked) parts.addText('\r\n', ASCII)
    }
    if (callback !== undefined) parts.addCallback(callback)
    if (parts.isBelowMark(this.socket)) {
      parts.schedule()
    } else {
      parts.send()
      this.writableNeedDrain = this.socket.writableNeedDrain
    }
    return !this.writableNeedDrain
  }

  /** By node's response, if there is one: it also changes its state, and may have trailers. */
  end () {
    const { outgoing, parts } = this
    this.hasEnded = true
    if (outgoing.writableEnded || outgoing.destroyed) return
    if (parts === null || outgoing.res !== null) return outgoing.end()
    if (this.isChunked) parts.addText('0\r\n\r\n', ASCII)
    outgoing.endParts(outgoing.closes)
  }

  /** As on node, what this tick has written is lost with the connection. */
  destroy (err) {
    this.outgoing.destroy(err)
  }

  /**
   * Begins with the first chunk, with the status and the fields of that moment, as node does.
   *
   * @return {boolean} false if node's code sends the body
   */
  begin () {
    const { outgoing } = this
    if (this.parts !== null) return true
    if (!outgoing.canStream) return false
    this.isChunked = outgoing.getField('content-length') === undefined && !outgoing.needsClose
    this.parts = outgoing.beginParts()
    this.parts.addText(outgoing.begin(CHUNKED), ASCII)
    return true
  }

  /** The socket's buffer is empty again. */
  onDrain () {
    this.writableNeedDrain = false
    emit(this, 'drain')
  }

  /**
   * The response was flushed or lost before the stream ended. `pipe` detaches the stream at 'close', as it does from
   * node's response: a stream with other destinations, or one that ignores `destroy()`, must not wait for this one.
   */
  onClose () {
    emit(this, 'close')
  }

  /** Node's response exists from now on. */
  onMaterialized (res) {
    res.on('drain', () => { if (this.parts === null) emit(this, 'drain') })
    // Other code unpipes the stream, which has no effect here, and pipes it again: each byte would be sent twice.
    res.on('pipe', stream => stream.unpipe(this))
  }
}

module.exports = { Sink }
