'use strict'

const writer = require('./writer')

/**
 * An answer as the front knows it: node's names, node's rules. It writes what it fully understands in
 * one go; for everything else (an own Transfer-Encoding, a status out of range, a value that node
 * would refuse, a stream …) it becomes node's ServerResponse and that does it, or throws.
 */
class Outgoing {
  constructor (connection, incoming) {
    this.connection = connection
    this.incoming = incoming
    this.owner = null      // what the host keeps here is told when the connection fails
    this.next = null       // the answer behind this one on the connection
    this.res = null        // node's own, once somebody asked for it
    this.fields = []       // lower-case name, name, value; and again
    this.status = 200
    this.message = undefined
    this.removed = 0       // REMOVED_* bits
    this.odd = false       // a field that decides about framing was set or removed
    this.ended = false
    this.gone = false      // the connection closed before the answer was out
    this.turn = false      //   and this was the one to be sent
    this.text = ''         // the bytes, while others are still in front
    this.bytes = null
    this.ascii = true
    this.sent = false
    this.sentIn = -1       // the turn of the event loop when that was
    this.settled = false
    this.failure = null
    this.listeners = null
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
  get destroyed () { return this.res === null ? this.gone || this.past : this.res.destroyed }
  get writable () { return this.res === null ? true : this.res.writable }

  get writableFinished () {
    if (this.res !== null) return this.res.writableFinished
    return this.sent && this.connection.socket.writableLength === 0
  }

  /** As on node: null before the turn of this answer and after its end. */
  get socket () {
    if (this.res !== null) return this.res.socket
    return this.connection.first === this || this.gone ? this.connection.socket : null
  }

  /** Is the answer out, and node would have closed it by now? It does so a tick later. */
  get past () { return this.sent && this.sentIn !== this.connection.front.turn }

  setHeader (name, value) {
    if (this.res === null) {
      const key = NAMES.get(name) ?? learn(name)
      if (key !== undefined && !this.ended && plain(value)) {
        if (ODD.has(key) || (key === 'content-disposition' && typeof value !== 'string')) this.odd = true
        this.put(key, name, value)
        return this
      }
    }
    this.materialize().setHeader(name, value)
    return this
  }

  put (key, name, value) {
    const fields = this.fields
    let i = 0
    while (i < fields.length && fields[i] !== key) i += 3
    fields[i] = key
    fields[i + 1] = name
    fields[i + 2] = value
  }

  appendHeader (name, value) {
    if (this.res === null) {
      const key = NAMES.get(name) ?? learn(name)
      if (key !== undefined && !this.ended && plain(value)) {
        const present = this.getHeader(name)
        if (present === undefined) return this.setHeader(name, value)
        const i = this.fields.indexOf(key)
        this.fields[i + 2] = Array.isArray(present) ? present.concat(value) : [present].concat(value)
        // node joins the list of some names, and that is its business
        this.odd = this.odd || !plain(this.fields[i + 2])
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
    const fields = this.fields
    const key = NAMES.get(name) ?? name.toLowerCase()
    for (let i = 0; i < fields.length; i += 3) if (fields[i] === key) return fields[i + 2]
  }

  hasHeader (name) {
    if (this.res !== null || typeof name !== 'string') return this.materialize().hasHeader(name)
    return this.getHeader(name) !== undefined
  }

  getHeaders () {
    if (this.res !== null) return this.res.getHeaders()
    const headers = Object.create(null)
    for (let i = 0; i < this.fields.length; i += 3) headers[this.fields[i]] = this.fields[i + 2]
    return headers
  }

  getHeaderNames () {
    if (this.res !== null) return this.res.getHeaderNames()
    return this.fields.filter((_, i) => i % 3 === 0)
  }

  getRawHeaderNames () {
    if (this.res !== null) return this.res.getRawHeaderNames()
    return this.fields.filter((_, i) => i % 3 === 1)
  }

  removeHeader (name) {
    if (this.res !== null || typeof name !== 'string' || this.ended) return this.materialize().removeHeader(name)
    const key = NAMES.get(name) ?? name.toLowerCase()
    // node remembers that these were taken away and does not add its own
    if (key === 'content-length') this.removed |= REMOVED_LENGTH
    else if (key === 'transfer-encoding') this.removed |= REMOVED_ENCODING
    else if (key === 'connection') this.removed |= REMOVED_CONNECTION
    else if (key === 'date') this.removed |= REMOVED_DATE
    const fields = this.fields
    for (let i = 0; i < fields.length; i += 3) {
      if (fields[i] === key) {
        fields.splice(i, 3)
        return
      }
    }
  }

  flushHeaders () {
    this.materialize().flushHeaders()
  }

  /**
   * Answer. The one way out: whatever is not simple goes through node's own `end`.
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
    const empty = body === undefined || body === null || body === ''
    if (this.ended || this.odd || !(empty || typeof body === 'string' || body instanceof Uint8Array) ||
        !(status >= 200 && status <= 999 && status === (status | 0)) ||
        !(this.message === undefined || sayable(this.message))) {
      this.materialize().end(body)
      return this
    }

    const length = empty ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
    const bodiless = status === 204 || status === 304 || this.incoming.byHead
    if (this.removed !== 0 && !this.knows(bodiless)) {
      this.materialize().end(body)
      return this
    }

    this.ended = true
    if (this.gone) return this
    const { connection } = this
    const common = connection.closesAfter(this)
      ? writer.close()
      : writer.keepAlive(connection.server.keepAliveTimeout)
    const head = writer.head(status, this.message, this.fields, common, bodiless ? -1 : length)

    if (bodiless || length === 0) connection.send(this, head, true, null)
    else if (typeof body === 'string') connection.send(this, head + body, length === body.length, null)
    else connection.send(this, head, true, body)
    return this
  }

  /** Is it plain what node would write after these fields were removed? */
  knows (bodiless) {
    if (this.removed & (REMOVED_CONNECTION | REMOVED_DATE)) return false
    return bodiless || (this.removed & REMOVED_LENGTH) === 0 || this.getHeader('content-length') !== undefined
  }

  /**
   * Call `fn` once, when the answer is out (null) or the client is gone (its error, or null).
   *
   *    outgoing.onFinished(err => log(err))
   */
  onFinished (fn) {
    if (this.settled) {
      process.nextTick(fn, this.failure)
      return
    }
    if (this.listeners === null) this.listeners = [fn]
    else this.listeners.push(fn)
    if (this.sent && this.listeners.length === 1) this.connection.watch(this)
  }

  settle (err) {
    if (this.settled) return
    this.settled = true
    this.failure = err || null
    if (this.listeners === null) return
    for (const fn of this.listeners) process.nextTick(fn, this.failure)
    this.listeners = null
  }

  /** @return {http.ServerResponse} node's own, in the state that node's would be in now */
  materialize () {
    if (this.res === null) this.connection.materialize(this.incoming)
    return this.res
  }
}

const REMOVED_LENGTH = 1
const REMOVED_ENCODING = 2
const REMOVED_CONNECTION = 4
const REMOVED_DATE = 8

/** Fields that change framing or what node adds: node's own code shall do it. */
const ODD = new Set(['connection', 'transfer-encoding', 'date', 'expect', 'trailer', 'keep-alive', 'cookie'])

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const NOT_ASCII = /[^\t\x20-\x7e]/

/** Names that were found good, in lower case. Names come from code, and still the map is bounded. */
const NAMES = new Map()
const MAX_NAMES = 1024

/** The key of a new name; undefined for what node refuses or sorts in front (numbers as keys). */
function learn (name) {
  if (typeof name !== 'string' || !TOKEN.test(name) || /^\d+$/.test(name)) return undefined
  const key = name.toLowerCase()
  if (NAMES.size < MAX_NAMES) NAMES.set(name, key)
  return key
}

/** Only ASCII: node's way with the rest depends on the body. */
function plain (value) {
  if (typeof value === 'string') return !NOT_ASCII.test(value)
  if (typeof value === 'number') return true
  if (!Array.isArray(value) || value.length === 0) return false
  return value.every(one => typeof one === 'string' && !NOT_ASCII.test(one))
}

function sayable (message) {
  return typeof message === 'string' && !NOT_ASCII.test(message)
}

module.exports = { Outgoing, REMOVED_LENGTH, REMOVED_ENCODING, REMOVED_CONNECTION, REMOVED_DATE }
