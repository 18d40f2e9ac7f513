'use strict'

const { Buffer } = require('buffer')

/** Number of pieces that are kept separately; later small ones are joined. */
const MOST_READS = 64

/** Pieces up to this size are joined, in bytes. */
const SMALL = 4 * 1024

/** Bytes that nobody has read yet, oldest first. */
class Held {
  constructor () {
    this.reads = []
    this.bytes = 0
    this.joined = null // a Buffer of SMALL bytes; the last piece is its beginning
  }

  get isEmpty () { return this.reads.length === 0 }

  add (chunk) {
    this.bytes += chunk.length
    // For a client that sends byte by byte the list would cost more memory than its bytes.
    if (this.reads.length < MOST_READS || chunk.length > SMALL / 2) this.append(chunk)
    else this.merge(chunk)
  }

  append (chunk) {
    this.reads.push(chunk)
    this.joined = null
  }

  merge (chunk) {
    const last = this.reads.length - 1
    const used = this.joined === null ? SMALL : this.reads[last].length
    if (used + chunk.length > SMALL) {
      this.append(chunk)
      this.joined = Buffer.allocUnsafeSlow(SMALL)
      chunk.copy(this.joined)
    } else {
      chunk.copy(this.joined, used)
      this.reads[last] = this.joined.subarray(0, used + chunk.length)
    }
  }

  prepend (chunk) {
    this.bytes += chunk.length
    this.reads.unshift(chunk)
  }

  shift () {
    const chunk = this.reads.shift()
    this.bytes -= chunk.length
    if (this.isEmpty) this.joined = null
    return chunk
  }
}

module.exports = { Held }
