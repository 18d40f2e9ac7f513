'use strict'

const assert = require('assert')
const { Buffer } = require('buffer')

/** Size in bytes from which a body is not copied into one string with its header section (measured: +12 to +73 %). */
const LARGE = 16 * 1024

const CR = 13
const LF = 10

/** What a text can be written as. */
const ASCII = 0   // as any of the others
const LATIN1 = 1
const UTF8 = 2

/** Of node's `write(text, encoding)`, for the encodings that contain ASCII. */
const ENCODINGS = new Map([
  [undefined, UTF8], [null, UTF8], ['utf8', UTF8], ['utf-8', UTF8],
  ['latin1', LATIN1], ['binary', LATIN1], ['ascii', LATIN1]
])

/**
 * What goes to the socket in one write. Nothing else joins texts and bytes:
 *
 *    |  text, in one encoding  |  bytes, or null  |
 *
 *    ASCII ──▶ LATIN1 ──▶ sealed      a small body of bytes is kept as latin1 characters
 *      └─────▶ UTF8 ────▶ sealed      a text in the other encoding is added as bytes
 *
 * Sealed: the bytes are the last that it takes. A large body of bytes seals it, and so do bytes behind UTF-8, because
 * characters that stand for bytes must not be encoded as UTF-8.
 */
class Pieces {
  constructor () {
    this.clear()
  }

  clear () {
    this.text = ''
    this.encoding = ASCII
    this.bytes = null
    this.callbacks = null
  }

  get isEmpty () { return this.text === '' && this.bytes === null && this.callbacks === null }

  /** What it holds must be written before more is added. */
  get isSealed () { return this.bytes !== null }

  /** Characters and bytes. */
  get size () { return this.text.length + (this.bytes === null ? 0 : this.bytes.length) }

  /** `encoding`: ASCII only if the text is. */
  addText (text, encoding) {
    if (this.bytes !== null) assert.fail('text behind the bytes of a write')
    if (encoding === ASCII || encoding === this.encoding) {
      this.text += text
    } else if (this.encoding === ASCII) {
      this.text += text
      this.encoding = encoding
    } else {
      this.addBytes(Buffer.from(text, encoding === UTF8 ? 'utf8' : 'latin1'))
    }
  }

  addBytes (bytes) {
    if (this.bytes !== null) assert.fail('bytes behind the bytes of a write')
    if (bytes.length === 0) return
    if (this.encoding === UTF8 || bytes.length >= LARGE) {
      this.bytes = bytes
    } else {
      this.text += latin1(bytes)
      this.encoding = LATIN1
    }
  }

  /** Add what node's ServerResponse writes, with node's name of the encoding of a string. */
  add (data, encoding) {
    if (typeof data !== 'string') {
      if (isLineEnd(data)) this.addText('\r\n', ASCII) // node's, around each chunk
      else this.addBytes(data)
      return
    }
    const known = ENCODINGS.get(encoding)
    if (known === undefined) this.addBytes(Buffer.from(data, encoding))
    else this.addText(data, Buffer.byteLength(data) === data.length ? ASCII : known)
  }

  /** Call `fn` when all pieces so far are flushed, or with an error. */
  addCallback (fn) {
    if (this.callbacks === null) this.callbacks = [fn]
    else this.callbacks.push(fn)
  }

  /**
   * Give everything to the socket, with one write or two that are corked. It is empty before the socket is called. The
   * callbacks of the pieces are the caller's.
   */
  writeTo (socket, callback) {
    const { text, encoding, bytes } = this
    this.clear()
    if (bytes === null) {
      if (text !== '' || callback !== undefined) socket.write(text, encoding === UTF8 ? 'utf8' : 'latin1', callback)
    } else if (text === '') {
      socket.write(bytes, callback)
    } else {
      socket.cork()
      socket.write(text, encoding === UTF8 ? 'utf8' : 'latin1')
      socket.write(bytes, callback)
      socket.uncork()
    }
  }
}

/** @return {number} of a body in bytes; NOT_PLAIN if node's code must send or reject it */
function lengthOf (body) {
  if (body === undefined || body === null || body === '') return 0
  if (typeof body === 'string') return Buffer.byteLength(body)
  return body instanceof Uint8Array ? body.byteLength : NOT_PLAIN
}

const NOT_PLAIN = -1

function isLineEnd (bytes) {
  return bytes.length === 2 && bytes[0] === CR && bytes[1] === LF
}

function latin1 (bytes) {
  if (Buffer.isBuffer(bytes)) return bytes.latin1Slice()
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).latin1Slice()
}

module.exports = { Pieces, ASCII, LATIN1, UTF8, LARGE, NOT_PLAIN, lengthOf }
