'use strict'

const { Buffer } = require('node:buffer')
const process = require('node:process')
const { nameOf, plain } = require('./name')
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
    this.fields = []       // Name, value; and again
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
      const known = nameOf(name)
      if (known !== undefined && !this.ended && known.accepts(value)) {
        if (known.odd || (known.key === 'content-disposition' && typeof value !== 'string')) this.odd = true
        this.put(known, value)
        return this
      }
    }
    this.materialize().setHeader(name, value)
    return this
  }

  put (known, value) {
    const { fields } = this
    const at = this.find(known.key)
    if (at === -1) {
      fields.push(known, value)
    } else {
      fields[at] = known
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
      const known = nameOf(name)
      if (known !== undefined && !this.ended && known.accepts(value)) {
        const at = this.find(known.key)
        if (at === -1) return this.setHeader(name, value)
        const values = [].concat(this.fields[at + 1], value)
        this.fields[at + 1] = values
        // node joins the list of some names, and that is its business
        this.odd = this.odd || !plain(values)
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
    const at = this.find(nameOf(name)?.key ?? name.toLowerCase())
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
    const key = nameOf(name)?.key ?? name.toLowerCase()
    // node remembers that these were taken away and does not add its own
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
    if (this.ended || this.odd || (this.gone && !empty) ||
        !(empty || typeof body === 'string' || body instanceof Uint8Array) ||
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

function sayable (message) {
  return typeof message === 'string' && plain(message)
}

module.exports = { Outgoing, REMOVED_LENGTH, REMOVED_ENCODING, REMOVED_CONNECTION, REMOVED_DATE }
