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

  // Not in _final, which cannot throw: node, too, throws out of write() and end() for headers that it does not send.
  end (...args) {
    this.outgoing.begin()
    super.end(...args)
    this.outgoing.onEnd()
    return this
  }

  _write (chunk, encoding, callback) {
    this.outgoing.begin()
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
