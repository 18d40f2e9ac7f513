'use strict'

const { Buffer } = require('buffer')
const { callAll } = require('../call')
const { notWritten } = require('../errors')
const { nextTick } = require('../../shared/timers')

/**
 * Size of a body, in bytes or characters, from which it is not copied into one string with its header section
 * (measured, with the copy: bytes +12 to +73 %, text +7 to +12 % at 16 KB and +90 to +220 % at 1 MB).
 */
const LARGE = 16 * 1024

/** The same for a chunk of a stream that more pieces follow (measured: the cost is equal at 1 KB). */
const LARGE_CHUNK = 1024

/** How much of a stream is joined into one write while the socket's own buffer is empty, in bytes. */
const JOINED = 64 * 1024

const CR = 13
const LF = 10

const { latin1Slice } = Buffer.prototype // also of a Uint8Array

/** What a text can be written as. */
const ASCII = 0   // as any of the others
const LATIN1 = 1
const UTF8 = 2

/** Node's names of these. @type {BufferEncoding[]} */
const NAMES = ['latin1', 'latin1', 'utf8']

/** Of node's `write(text, encoding)`, for the encodings that contain ASCII. */
const ENCODINGS = new Map([
  [undefined, UTF8], [null, UTF8], ['utf8', UTF8], ['utf-8', UTF8],
  ['latin1', LATIN1], ['binary', LATIN1], ['ascii', LATIN1]
])

/**
 * What goes to the socket in one write: texts and bytes in their order. Nothing else joins them.
 *
 *    |  items: text, bytes, text, …  |  text, in one encoding  |
 *
 *    ASCII ──▶ LATIN1    a small body of bytes is kept as latin1 characters
 *      └─────▶ UTF8      bytes after it are an item, because UTF-8 would encode characters that stand for bytes
 */
class Pieces {
  constructor () {
    this.clear()
  }

  clear () {
    this.text = ''
    this.encoding = ASCII
    this.items = null     // in front of the text: data, encoding or null, data, …
    this.itemsSize = 0
    this.hasLarge = false
    this.callbacks = null
  }

  get isEmpty () { return this.text === '' && this.items === null && this.callbacks === null }

  /** Characters and bytes. */
  get size () { return this.text.length + this.itemsSize }

  /** `encoding`: ASCII only if the text is. */
  addText (text, encoding) {
    if (text.length >= LARGE) {
      this.endText()
      this.addItem(text, NAMES[encoding])
    } else if (encoding === ASCII || (encoding === this.encoding && !isLowSurrogate(text.charCodeAt(0)))) {
      this.text += text
    } else if (this.encoding === ASCII) {
      this.text += text
      this.encoding = encoding
    } else {
      this.endText()
      this.text = text
      this.encoding = encoding
    }
  }

  /** `large`: the size from which they are not copied. */
  addBytes (bytes, large = LARGE) {
    if (bytes.length === 0) return
    if (bytes.length >= LARGE) this.hasLarge = true
    if (this.encoding === UTF8 || bytes.length >= large) {
      this.endText()
      this.addItem(bytes, null)
    } else {
      this.text += latin1Slice.call(bytes)
      this.encoding = LATIN1
    }
  }

  endText () {
    if (this.text !== '') this.addItem(this.text, NAMES[this.encoding])
    this.text = ''
    this.encoding = ASCII
  }

  addItem (data, encoding) {
    if (this.items === null) this.items = [data, encoding]
    else this.items.push(data, encoding)
    this.itemsSize += data.length
  }

  /** May more be added before these are written? So few are joined while the socket's own buffer is empty. */
  isBelowMark ({ writableLength, writableHighWaterMark: mark }) {
    return writableLength + this.size < (writableLength === 0 && !this.hasLarge ? Math.max(mark, JOINED) : mark)
  }

  /** Add what node's ServerResponse writes, with node's name of the encoding of a string. */
  add (data, encoding) {
    if (typeof data !== 'string') {
      if (isLineEnd(data)) this.addText('\r\n', ASCII) // node's, around each chunk
      else this.addBytes(data, LARGE_CHUNK)
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

  takeCallbacks () {
    const { callbacks } = this
    this.callbacks = null
    return callbacks
  }

  /** A text, then bytes, or one of them. */
  get isPlain () {
    const { items } = this
    return items === null || (this.text === '' && (items.length === 2 || (items.length === 4 && items[1] !== null && items[3] === null)))
  }

  /** @return {{ text, encoding, bytes }} everything as a text, then bytes or null */
  take () {
    const { text, encoding, items, isPlain } = this
    this.clear()
    if (items === null) return { text, encoding, bytes: null }
    if (!isPlain) return { text: '', encoding: ASCII, bytes: join(items, text, encoding) }
    if (items[1] === null) return { text: '', encoding: ASCII, bytes: items[0] }
    return { text: items[0], encoding: items[1] === 'utf8' ? UTF8 : LATIN1, bytes: items[2] ?? null }
  }

  /**
   * Give everything to the socket, with one write or several that are corked; the callbacks are called when it is
   * flushed. It is empty before the socket is called.
   *
   * @return {boolean} whether the system took all bytes at once
   */
  writeTo (socket) {
    if (!socket.writable) return this.lose(socket)
    const { text, encoding, items, callbacks } = this
    const callback = callbacks === null ? undefined : err => callAll(callbacks, err)
    if (items !== null) this.endText()
    this.clear()
    if (items !== null) writeItems(socket, items, callback)
    else if (text !== '' || callback !== undefined) socket.write(text, NAMES[encoding], callback)
    return socket.writable && socket.writableLength === 0
  }

  /** They will not be sent. */
  lose (socket) {
    const { callbacks } = this
    this.clear()
    if (callbacks !== null) nextTick(callAll, callbacks, notWritten(socket))
    return false
  }
}

function writeItems (socket, items, callback) {
  const last = items.length - 2
  if (last > 0) socket.cork()
  for (let i = 0; i < last; i += 2) socket.write(items[i], items[i + 1])
  socket.write(items[last], items[last + 1], callback)
  if (last > 0) socket.uncork()
}

/** After a high one it would become another character. */
function isLowSurrogate (code) {
  return code >= 0xdc00 && code <= 0xdfff
}

function isLineEnd (bytes) {
  return bytes.length === 2 && bytes[0] === CR && bytes[1] === LF
}

function join (items, text, encoding) {
  const buffers = [Buffer.from(text, NAMES[encoding])]
  for (let i = items.length - 2; i >= 0; i -= 2) {
    buffers.unshift(items[i + 1] === null ? items[i] : Buffer.from(items[i], items[i + 1]))
  }
  return Buffer.concat(buffers)
}

module.exports = { Pieces, ASCII, LATIN1, UTF8, LARGE, LARGE_CHUNK }
