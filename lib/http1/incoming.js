'use strict'

const { field, headers } = require('./head')
const { EMPTY, tooLong, cut } = require('./body')

/**
 * A request as the front knows it: node's names, and only what is cheap. Nothing is parsed before it
 * is read. Once somebody asked for node's own object (`materialize()`), `req` is the truth and this
 * forwards to it.
 */
class Incoming {
  constructor (connection, method, url, head) {
    this.connection = connection
    this.head = head
    this.outgoing = null
    this.req = null
    this._method = method
    /** asked by HEAD: a middleware may change the method, the client goes on waiting for no body */
    this.byHead = method === 'HEAD'
    this._url = url
    this._headers = null
    /** a Body, or null when the request has none */
    this.body = null
    /** the turn of the event loop in which head and body came together */
    this.cameIn = -1
    /** somebody read the body with readBody() */
    this.taken = false
    this.aborted = false
  }

  get method () { return this.req === null ? this._method : this.req.method }
  set method (method) {
    if (this.req === null) this._method = method
    else this.req.method = method
  }

  get url () { return this.req === null ? this._url : this.req.url }
  set url (url) {
    if (this.req === null) this._url = url
    else this.req.url = url
  }

  get headers () {
    if (this.req !== null) return this.req.headers
    return this._headers || (this._headers = headers(this.head.block, this.joins))
  }

  set headers (all) {
    if (this.req === null) this._headers = all
    else this.req.headers = all
  }

  /**
   * One header field, as `headers[name]` gives it, but without making the object and what it inherits.
   *
   *    incoming.field('user-agent')
   *
   * @param {string} name in lower case
   * @return {string|string[]|undefined}
   */
  field (name) {
    const headers = this.req !== null ? this.req.headers : this._headers
    if (headers !== null) return Object.hasOwn(headers, name) ? headers[name] : undefined
    const { head, joins } = this
    return head.repeats && !joins ? remembered(head, name) : field(head.block, name, joins)
  }

  /** server.joinDuplicateHeaders, read at use as node does */
  get joins () { return this.connection.server.joinDuplicateHeaders === true }

  get httpVersion () { return this.req === null ? '1.1' : this.req.httpVersion }
  get httpVersionMajor () { return this.req === null ? 1 : this.req.httpVersionMajor }
  get httpVersionMinor () { return this.req === null ? 1 : this.req.httpVersionMinor }
  get socket () { return this.req === null ? this.connection.socket : this.req.socket }
  get connected () { return !this.connection.closed }

  /** As on node, not while the handler is being called, and a body is complete a turn after its last byte. */
  get complete () {
    if (this.req !== null) return this.req.complete
    const { connection, body } = this
    return connection.dispatching !== this && (body === null || (body.missing === 0 && !this.recent))
  }

  get recent () { return this.cameIn === this.connection.front.turn }

  get destroyed () { return this.req === null ? this.aborted || this.spent : this.req.destroyed }

  /** The body was read to its end: node destroys the stream then. */
  get spent () { return this.taken && (this.body === null || this.body.missing === 0) }

  /**
   * The body's bytes, at once when they are here, otherwise a promise of them.
   *
   *    const bytes = await incoming.readBody(1024 * 1024)
   *
   * Rejects with `KONE_ERR_BODY_LIMIT` (status 413) beyond `limit` and with `KONE_ERR_BODY_ABORTED`
   * (status 400) when the client goes away first.
   *
   * @param {number} [limit] bytes; without it there is none
   * @return {Buffer|Promise<Buffer>|null} null when node's stream has the body: read that
   */
  readBody (limit = Infinity) {
    if (this.req !== null && !this.taken) return null
    if (this.head.length > limit) return Promise.reject(tooLong(limit))
    if (this.aborted && !this.taken) return Promise.reject(cut(0))
    this.taken = true
    return this.body === null ? EMPTY : this.body.read()
  }

  /** @return {http.IncomingMessage} node's own, in the state that node's would be in now */
  materialize () {
    if (this.req === null) this.connection.materialize(this)
    return this.req
  }
}

/** Fields of a block that came again will be asked for again. */
const MAX_REMEMBERED = 16

function remembered (head, name) {
  const fields = (head.fields ??= new Map())
  let value = fields.get(name)
  if (value !== undefined || fields.has(name)) return value
  value = field(head.block, name, false)
  if (fields.size < MAX_REMEMBERED && !Array.isArray(value)) fields.set(name, value)
  return value
}

module.exports = { Incoming }
