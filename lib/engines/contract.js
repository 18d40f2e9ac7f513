'use strict'

const { FieldName, fieldName } = require('./field-names')
const { readStream } = require('./objects/body')
const { whenFinished } = require('./objects/finished')
const { canRespond } = require('./objects/message')

/**
 * What the core may use of an engine's request and response. They have node's API and cost less than node's objects.
 * `materialize()` creates node's own; from then on (`adopt()`) those hold the values, and these forward to them. On
 * node:http and HTTP/2 nothing can be saved: there the core uses `req` and `res` themselves.
 *
 * An engine extends these classes and provides what is marked with *engine*. A name that begins with `local` is the
 * value until node's object exists.
 */

/**
 * A request.
 *
 * | member | before the response | after it was flushed | after the client has closed |
 * | --- | --- | --- | --- |
 * | `method` `url` `headers` | string, string, object; assignable | the same | the same |
 * | `httpVersion` `httpVersionMajor` `httpVersionMinor` | '1.1', 1, 1 or '1.0', 1, 0 | the same | the same |
 * | `isHead` | was it a HEAD when it arrived? | the same | the same |
 * | `socket` | net.Socket, or a Duplex like one | the same | the same |
 * | `complete` | whether the body has arrived | true unless it was skipped | whether it had arrived |
 * | `destroyed` | false; true once its body was read | true | true |
 * | `field(name)` | string, list or undefined | the same | the same |
 * | `namesHost` | true if the engine knows that what names the host has only its characters | the same | the same |
 * | `readBody(limit)` | Buffer or promise | rejects: KONE_ERR_BODY_USED | rejects: KONE_ERR_BODY_ABORTED |
 * | `req` | null, or node's request once something has read it | the same | the same |
 */
class Incoming {
  /** @return {Incoming} one that only forwards to node's request */
  static of (req) {
    const incoming = new Incoming(req.method, req.url)
    incoming.adopt(req)
    return incoming
  }

  /**
   * @param {string} method
   * @param {string} url
   */
  constructor (method, url) {
    this.req = null
    this.localMethod = method
    this.localUrl = url
    this.localHeaders = null
    // A middleware may change the method; the client expects a response to the one that it sent.
    this.isHead = method === 'HEAD'
    this.aborted = false      // the client has closed the connection before the response was sent
    this.isCollected = false  // by readBody()
  }

  get method () { return this.req === null ? this.localMethod : this.req.method }
  set method (method) {
    if (this.req === null) this.localMethod = method
    else this.req.method = method
  }

  get url () { return this.req === null ? this.localUrl : this.req.url }
  set url (url) {
    if (this.req === null) this.localUrl = url
    else this.req.url = url
  }

  get headers () {
    if (this.req !== null) return this.req.headers
    return this.localHeaders || (this.localHeaders = this.makeHeaders())
  }

  set headers (all) {
    if (this.req === null) this.localHeaders = all
    else this.req.headers = all
  }

  get httpVersion () { return this.req === null ? `1.${this.localMinor}` : this.req.httpVersion }
  get httpVersionMajor () { return this.req === null ? 1 : this.req.httpVersionMajor }
  get httpVersionMinor () { return this.req === null ? this.localMinor : this.req.httpVersionMinor }
  get socket () { return this.req === null ? this.localSocket : this.req.socket }
  get complete () { return this.req === null ? this.isComplete : this.req.complete }
  get destroyed () { return this.req === null ? this.aborted || this.isSpent : this.req.destroyed }

  /**
   * One header field, as `headers[name]` gives it, but without inherited values and, where the engine can, without
   * creating the object.
   *
   *    incoming.field('user-agent')
   *
   * @param {string} name in lower case
   * @return {string|string[]|undefined}
   */
  field (name) {
    const headers = this.req !== null ? this.req.headers : this.localHeaders
    if (headers === null) return this.findField(name)
    return Object.hasOwn(headers, name) ? headers[name] : undefined
  }

  /**
   * The body's bytes: a Buffer if they have arrived, otherwise a promise.
   *
   *    const bytes = await incoming.readBody(1024 * 1024)
   *
   * Rejects with `KONE_ERR_BODY_LIMIT` (status 413) beyond `limit`, with `KONE_ERR_BODY_ABORTED` (400) when
   * the client closes first, and with `KONE_ERR_BODY_USED` (500) after the response was sent.
   *
   * @param {number} [limit] in bytes; default: no limit
   * @return {Buffer|Promise<Buffer>}
   */
  readBody (limit = Infinity) {
    if (this.req === null || this.isCollected) return this.collect(limit)
    return readStream(this.req, limit) // node's stream holds the body
  }

  /** @return {http.IncomingMessage} node's own, with the state of this one */
  materialize () {
    if (this.req === null) this.makeRequest()
    return this.req
  }

