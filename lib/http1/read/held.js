'use strict'

const { Buffer } = require('node:buffer')

/** So many reads are kept apart; then small ones are joined. */
const MOST_READS = 64

/** Reads up to this size are joined, in bytes. */
const SMALL = 4 * 1024

/** Reads that arrived while reading was stopped, oldest first. */
class Held {
  constructor () {
    this.reads = []
    this.bytes = 0
  }

  get isEmpty () { return this.reads.length === 0 }

  /** @param {Buffer} chunk the newest read */
  add (chunk) {
    const { reads } = this
    const last = reads.length - 1
    this.bytes += chunk.length
    // A client that sends byte by byte would have a list that costs more than its bytes.
    if (last >= MOST_READS && reads[last].length + chunk.length <= SMALL) {
      reads[last] = Buffer.concat([reads[last], chunk])
    } else {
      reads.push(chunk)
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
    return chunk
  }
}

module.exports = { Held }
