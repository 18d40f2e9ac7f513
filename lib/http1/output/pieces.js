'use strict'

const { Buffer } = require('node:buffer')

/** Size in bytes from which a body is not copied into one string with its header section (measured: +12 to +73 %). */
const LARGE = 16 * 1024

const CR = 13
const LF = 10

/** Encodings that contain ASCII → the encoding for the write. */
const TEXTS = new Map([
  [undefined, 'utf8'], [null, 'utf8'], ['utf8', 'utf8'], ['utf-8', 'utf8'],
  ['latin1', 'latin1'], ['binary', 'latin1'], ['ascii', 'latin1']
])

/**
 * Joins what node's ServerResponse writes piece by piece into as few writes as possible:
 *
 *    |  text, in one encoding  |  large bytes, or null  |
 */
class Pieces {
  constructor () {
    this.clear()
  }

  clear () {
    this.text = ''
    this.encoding = null // null while the text is ASCII
    this.bytes = null
    this.callbacks = null
  }

  get isEmpty () { return this.text === '' && this.bytes === null && this.callbacks === null }
  get isLatin1 () { return this.encoding !== 'utf8' }
  get size () { return this.text.length + (this.bytes === null ? 0 : this.bytes.length) }

  /**
   * @param {string|Uint8Array} data
   * @param {string} [encoding]
   * @return {boolean} false if the pieces so far must be written first
   */
  add (data, encoding) {
    if (data.length === 0) return true
    if (this.bytes !== null) return false
    if (typeof data !== 'string') return this.addBytes(data)
    const written = TEXTS.get(encoding)
    if (written === undefined) return this.addBytes(Buffer.from(data, encoding))
    if (Buffer.byteLength(data) !== data.length) { // not ASCII
      if (this.encoding !== null && this.encoding !== written) return false
      this.encoding = written
    }
    this.text += data
    return true
  }

  addBytes (bytes) {
    if (isLineEnd(bytes)) {
      this.text += '\r\n' // node's, around each chunk; the same in both encodings
    } else if (bytes.length >= LARGE || this.encoding === 'utf8') {
      this.bytes = bytes
    } else {
      this.text += latin1(bytes)
      this.encoding = 'latin1'
    }
    return true
  }

  /** Call `fn` when all pieces so far are flushed, or with an error. */
  addCallback (fn) {
    if (this.callbacks === null) this.callbacks = [fn]
    else this.callbacks.push(fn)
  }
}

function isLineEnd (bytes) {
  return bytes.length === 2 && bytes[0] === CR && bytes[1] === LF
}

function latin1 (bytes) {
  if (Buffer.isBuffer(bytes)) return bytes.latin1Slice()
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).latin1Slice()
}

module.exports = { Pieces, LARGE, latin1 }
