'use strict'

const assert = require('node:assert')
const { Buffer } = require('node:buffer')
const process = require('node:process')
const { REMOVED, fieldName, isPlain } = require('./names')
const { ASCII, UTF8 } = require('./pieces')
const writer = require('./writer')

/**
 * A response of the fast path. Has node's API. It sends plain responses itself. For everything else (a
 * Transfer-Encoding set by the app, a status out of range, a value that node would reject, a stream …) it
 * creates node's ServerResponse, which sends it or throws.
 *
 * Only Responses changes its state:
 *
 *    OPEN ──────────────────┬──────────▶ WRITTEN ──▶ FLUSHED ──┐
 *     ├──▶ QUEUED ─────▶ BATCHED ──────────▲ ▲                 ├──▶ NOTIFIED
 *     │                                      │                 │
 *     ├──▶ STREAMING ────────────────────────┘                 │
 *     └── and each state before FLUSHED ────────────▶ LOST ────┘
 *
 * OPEN: not ended. STREAMING: a part was written before the end. QUEUED: ended while an earlier response was
 * open, or while the client did not read. BATCHED: will be written together with other responses. WRITTEN: given
 * to the socket. FLUSHED: given to the operating system. LOST: the connection closed before it was flushed.
 * NOTIFIED: listeners were called. The first response skips QUEUED, and one that is alone also skips BATCHED.
 */
const OPEN = 0
const STREAMING = 1
const QUEUED = 2
const BATCHED = 3
const WRITTEN = 4
const FLUSHED = 5
const LOST = 6
const NOTIFIED = 7

const NAMES = ['OPEN', 'STREAMING', 'QUEUED', 'BATCHED', 'WRITTEN', 'FLUSHED', 'LOST', 'NOTIFIED']

/** For each state, a bit mask of its allowed predecessors. */
const FOLLOWS = []
FOLLOWS[STREAMING] = 1 << OPEN
FOLLOWS[QUEUED] = 1 << OPEN
FOLLOWS[BATCHED] = 1 << OPEN | 1 << QUEUED
FOLLOWS[WRITTEN] = 1 << OPEN | 1 << STREAMING | 1 << BATCHED
FOLLOWS[FLUSHED] = 1 << WRITTEN
FOLLOWS[LOST] = 1 << OPEN | 1 << STREAMING | 1 << QUEUED | 1 << BATCHED | 1 << WRITTEN
FOLLOWS[NOTIFIED] = 1 << FLUSHED | 1 << LOST

/** Length of a body that the front does not send itself. */
const NOT_PLAIN = -1

class Outgoing {
  /**
   * @param {Responses} responses of the connection
   * @param {Incoming} incoming
   */
  constructor (responses, incoming) {
    this.responses = responses
    this.incoming = incoming
    this.owner = null       // see setOwner()
    this.next = null        // the response after this one on the connection
    this.res = null         // node's ServerResponse, once code has read `ctx.res`
    this.state = OPEN
    this.closes = false     // the connection closes after this response; decided when it ends
    this.fields = []        // FieldName, value, FieldName, value, …
    this.status = 200
    this.message = undefined
    this.removed = 0        // bits of REMOVED
    this.isUnusual = false  // a header was set that changes framing: node's code writes it
    this.ended = false
    this.hadTurn = false    // of a lost response: it was the first that was not flushed
    this.text = ''          // of a queued response: header section, and the body if that is a string
    this.encoding = ASCII   //   its encoding, see pieces.js
    this.bytes = null       //   and the body otherwise
    this.writtenIn = -1     // the event loop iteration in which it was written
    this.failure = null
    this.listeners = null
    this.callbacks = null   // callbacks of node's `write()` and `end()`
  }

  get statusCode () { return this.res === null ? this.status : this.res.statusCode }
  set statusCode (code) {
    if (this.res === null) this.status = code
    else this.res.statusCode = code
  }

