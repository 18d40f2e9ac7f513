'use strict'

const { Writable } = require('stream')
const { reset } = require('../errors')

/** A Writable whose other side is a web ReadableStream: the body of the Response. */
module.exports = class BodyStream extends Writable {
  constructor (outgoing) {
    super({ decodeStrings: true })
    this.outgoing = outgoing
    this.controller = null
    this.proceed = null // the write that waits for the reader
    this.readable = new ReadableStream({
      start: controller => { this.controller = controller },
      pull: () => {
        const { proceed } = this
        this.proceed = null
        proceed?.()
      },
      cancel: () => outgoing.lose(new Error('the body of the response was cancelled'))
    })
    this.on('error', () => {}) // `outgoing` reports it
  }

  // Not in _write: node, too, throws out of these for headers that it does not send. Writable throws for other chunks.
  write (chunk, encoding, callback) {
    if (isChunk(chunk)) this.outgoing.begin()
    return super.write(chunk, encoding, callback)
  }

  end (chunk, encoding, callback) {
    if (chunk === undefined || chunk === null || typeof chunk === 'function' || isChunk(chunk)) this.outgoing.begin()
    return super.end(chunk, encoding, callback)
  }

  _write (chunk, encoding, callback) {
    const { isBodiless, node } = this.outgoing
    if (node !== null) return node.write(chunk, callback)
    if (chunk.length === 0 || isBodiless) return callback()
    this.controller.enqueue(chunk)
    if (this.controller.desiredSize > 0) callback()
    else this.proceed = callback
  }

  _final (callback) {
    const { node } = this.outgoing
    if (node !== null) return node.end(callback)
    this.controller.close()
    callback()
    this.outgoing.onFlushed()
  }

  _destroy (err, callback) {
    if (!this.writableFinished) {
      const failure = err || reset()
      try {
        this.controller.error(failure)
      } catch {} // cancelled
      this.outgoing.node?.destroy()
      this.outgoing.lose(failure)
    }
    callback(err)
  }
}

function isChunk (chunk) {
  return typeof chunk === 'string' || chunk instanceof Uint8Array
}
