'use strict'

const { Buffer } = require('node:buffer')

/** Number of reads that are kept separately; later small ones are joined. */
const MOST_READS = 64

/** Reads up to this size are joined, in bytes. */
const SMALL = 4 * 1024

/** Reads that arrived while reading was stopped, oldest first. */
class Held {
  constructor () {
    this.reads = []
    this.bytes = 0
    this.joined = null // a Buffer of SMALL bytes; the last read is its beginning
  }

  get isEmpty () { return this.reads.length === 0 }

  /** @param {Buffer} chunk the newest read */
  add (chunk) {
    this.bytes += chunk.length
    // For a client that sends byte by byte the list would cost more memory than its bytes.
    if (this.reads.length < MOST_READS || chunk.length > SMALL / 2) this.push(chunk)
    else this.join(chunk)
  }

  push (chunk) {
    this.reads.push(chunk)
    this.joined = null
  }

  join (chunk) {
    const last = this.reads.length - 1
    const used = this.joined === null ? SMALL : this.reads[last].length
    if (used + chunk.length > SMALL) {
      this.push(chunk)
      this.joined = Buffer.allocUnsafeSlow(SMALL)
      chunk.copy(this.joined)
    } else {
      chunk.copy(this.joined, used)
      this.reads[last] = this.joined.subarray(0, used + chunk.length)
    }
  }

  /** @param {Buffer} chunk comes before all others */
  prepend (chunk) {
    this.bytes += chunk.length
    this.reads.unshift(chunk)
  }

  /** @return {Buffer} the oldest read */
  shift () {
    const chunk = this.reads.shift()
    this.bytes -= chunk.length
    if (this.isEmpty) this.joined = null
    return chunk
  }
}

module.exports = { Held }