  get statusMessage () { return this.res === null ? this.message : this.res.statusMessage }
  set statusMessage (message) {
    if (this.res === null) this.message = message
    else this.res.statusMessage = message
  }

  get headersSent () { return this.res === null ? this.ended : this.res.headersSent }
  get writableEnded () { return this.res === null ? this.ended : this.res.writableEnded }
  get finished () { return this.res === null ? this.ended : this.res.finished }
  get destroyed () { return this.res === null ? this.isLost || this.nodeHasClosed : this.res.destroyed }
  get writable () { return this.res === null ? true : this.res.writable }

  get writableFinished () {
    if (this.res !== null) return this.res.writableFinished
    return this.state === FLUSHED || (this.state === NOTIFIED && !this.isLost)
  }

  /** As node does: null while earlier responses are open, and after the end. */
  get socket () {
    if (this.res !== null) return this.res.socket
    return this.responses.first === this || this.isLost ? this.responses.socket : null
  }

  /** The socket has its bytes, or gets them at the end of this tick. */
  get isSent () { return this.writtenIn !== -1 }

  /** Sent in an earlier event loop iteration: node would have closed it. */
  get nodeHasClosed () { return this.isSent && this.writtenIn !== this.incoming.connection.clock.count }

  /** The connection closes after it, as far as is known before it has ended. */
  get mustClose () { return this.incoming.connection.closesAfter(this) }

  /** The server is closing, and no other request of this connection is pending. */
  get endsDrain () { return this.incoming.connection.endsDrain(this) }

  /** The end has not reached Responses yet. */
  get isOpen () { return this.state === OPEN || this.state === STREAMING }
  get isStreaming () { return this.state === STREAMING }
  get isNotified () { return this.state === NOTIFIED }
  get isQueued () { return this.state === QUEUED }

  /** It was lost, also after NOTIFIED. */
  get isLost () { return this.failure !== null }

  /** Bytes or characters that are queued. */
  get size () { return this.text.length + (this.bytes === null ? 0 : this.bytes.length) }

  // ---- node's API, for the app and the host; a method named …Field is for them and for node/response.js

  setHeader (name, value) {
    if (this.res !== null || !this.setField(name, value)) this.materialize().setHeader(name, value)
    return this
  }

  /**
   * Set a field of the fast path, for `setHeader` here and of node's object.
   *
   * @return {boolean} false if node's own code must set or reject it
   */
  setField (name, value) {
    const field = fieldName(name)
    if (field === undefined || this.ended || !field.accepts(value)) return false
    this.isUnusual ||= field.isUnusual || (field.key === 'content-disposition' && typeof value !== 'string')
    this.put(field, value)
    return true
  }

  /** Store a field that was accepted. Private. */
  put (field, value) {
    const { fields } = this
    const at = this.find(field.key)
    if (at === -1) {
      fields.push(field, value)
    } else {
      fields[at] = field
      fields[at + 1] = value
    }
  }

  /** @return {number} index of a field in `fields`, by its name in lower case, or -1 */
  find (key) {
    const { fields } = this
    for (let i = 0; i < fields.length; i += 2) if (fields[i].key === key) return i
    return -1
  }

  appendHeader (name, value) {
    if (this.res === null) {
      const field = fieldName(name)
      if (field !== undefined && !this.ended && field.accepts(value)) {
        const at = this.find(field.key)
        if (at === -1) return this.setHeader(name, value)
        const values = [].concat(this.fields[at + 1], value)
        this.fields[at + 1] = values
        // Node joins the values of some names, so only plain ones are written here.
        this.isUnusual = this.isUnusual || !isPlain(values)
        return this
      }
    }
    this.materialize().appendHeader(name, value)
    return this
  }

  setHeaders (headers) {
    this.materialize().setHeaders(headers)
    return this
  }

  getHeader (name) {
    if (this.res !== null || typeof name !== 'string') return this.materialize().getHeader(name)
    return this.getField(name)
  }

