'use strict'

const assert = require('node:assert')
const { Buffer } = require('node:buffer')
const process = require('node:process')
const { fieldName, isPlain } = require('./names')
const writer = require('./writer')

/**
 * A response of the fast path: node's names, node's rules. It produces the bytes of whatever it fully
 * understands; for everything else (an own Transfer-Encoding, a status out of range, a value that node
 * would reject, a stream …) it becomes node's ServerResponse, and that does it or throws.
 *
 * Its state is changed by Responses alone:
 *
 *    OPEN ──────────────────┬──────────▶ WRITTEN ──▶ FLUSHED ──┐
 *     ├──▶ QUEUED ──┬──▶ BATCHED ──────────▲ ▲                 ├──▶ NOTIFIED
 *     │             └──────────────────────┘ │                 │
 *     ├──▶ STREAMING ────────────────────────┘                 │
 *     └── and each state before FLUSHED ────────────▶ LOST ────┘
 *
 * QUEUED: ended before its turn, or while the client did not read. STREAMING: a part was written before the
 * response has ended. BATCHED: the bytes will be written with those of other responses. WRITTEN: given to the socket.
 * FLUSHED: given to the operating system. LOST: the connection ended before that. A response that ends in
 * its turn skips QUEUED, one that is alone or large skips BATCHED.
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

/** For each state a bit mask of those it may follow. */
const FOLLOWS = []
FOLLOWS[STREAMING] = 1 << OPEN
FOLLOWS[QUEUED] = 1 << OPEN
FOLLOWS[BATCHED] = 1 << OPEN | 1 << QUEUED
FOLLOWS[WRITTEN] = 1 << OPEN | 1 << STREAMING | 1 << QUEUED | 1 << BATCHED
FOLLOWS[FLUSHED] = 1 << WRITTEN
FOLLOWS[LOST] = 1 << OPEN | 1 << STREAMING | 1 << QUEUED | 1 << BATCHED | 1 << WRITTEN
FOLLOWS[NOTIFIED] = 1 << FLUSHED | 1 << LOST

/** Bits of `removed`: node remembers that these fields were removed and does not add its own. */
const REMOVED_LENGTH = 1
const REMOVED_ENCODING = 2
const REMOVED_CONNECTION = 4
const REMOVED_DATE = 8

class Outgoing {
  /**
   * @param {Responses} responses of the connection
   * @param {Incoming} incoming
   */
  constructor (responses, incoming) {
    this.responses = responses
    this.incoming = incoming
    this.owner = null       // see setOwner()
    this.next = null        // the response behind this one on the connection
    this.res = null         // node's own, once somebody read it
    this.state = OPEN
    this.closes = false     // the connection ends with this response; decided when it ends
    this.fields = []        // FieldName, value; and again
    this.status = 200
    this.message = undefined
    this.removed = 0        // REMOVED_* bits
    this.isUnusual = false  // a field that decides about framing was set: node's code writes it
    this.ended = false
    this.hadTurn = false    // of a lost response: it was the one to be sent
    this.text = ''          // of a queued response: header section, and the body if that is a string
    this.bytes = null       //   and the body otherwise
    this.isLatin1 = true    //   and whether the text can be written as latin1
    this.writtenIn = -1     // the event loop iteration in which it was written
    this.failure = null
    this.listeners = null
    this.callbacks = null   // of node's own object
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
  get destroyed () { return this.res === null ? this.isLost || this.isPast : this.res.destroyed }
  get writable () { return this.res === null ? true : this.res.writable }

  get writableFinished () {
    if (this.res !== null) return this.res.writableFinished
    return this.state === FLUSHED || (this.state === NOTIFIED && !this.isLost)
  }

  /** As on node: null before the turn of this response and after its end. */
  get socket () {
    if (this.res !== null) return this.res.socket
    return this.responses.first === this || this.isLost ? this.responses.socket : null
  }

  /** Its bytes are with the socket, or will be at the end of this tick. */
  get isSent () { return this.writtenIn !== -1 }

  /** It was sent, and node would have closed it by now: node does so a tick later. */
  get isPast () { return this.isSent && this.writtenIn !== this.incoming.connection.clock.count }

  /** The connection ends with it, as far as is known before it has ended. */
  get mustClose () { return this.incoming.connection.closesAfter(this) }

  /** It has not ended, or node's own object has not written its end. */
  get isOpen () { return this.state === OPEN || this.state === STREAMING }
  get isStreaming () { return this.state === STREAMING }
  get isNotified () { return this.state === NOTIFIED }
  get isQueued () { return this.state === QUEUED }
  get isLost () { return this.failure !== null }

  /** How much of it waits in memory, in bytes or characters. */
  get size () { return this.text.length + (this.bytes === null ? 0 : this.bytes.length) }

  setHeader (name, value) {
    if (this.res === null) {
      const field = fieldName(name)
      if (field !== undefined && !this.ended && field.accepts(value)) {
        this.isUnusual ||= field.isUnusual || (field.key === 'content-disposition' && typeof value !== 'string')
        this.put(field, value)
        return this
      }
    }
    this.materialize().setHeader(name, value)
    return this
  }

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

  /** Where a field is, by its name in lower case, or -1. */
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
        // node joins the values of some names: leave that to node
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
    const at = this.find(fieldName(name)?.key ?? name.toLowerCase())
    return at === -1 ? undefined : this.fields[at + 1]
  }