  /** From now on node's own object holds the values. */
  adopt (req) {
    this.req = req
  }

  // *engine*: get localMinor (of the version), get localSocket, get isComplete, get isSpent (the body was read to its
  // end), makeHeaders(), findField(name), collect(limit), makeRequest(), which calls adopt()
}

/**
 * The states of a response. STREAMING, QUEUED and BATCHED are the front's alone (front/output/outgoing.js).
 *
 *    OPEN ──▶ BEGUN ────────────────┬──────────▶ WRITTEN ──▶ FLUSHED
 *              ├──▶ QUEUED ─────▶ BATCHED ──────────▲ ▲
 *              │                                      │
 *              ├──▶ STREAMING ────────────────────────┘
 *    and each state before FLUSHED ──────────────────────▶ LOST
 *
 * OPEN: its header section may change. BEGUN: the header section is complete. WRITTEN: it has ended, and was given to
 * the socket or to the reader. FLUSHED: given to the operating system, or read. LOST: it cannot be flushed any more.
 */
const OPEN = 0
const BEGUN = 1
const STREAMING = 2
const QUEUED = 3 // from here on it has ended
const BATCHED = 4
const WRITTEN = 5
const FLUSHED = 6
const LOST = 7

const NAMES = ['OPEN', 'BEGUN', 'STREAMING', 'QUEUED', 'BATCHED', 'WRITTEN', 'FLUSHED', 'LOST']

/** For each state, a bit mask of its allowed predecessors. */
const FOLLOWS = []
FOLLOWS[BEGUN] = 1 << OPEN
FOLLOWS[STREAMING] = 1 << BEGUN
FOLLOWS[QUEUED] = 1 << BEGUN
FOLLOWS[BATCHED] = 1 << BEGUN | 1 << QUEUED
FOLLOWS[WRITTEN] = 1 << BEGUN | 1 << STREAMING | 1 << BATCHED
FOLLOWS[FLUSHED] = 1 << WRITTEN
FOLLOWS[LOST] = 1 << OPEN | 1 << BEGUN | 1 << STREAMING | 1 << QUEUED | 1 << BATCHED | 1 << WRITTEN

/**
 * A response.
 *
 * | member | before it has begun | after its header section was sent | after its end | after it was lost |
 * | --- | --- | --- | --- | --- |
 * | `statusCode` `statusMessage` | number, string or undefined; assignable | the same | the same | the same |
 * | `setHeader` `removeHeader` | | throw | throw | |
 * | `getHeader` `hasHeader` `getHeaders` `get(Raw)HeaderNames` | as node's | as node's | as node's | as node's |
 * | `headersSent` | false | true | true | whether it had begun |
 * | `writableEnded` `finished` | false | false | true | whether it had ended |
 * | `writableFinished` | false | false | true once it was flushed | false |
 * | `destroyed` | false | false | true once the engine has released it | true |
 * | `writable` | true | true | true | true |
 * | `socket` | net.Socket, or null while it is queued | net.Socket | null | net.Socket or null |
 * | `end(body)` | ends it | ends it | does nothing | does nothing |
 * | `sink(stream)` | what the stream is piped into | the same | the same | the same |
 * | `onFinished(fn)` | calls `fn` later | calls `fn` later | with null once it was flushed | with an error |
 * | `res` | null, or node's response once something has read it | the same | the same | the same |
 */
class Outgoing {
  /** @return {Outgoing} one that only forwards to node's response */
  static of (incoming, res) {
    const outgoing = new Outgoing(incoming)
    outgoing.adopt(res)
    return outgoing
  }

  /** @param {any} incoming the Incoming of the same engine */
  constructor (incoming) {
    this.incoming = incoming
    this.owner = null       // see setOwner()
    this.res = null         // node's ServerResponse, once code has read `ctx.res`
    this.status = 200
    this.message = undefined
    this.fields = []        // FieldName, value, FieldName, value, …
    this.state = OPEN
    this.lostIn = OPEN      // of a lost response: its state before
    this.failure = null     //   and the error for listeners
  }

  /** @throws {Error} for a change of state that is not allowed: a bug in kone */
  become (state) {
    const isAllowed = (FOLLOWS[state] & 1 << this.state) !== 0
    if (!isAllowed) require('assert').fail(`a response went from ${NAMES[this.state]} to ${NAMES[state]}`)
    this.state = state
  }

  /** @param {Error} err for listeners */
  lose (err) {
    this.lostIn = this.state
    this.become(LOST)
    this.failure = err
  }

