'use strict'

const { Buffer } = require('node:buffer')
const { error } = require('../errors')

const EMPTY = Buffer.alloc(0)

/**
 * A web Request with node's API, as kone's modules read a request. Parses a value when it is first
 * read. Once node's own object exists (`materialize()`), `req` holds the values and this object forwards to it.
 */
module.exports = class Incoming {
  constructor (exchange, request) {
    this.exchange = exchange
    this.request = request
    this.req = null
    this._method = request.method
    this._url = targetOf(request.url)
    this._headers = null
    this.reader = null       // of the body, while somebody reads it
    this.aborted = false
    this.isTaken = false     // by collect()
    this.isDropped = false   // by drop()
    this.isRead = request.body === null || request.body === undefined
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
    return this._headers || (this._headers = headersOf(this.request))
  }

  set headers (headers) {
    if (this.req === null) this._headers = headers
    else this.req.headers = headers
  }

  get httpVersion () { return this.req === null ? '1.1' : this.req.httpVersion }
  get httpVersionMajor () { return this.req === null ? 1 : this.req.httpVersionMajor }
  get httpVersionMinor () { return this.req === null ? 1 : this.req.httpVersionMinor }
  get socket () { return this.req === null ? this.exchange.socket : this.req.socket }
  get complete () { return this.isRead }
  get destroyed () { return this.aborted }

  /** It was a HEAD when it arrived: a middleware may change the method, and the caller still gets no body. */
  get byHead () { return this.request.method === 'HEAD' }

  /**
   * The body's bytes.
   *
   * @param {number} [limit] bytes
   * @return {Buffer|Promise<Buffer>|null} null if node's stream holds the body: read that instead
   */
  collect (limit = Infinity) {
    if (this.isDropped) return Promise.reject(used())
    if (this.req !== null && !this.isTaken) return null
    if (Number(this.headers['content-length']) > limit) {
      return Promise.reject(tooLong(limit))
    }
    if (this.aborted) return Promise.reject(cut(0))
    this.isTaken = true
    if (this.isRead) return EMPTY
    return this.readAll(limit)
  }

  async readAll (limit) {
    const chunks = []
    let length = 0
    for (;;) {
      const chunk = await this.read(length)
      if (chunk === null) break
      length += chunk.byteLength
      if (length > limit) {
        this.cancel()
        throw tooLong(limit)
      }
      chunks.push(chunk)
    }
    return Buffer.concat(chunks, length)
  }

  /** The next chunk of the body, or null after the last one. */
  async read (received) {
    if (this.reader === null) this.reader = this.request.body.getReader()
    let part
    try {
      part = await this.reader.read()
    } catch {
      throw cut(received)
    }
    if (this.aborted) throw cut(received)
    if (part.done) {
      this.isRead = true
      return null
    }
    return part.value
  }

  /** Give up the rest of the body. */
  cancel () {
    if (this.isRead) return
    const reason = new Error('the rest of the body is not read')
    const cancelled = this.reader !== null ? this.reader.cancel(reason) : this.request.body.cancel(reason)
    cancelled.catch(() => {})
  }

  /** The response was sent: cancel a body that nobody reads, as node:http skips it. */
  drop () {
    if (this.isRead || this.isBeingRead) return
    this.isDropped = true
    this.cancel()
    if (this.req !== null) this.req.resume() // to its end, which has come
  }

  get isBeingRead () {
    const { reader, req, request } = this
    if (reader === null && (request.bodyUsed || request.body.locked)) return true // by the caller of app.fetch()
    if (req !== null && !this.isTaken) return req.listenerCount('data') > 0 || req.listenerCount('readable') > 0
    return reader !== null
  }

  abort () {
    if (!this.isRead) {
      this.aborted = true
      this.cancel()
    }
    if (this.req !== null) this.req.destroy()
  }

  /** @return {http.IncomingMessage} node's own, with the state of this one */
  materialize () {
    if (this.req === null) require('./node')(this.exchange)
    return this.req
  }

  /** From now on `req` holds the values. */
  become (req) {
    this.req = req
  }
}

// http://host/path?query#fragment → /path?query
function targetOf (url) {
  const from = endOfAuthority(url)
  const hash = url.indexOf('#', from)
  const target = url.slice(from, hash === -1 ? undefined : hash)
  return target[0] === '/' ? target : `/${target}`
}

function endOfAuthority (url) {
  const from = url.indexOf('://') + 3
  const rest = /[/?#]/.exec(url.slice(from))
  return rest === null ? url.length : from + rest.index
}

/**
 * Node's headers object: the fields that a client would send for this Request, with those that it
 * adds when it sends them.
 */
function headersOf (request) {
  const headers = {}
  const host = request.headers.get('host')
  headers.host = host ?? request.url.slice(request.url.indexOf('://') + 3, endOfAuthority(request.url))
  for (const [name, value] of request.headers) {
    if (name === 'set-cookie') headers[name] = request.headers.getSetCookie()
    else if (name !== '__proto__') headers[name] = value
  }
  const hasLength = 'content-length' in headers || 'transfer-encoding' in headers
  if (hasLength) return headers
  if (request.body) headers['transfer-encoding'] = 'chunked'
  else if (request.method === 'POST' || request.method === 'PUT') headers['content-length'] = '0'
  return headers
}

function cut (received) {
  return error('KONE_ERR_BODY_ABORTED', 400, 'the request was aborted', { received })
}

function used () {
  return error('KONE_ERR_BODY_USED', 500, 'the body was cancelled, because the response was sent')
}

function tooLong (limit) {
  return error('KONE_ERR_BODY_LIMIT', 413, `the body is longer than ${limit} bytes`, { limit })
}