  hasHeader (name) {
    if (this.res !== null || typeof name !== 'string') return this.materialize().hasHeader(name)
    return this.getHeader(name) !== undefined
  }

  getHeaders () {
    if (this.res !== null) return this.res.getHeaders()
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
    const key = fieldName(name)?.key ?? name.toLowerCase()
    // node remembers that these were removed and does not add its own
    if (key === 'content-length') this.removed |= REMOVED_LENGTH
    else if (key === 'transfer-encoding') this.removed |= REMOVED_ENCODING
    else if (key === 'connection') this.removed |= REMOVED_CONNECTION
    else if (key === 'date') this.removed |= REMOVED_DATE
    const at = this.find(key)
    if (at !== -1) this.fields.splice(at, 2)
  }

  flushHeaders () {
    this.materialize().flushHeaders()
  }

  /**
   * End the response. What is not plain goes through node's own `end`.
   *
   * @param {string|Uint8Array|null} [body]
   */
  end (body, encoding, callback) {
    if (this.res !== null || encoding !== undefined || callback !== undefined) {
      this.materialize().end(body, encoding, callback)
      return this
    }
    if (this.ended && !body) return this
    const { status } = this
    const isEmpty = body === undefined || body === null || body === ''
    const isBodiless = status === 204 || status === 304 || this.incoming.isHead
    if (!this.canWrite(body, isEmpty, isBodiless)) {
      this.materialize().end(body)
      return this
    }

    this.ended = true
    if (this.isLost) return this
    const length = isEmpty ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
    this.closes = this.mustClose
    const common = this.closes ? writer.close() : writer.keepAlive(this.responses.keepAliveTimeout)
    const header = writer.header(status, this.message, this.fields, common, isBodiless ? -1 : length)

    if (isBodiless || length === 0) this.responses.end(this, header, null, true)
    else if (typeof body === 'string') this.responses.end(this, header + body, null, length === body.length)
    else this.responses.end(this, header, body, true)
    return this
  }

  /** Can the fast path produce the bytes that node would? */
  canWrite (body, isEmpty, isBodiless) {
    const { status } = this
    if (this.ended || this.isUnusual || (this.isLost && !isEmpty)) return false
    if (!(isEmpty || typeof body === 'string' || body instanceof Uint8Array)) return false
    if (!(status >= 200 && status <= 999 && status === (status | 0))) return false
    if (this.message !== undefined && !(typeof this.message === 'string' && isPlain(this.message))) return false
    return this.removed === 0 || this.canWriteWithout(isBodiless)
  }

  /** Is it plain what node would write after these fields were removed? */
  canWriteWithout (isBodiless) {
    if (this.removed & (REMOVED_CONNECTION | REMOVED_DATE)) return false
    return isBodiless || (this.removed & REMOVED_LENGTH) === 0 || this.getHeader('content-length') !== undefined
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

  /** @return {http.ServerResponse} node's own, in the state that node's would be in now */
  materialize () {
    if (this.res === null) this.incoming.connection.materialize(this.incoming)
    return this.res
  }

  /** @param {*} owner of the host's: it is notified when the connection fails during this response */
  setOwner (owner) {
    this.owner = owner
  }

  // ---- for Responses and the connection

  /** @throws {Error} for a change of state that is not in the drawing: a fault of ours */
  become (state) {
    const isAllowed = (FOLLOWS[state] & 1 << this.state) !== 0
    if (!isAllowed) assert.fail(`a response went from ${NAMES[this.state]} to ${NAMES[state]}`)
    this.state = state
  }

  /** Put `outgoing` behind this one. */
  link (outgoing) {
    this.next = outgoing
  }

  /** Forget the one behind, so that an app that keeps this response does not keep the others. */
  unlink () {
    this.next = null
  }

  /** Node's own object has written its end. */
  endByNode (text, bytes, isLatin1, callbacks, closes) {
    this.callbacks = callbacks
    this.closes = closes
    this.responses.end(this, text, bytes, isLatin1)
  }

  /** Keep the bytes by reference until its turn comes. */
  queue (text, bytes, isLatin1) {
    this.become(QUEUED)
    this.text = text
    this.bytes = bytes
    this.isLatin1 = isLatin1
  }

  unqueue () {
    this.text = ''
    this.bytes = null
  }

  /** Its bytes are on their way. */
  sent (iteration) {
    this.writtenIn = iteration
  }

  flushed () {
    this.become(FLUSHED)
    this.notify()
  }

  /**
   * The connection ended before the response was flushed.
   *
   * @param {Error} err for its listeners
   * @param {boolean} hadTurn it was the one to be sent
   */
  lose (err, hadTurn) {
    this.become(LOST)
    this.failure = err
    this.hadTurn = hadTurn
    this.unqueue()
    this.notify()
  }

  notify () {
    this.become(NOTIFIED)
    const { listeners, callbacks } = this
    this.listeners = this.callbacks = null
    if (this.res !== null) this.responses.connection.settled(this, callbacks, listeners)
    else if (listeners !== null) for (const fn of listeners) process.nextTick(fn, this.failure)
  }

  /** Node's own object is there and holds the values from now on. */
  adopt (res) {
    this.res = res
  }
}

module.exports = {
  Outgoing,
  STREAMING,
  BATCHED,
  WRITTEN,
  REMOVED_LENGTH,
  REMOVED_ENCODING,
  REMOVED_CONNECTION,
  REMOVED_DATE
}
