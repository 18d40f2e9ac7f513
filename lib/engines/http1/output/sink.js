'use strict'

const { EventEmitter } = require('events')
const process = require('process')
const { Readable } = require('stream')
const { emit } = require('../call')
const { Pieces, ASCII, UTF8, LARGE_CHUNK } = require('./pieces')
const { CHUNKED } = require('./writer')

const { pipe } = Readable.prototype

/**
 * What a stream is piped into: sends a body in parts without node's ServerResponse (measured, four chunks of 4 KB:
 * 22 µs in place of 37). It frames the chunks itself, and chunks of one tick are one write. Everything goes to node's
 * response once that exists: because code has read `ctx.res`, or because only node's code can write the header section.
 */
class Sink extends EventEmitter {
  /** Node's own `pipe` needs no more than this class has; others may look at what they pipe into. */
  static takes (stream) {
    return stream.pipe === pipe
  }

  /** @param {Outgoing} outgoing */
  constructor (outgoing) {
    super()
    this.outgoing = outgoing
    this.pieces = new Pieces()
    this.isChunked = false
    this.isScheduled = false
    this.isDue = false // node would have given the pieces to the operating system
    this.writableNeedDrain = false
    this.hasEnded = false
  }

  /** A callback of `write()` is called when the chunk was flushed. */
  get reportsFlush () { return true }

  get socket () { return this.outgoing.responses.socket }

  /** @throws {TypeError} for what is neither a string nor bytes, and for headers that node rejects */
  write (chunk, callback) {
    const { outgoing, pieces } = this
    if (outgoing.writableEnded || outgoing.destroyed) return true
    const isText = typeof chunk === 'string'
    if (!(isText || chunk instanceof Uint8Array) || !this.begin()) return outgoing.materialize().write(chunk)

    const length = isText ? Buffer.byteLength(chunk) : chunk.length
    if (length > 0) {
      if (this.isChunked) pieces.addText(length.toString(16) + '\r\n', ASCII)
      if (isText) pieces.addText(chunk, length === chunk.length ? ASCII : UTF8)
      else pieces.addBytes(chunk, LARGE_CHUNK)
      if (this.isChunked) pieces.addText('\r\n', ASCII)
    }
    if (callback !== undefined) pieces.addCallback(callback)
    if (pieces.isBelowMark(this.socket)) this.schedule()
    else this.send()
    return !this.writableNeedDrain
  }

  end () {
    const { outgoing, pieces } = this
    this.hasEnded = true
    if (outgoing.writableEnded || outgoing.destroyed) return
    if (!outgoing.hasBegun || outgoing.res !== null) return outgoing.end()
    if (this.isChunked) pieces.addText('0\r\n\r\n', ASCII)
    outgoing.endStream(pieces)
  }

  /** As on node, what this tick has written is lost with the connection. */
  destroy (err) {
    this.sendDue(false)
    this.pieces.clear()
    this.outgoing.destroy(err)
  }

  /**
   * Begins with the first chunk, with the status and the fields of that moment, as node does.
   *
   * @return {boolean} false if node's code has to send the rest
   */
  begin () {
    const { outgoing } = this
    if (outgoing.hasBegun) return outgoing.res === null
    if (!outgoing.canStream) return false
    this.isChunked = outgoing.getField('content-length') === undefined
    this.pieces.addText(outgoing.begin(CHUNKED), ASCII)
    return true
  }

  /** Send at the end of the tick, together with the end of the stream, which often comes by then. */
  schedule () {
    if (this.isScheduled) return
    this.isScheduled = true
    process.nextTick(onTickEnd, this)
  }

  send () {
    const { outgoing, pieces } = this
    this.isDue = false
    if (pieces.isEmpty) return
    if (!outgoing.isOpen) return pieces.clear()
    outgoing.responses.stream(outgoing, pieces)
    this.writableNeedDrain = this.socket.writableNeedDrain
  }

  /** The connection ends. @param {boolean} isAll also what this tick has written */
  sendDue (isAll) {
    if (isAll || this.isDue) this.send()
  }

  /** Node would have sent the pieces by now. Waits one more tick, because the end of the stream often comes in it. */
  onTickEnd () {
    this.isDue = true
    process.nextTick(onNextTickEnd, this)
  }

  onNextTickEnd () {
    this.isScheduled = false
    this.send()
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
    if (!this.hasEnded) emit(this, 'close')
  }

  /** Node's response exists from now on. */
  follow (res) {
    this.send()
    res.on('drain', () => emit(this, 'drain'))
    // Other code unpipes the stream, which has no effect here, and pipes it again: each byte would be sent twice.
    res.on('pipe', stream => stream.unpipe(this))
  }
}

function onTickEnd (sink) {
  sink.onTickEnd()
}

function onNextTickEnd (sink) {
  sink.onNextTickEnd()
}

module.exports = { Sink }