  getField (name) {
    const at = this.find(fieldName(name)?.key ?? name.toLowerCase())
    return at === -1 ? undefined : this.fields[at + 1]
  }

  /** From now on node's own object holds the fields. */
  releaseFields () {
    this.fields = []
  }

  hasHeader (name) {
    if (this.res !== null || typeof name !== 'string') return this.materialize().hasHeader(name)
    return this.getHeader(name) !== undefined
  }

  getHeaders () {
    return this.res === null ? this.getFields() : this.res.getHeaders()
  }

  getFields () {
    const headers = Object.create(null)
    for (let i = 0; i < this.fields.length; i += 2) headers[this.fields[i].key] = this.fields[i + 1]
    return headers
  }

  getHeaderNames () {
    if (this.res !== null) return this.res.getHeaderNames()
    return this.names.map(name => name.key)
  }

  getRawHeaderNames () {
    if (this.res !== null) return this.res.getRawHeaderNames()
    return this.names.map(name => name.text)
  }

  get names () { return this.fields.filter((_, i) => i % 2 === 0) }

  removeHeader (name) {
    if (this.res !== null || typeof name !== 'string' || this.ended) return this.materialize().removeHeader(name)
    this.removeField(name)
  }

  /** @return {number} the bit of REMOVED if node remembers that this field was removed, otherwise 0 */
  removeField (name) {
    const field = fieldName(name)
    if (field === undefined) return 0 // it was never set
    const at = this.find(field.key)
    if (at !== -1) this.fields.splice(at, 2)
    this.removed |= field.removal
    return field.removal
  }

  flushHeaders () {
    this.materialize().flushHeaders()
  }

  /**
   * End the response; node's own `end` ends it if it is not plain.
   *
   * @param {string|Uint8Array|null} [body]
   */
  end (body, encoding, callback) {
    if (this.res !== null || encoding !== undefined || callback !== undefined) {
      this.materialize().end(body, encoding, callback)
      return this
    }
    if (this.ended && !body) return this
    const length = lengthOf(body)
    if (!this.canEnd(length)) {
      this.materialize().end(body)
      return this
    }
    if (this.isLost) this.ended = true
    else this.endPlain(this.header(length), body, length, null)
    return this
  }

  /**
   * Can the fast path write the bytes that node would?
   *
   * @param {number} length see lengthOf()
   */
  canEnd (length) {
    const { statusCode, statusMessage } = this
    if (this.ended || this.isUnusual || length === NOT_PLAIN || (this.isLost && length > 0)) return false
    if (!(statusCode >= 200 && statusCode <= 999 && statusCode === (statusCode | 0))) return false
    if (statusMessage !== undefined && !(typeof statusMessage === 'string' && isPlain(statusMessage))) return false
    return this.removed === 0 || this.canWriteWithout()
  }

  /** A response to HEAD, or one whose status allows no body. */
  get isBodiless () {
    const { statusCode } = this
    return statusCode === 204 || statusCode === 304 || this.incoming.isHead
  }

  /**
   * Build the header section of a response with `canEnd()`. Decides whether the connection closes.
   *
   * @param {number} length of the body in bytes
   * @return {string}
   */
  header (length) {
    this.closes = this.mustClose
    const common = this.closes ? writer.close() : writer.keepAlive(this.responses.keepAliveTimeout)
    return writer.header(this.statusCode, this.statusMessage, this.fields, common, this.isBodiless ? -1 : length)
  }

  /**
   * End with a header section of the fast path: for `end` here and of node's object.
   *
   * @param {string} header
   * @param {string|Uint8Array|null} [body]
   * @param {number} length of the body in bytes
   * @param {Function[]|null} callbacks of node's `write()` and `end()`
   */
  endPlain (header, body, length, callbacks) {
    this.ended = true
    this.callbacks = callbacks
    if (length === 0 || this.isBodiless) {
      this.responses.end(this, header, ASCII, null)
    } else if (typeof body === 'string') {
      this.responses.end(this, header + body, length === body.length ? ASCII : UTF8, null)
    } else {
      this.responses.end(this, header, ASCII, body)
    }
  }