  /** @param {*} owner the host's object for this response; `host.failed` gets it when the connection fails */
  setOwner (owner) {
    this.owner = owner
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

  get hasBegun () { return (this.state === LOST ? this.lostIn : this.state) >= BEGUN }
  get hasEnded () { return (this.state === LOST ? this.lostIn : this.state) >= QUEUED }
  get isFlushed () { return this.state === FLUSHED }
  /** The connection closed before it was flushed. */
  get isLost () { return this.state === LOST }

  get headersSent () { return this.res === null ? this.hasBegun : this.res.headersSent }
  get writableEnded () { return this.res === null ? this.hasEnded : this.res.writableEnded }
  get finished () { return this.res === null ? this.hasEnded : this.res.finished }
  get writableFinished () { return this.res === null ? this.isFlushed : this.res.writableFinished }
  get destroyed () { return this.res === null ? this.isClosed : this.res.destroyed }
  get writable () { return this.res === null ? true : this.res.writable }
  get socket () { return this.res === null ? this.localSocket : this.res.socket }

  /** Whether it can still be sent: it has not ended, and the client is connected. */
  get canRespond () { return canRespond(this.res) }

  // ---- header fields; a method named …Field is for the fields of this object

  setHeader (name, value) {
    if (this.res !== null || !this.setField(name, value)) this.materialize().setHeader(name, value)
    return this
  }

  getHeader (name) {
    if (this.res !== null || typeof name !== 'string') return this.materialize().getHeader(name)
    return this.getField(name)
  }

  hasHeader (name) {
    if (this.res !== null || typeof name !== 'string') return this.materialize().hasHeader(name)
    return this.find(name) !== -1
  }

  removeHeader (name) {
    if (this.res !== null || typeof name !== 'string' || this.hasBegun) return this.materialize().removeHeader(name)
    this.removeField(name)
  }

  getHeaders () { return this.res === null ? this.getFields() : this.materialize().getHeaders() }

  getHeaderNames () {
    return this.res === null ? this.names.map(name => name.key) : this.materialize().getHeaderNames()
  }

  getRawHeaderNames () {
    return this.res === null ? this.names.map(name => name.text) : this.materialize().getRawHeaderNames()
  }

  flushHeaders () {
    this.materialize().flushHeaders()
  }

  /**
   * @param {string} name
   * @param {FieldName} [field] of this name, where the caller has it
   * @return {number} index of the field in `fields`, or -1
   */
  find (name, { id } = fieldName(name) ?? new FieldName(name)) {
    const { fields } = this
    for (let i = 0; i < fields.length; i += 2) if (fields[i].id === id) return i
    return -1
  }

  /** Store a field that was checked. */
  put (field, value) {
    const { fields } = this
    const at = this.find(field.text, field)
    if (at === -1) {
      fields.push(field, value)
    } else {
      fields[at] = field
      fields[at + 1] = value
    }
  }

  getField (name) {
    const at = this.find(name)
    return at === -1 ? undefined : this.fields[at + 1]
  }

  getFields () {
    const headers = Object.create(null)
    for (let i = 0; i < this.fields.length; i += 2) headers[this.fields[i].key] = this.fields[i + 1]
    return headers
  }

  removeField (name) {
    const at = this.find(name)
    if (at !== -1) this.fields.splice(at, 2)
  }

  /** From now on node's own object holds the fields. */
  releaseFields () {
    this.fields = []
  }

  get names () { return this.fields.filter((_, i) => i % 2 === 0) }

  // ---- the body and its end

  end (...args) {
    this.materialize().end(...args)
    return this
  }

  destroy (err) {
    this.materialize().destroy(err)
  }

  /**
   * What a stream is piped into: node's own `pipe` uses its `write()`, `end()`, `writableNeedDrain` and events.
   * For a stream with another `pipe` it is a Writable or node's response. Where `reportsFlush` is true, a callback of
   * `write()` is called when the chunk was flushed.
   *
   *    stream.pipe(outgoing.sink(stream))
   *
   * @return {any}
   */
  sink (stream) {
    return this.materialize()
  }

  /**
   * Call `fn` once: with null when the whole response was flushed, with an error when it was lost.
   *
   *    outgoing.onFinished(err => log(err))
   */
  onFinished (fn) {
    whenFinished(this.incoming, this.res, fn)
  }

  /** @return {http.ServerResponse} node's own, with the state of this one */
  materialize () {
    if (this.res === null) this.makeResponse()
    return this.res
  }

  /** From now on node's own object holds the values. */
  adopt (res) {
    this.res = res
  }

  // *engine*: get canRespond, get localSocket, get isClosed (node would have destroyed it), setField(name, value)
  // (false if node's code must set or reject it), end(body), onFinished(fn), makeResponse(), which calls adopt()
}

module.exports = { Incoming, Outgoing, NAMES, OPEN, BEGUN, STREAMING, QUEUED, BATCHED, WRITTEN, FLUSHED }
