'use strict'

const fs = require('node:fs')
const { Readable } = require('node:stream')

const CHUNK = 64 * 1024 // bytes; twice that is a little faster and leaves twice the garbage

/**
 * Reads a descriptor from `start` to `end` (inclusive, in bytes) and closes it, whatever happens.
 *
 * Unlike fs.ReadStream it ends with an error when the file turns out shorter than was announced:
 * otherwise the client would wait for the rest of Content-Length.
 */
module.exports = class FileStream extends Readable {
  constructor (fd, start, end) {
    super({ highWaterMark: CHUNK })
    this.fd = fd
    this.position = start
    this.left = end - start + 1
    this.reading = false
    this.closing = undefined
  }

  _read (size) {
    if (this.left === 0) return this.push(null)

    const chunk = Buffer.allocUnsafeSlow(Math.min(size, this.left))
    this.reading = true
    fs.read(this.fd, chunk, 0, chunk.length, this.position, (err, bytes) => {
      this.reading = false
      if (this.closing) return this.closing()
      if (err) return this.destroy(err)
      if (bytes === 0) return this.destroy(new Error('the file was cut while it was sent'))

      this.position += bytes
      this.left -= bytes
      this.push(bytes === chunk.length ? chunk : chunk.subarray(0, bytes))
    })
  }

  _destroy (err, done) {
    const close = () => fs.close(this.fd, closeErr => done(err ?? closeErr))
    // a number that is closed during a read may be another file's when the read begins
    if (this.reading) this.closing = close
    else close()
  }
}
