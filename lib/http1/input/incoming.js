'use strict'

const process = require('node:process')
const { EMPTY, tooLong, aborted, used } = require('./body')

/**
 * A request of the fast path. Has node's API, and parses a value when it is first read. Once node's own object
 * exists (`materialize()`), `req` holds the values and this object forwards to it.
 */
class Incoming {
  /**
   * @param {Connection} connection
   * @param {string} method
   * @param {string} url
   * @param {HeaderSection} section
   * @param {Body|null} body null when the request has none
   * @param {number} arrivedIn the event loop iteration in which all of a body arrived, or -1
   */
  constructor (connection, method, url, section, body, arrivedIn) {
    this.connection = connection
    this.section = section
    this.body = body
    this.arrivedIn = arrivedIn
    this.outgoing = null
    this.req = null
    this.ownMethod = method
    this.ownUrl = url
    this.ownHeaders = null
    // A middleware may change the method; the client expects a response to the one that it sent.
    this.isHead = method === 'HEAD'
    this.isCollected = false
    this.aborted = false
  }

  get method () { return this.req === null ? this.ownMethod : this.req.method }
  set method (method) {
    if (this.req === null) this.ownMethod = method
    else this.req.method = method
  }

  get url () { return this.req === null ? this.ownUrl : this.req.url }
  set url (url) {
    if (this.req === null) this.ownUrl = url
    else this.req.url = url
  }

  get headers () {
    if (this.req !== null) return this.req.headers
    return this.ownHeaders || (this.ownHeaders = this.section.headers(this.joins))
  }

  set headers (all) {
    if (this.req === null) this.ownHeaders = all
    else this.req.headers = all
  }

  /**
   * One header field, as `headers[name]` gives it, but without creating the object and without inherited values.
   *
   *    incoming.field('user-agent')
   *
   * @param {string} name in lower case
   * @return {string|string[]|undefined}
   */
  field (name) {
    const headers = this.req !== null ? this.req.headers : this.ownHeaders
    if (headers !== null) return Object.hasOwn(headers, name) ? headers[name] : undefined
    return this.section.field(name, this.joins)
  }

  /** server.joinDuplicateHeaders, read at use as node does */
  get joins () { return this.connection.server.joinDuplicateHeaders === true }

  get httpVersion () { return this.req === null ? '1.1' : this.req.httpVersion }
  get httpVersionMajor () { return this.req === null ? 1 : this.req.httpVersionMajor }
  get httpVersionMinor () { return this.req === null ? 1 : this.req.httpVersionMinor }
  get socket () { return this.req === null ? this.connection.socket : this.req.socket }
  get connected () { return !this.connection.isClosed }

  /** As node has it: false while the handler is called; a body is complete one iteration after its last byte. */
  get complete () {
    if (this.req !== null) return this.req.complete
    if (this.connection.handling === this) return false
    return this.body === null || (this.body.isComplete && !this.justArrived)
  }

  get justArrived () { return this.arrivedIn === this.connection.clock.count }

  get destroyed () { return this.req === null ? this.aborted || this.isSpent : this.req.destroyed }

  /** The body was read to its end; node would have destroyed the stream. */
  get isSpent () { return this.isCollected && (this.body === null || this.body.isComplete) }

  /**
   * The body's bytes: a Buffer if they have arrived, otherwise a promise.
   *
   *    const bytes = await incoming.collect(1024 * 1024)
   *
   * Rejects with `KONE_ERR_BODY_LIMIT` (status 413) beyond `limit`, with `KONE_ERR_BODY_ABORTED` (400) when
   * the client closes first, and with `KONE_ERR_BODY_USED` (500) after the response was sent.
   *
   * @param {number} [limit] in bytes; default: no limit
   * @return {Buffer|Promise<Buffer>|null} null if node's stream holds the body: read that instead
   */
  collect (limit = Infinity) {
    if (this.req !== null && !this.isCollected) return null
    if (this.section.contentLength > limit) return Promise.reject(tooLong(limit))
    if (!this.isCollected) {
      if (this.outgoing.nodeHasClosed || (this.body !== null && this.body.isDropped)) return Promise.reject(used())
      if (this.aborted) return Promise.reject(aborted(0))
    }
    this.isCollected = true
    return this.body === null ? EMPTY : this.body.collect()
  }

  /** The connection calls the handler with it. */
  respondWith (outgoing) {
    this.outgoing = outgoing
  }

  /** From now on node's own object holds the values. */
  adopt (req) {
    this.req = req
  }

  /**
   * The response was sent. An unread body is skipped, unless the connection closes: in the next tick, because on node
   * the handler may still begin to read it.
   */
  sent (closes) {
    if (this.body !== null && !this.body.isComplete && !closes) process.nextTick(drop, this.body)
  }

  /** The client has closed the connection before the response was sent. */
  abort () {
    this.aborted = true
    if (this.body !== null) this.body.abort()
  }

  /** @return {http.IncomingMessage} node's own, with the state of this one */
  materialize () {
    if (this.req === null) this.connection.makeRequest(this)
    return this.req
  }
}

function drop (body) {
  body.drop()
}

module.exports = { Incoming }
