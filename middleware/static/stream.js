'use strict'

const fs = require('fs')
const { Readable } = require('stream')
const { FileReader, kReuse, takeBack } = require('../../lib/file-stream')

const CHUNK = 64 * 1024 // bytes

/**
 * Reads a descriptor from `start` to `end` (inclusive, in bytes) and always closes it.
 *
 * Unlike fs.ReadStream it fails if the file is shorter than its Content-Length: otherwise the client would
 * wait for the rest.
 *
 * A flushed chunk is reused for another read. With a new chunk for each read, V8 frees none of them before
 * 32 MiB: after a file of 100 MB resident memory has grown by 35 MiB, with reuse by 4 MiB (Node 20).
 */
module.exports = class FileStream extends Readable {
  constructor (fd, start, end) {
    super({ highWaterMark: CHUNK })
    this.fd = fd
    this.position = start
    this.left = end - start + 1
    this.reader = new FileReader()
  }

  _read () {
    if (this.left === 0) return this.push(null)

    this.reader.readPiece(this.fd, Math.min(CHUNK, this.left), this.position, (err, chunk) => {
      if (err) return this.destroy(err)
      if (chunk === null) return this.destroy(new Error('the file was cut while it was sent'))

      this.position += chunk.length
      this.left -= chunk.length
      this.push(chunk)
    })
  }

  /** lib/stream.js calls this when a chunk was flushed. */
  [kReuse] (chunk) {
    takeBack(chunk)
  }

  _destroy (err, done) {
    this.reader.afterRead(() => fs.close(this.fd, closeErr => done(err ?? closeErr)))
  }
}