  /** Can the front write what node would after these removals? */
  canWriteWithout () {
    if (this.removed & (REMOVED.connection | REMOVED.date)) return false
    if (this.isBodiless || (this.removed & REMOVED['content-length']) === 0) return true
    return this.getField('content-length') !== undefined
  }

  /**
   * Call `fn` once: with null when the whole response was flushed, with an error when it was lost.
   *
   *    outgoing.onFinished(err => log(err))
   */
  onFinished (fn) {
    if (this.state === NOTIFIED) process.nextTick(fn, this.failure)
    else if (this.listeners === null) this.listeners = [fn]
    else this.listeners.push(fn)
  }

  /** @return {http.ServerResponse} node's own, with the state of this one */
  materialize () {
    if (this.res === null) this.incoming.connection.makeResponse(this)
    return this.res
  }

  /** @param {*} owner the host's object for this response; `host.failed` gets it when the connection fails */
  setOwner (owner) {
    this.owner = owner
  }

  // ---- for Responses and the connection

  /** @throws {Error} for a change of state that is not allowed: a bug in kone */
  become (state) {
    const isAllowed = (FOLLOWS[state] & 1 << this.state) !== 0
    if (!isAllowed) assert.fail(`a response went from ${NAMES[this.state]} to ${NAMES[state]}`)
    this.state = state
  }

  /** Put `outgoing` after this one. */
  link (outgoing) {
    this.next = outgoing
  }

  /** Forget the next response, so that an app that keeps this one does not keep the others in memory. */
  unlink () {
    this.next = null
  }

  /** End with the last pieces of node's own object. */
  endByNode (text, encoding, bytes, callbacks, closes) {
    this.callbacks = callbacks
    this.closes = closes
    this.responses.end(this, text, encoding, bytes)
  }

  /** Keep the bytes by reference until the earlier responses are sent. */
  queue (text, encoding, bytes) {
    this.become(QUEUED)
    this.text = text
    this.encoding = encoding
    this.bytes = bytes
  }

  unqueue () {
    this.text = ''
    this.bytes = null
  }

  /** It left the queue: its bytes are batched or written. */
  sent (iteration) {
    this.writtenIn = iteration
  }

  flushed () {
    this.become(FLUSHED)
    this.notify()
  }

  /**
   * The connection closed before the response was flushed.
   *
   * @param {Error} err for its listeners
   * @param {boolean} hadTurn it was the first that was not flushed
   */
  lose (err, hadTurn) {
    this.become(LOST)
    this.failure = err
    this.hadTurn = hadTurn
    this.unqueue()
    this.notify()
  }

  notify () {
    const { connection } = this.responses
    if (this.res === null && this.state === FLUSHED && connection.seesFinish) this.materialize()
    this.become(NOTIFIED)
    const { listeners, callbacks } = this
    this.listeners = this.callbacks = null
    if (this.res !== null || this.incoming.req !== null) {
      connection.settled(this, callbacks, listeners)
    } else if (listeners !== null) {
      for (const fn of listeners) process.nextTick(fn, this.failure)
    }
  }

  /** From now on node's own object holds the values. */
  adopt (res) {
    this.res = res
  }
}

/** @return {number} in bytes */
function lengthOf (body) {
  if (body === undefined || body === null || body === '') return 0
  if (typeof body === 'string') return Buffer.byteLength(body)
  return body instanceof Uint8Array ? body.byteLength : NOT_PLAIN
}

module.exports = {
  Outgoing,
  NAMES,
  lengthOf,
  STREAMING,
  BATCHED,
  WRITTEN
}
