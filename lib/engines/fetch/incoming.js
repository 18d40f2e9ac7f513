'use strict'

const { Buffer } = require('buffer')
const { given, misuse } = require('../../shared/usage-error')
const contract = require('../contract')
const { aborted, tooLong, used } = require('../errors')

const EMPTY = Buffer.alloc(0)

/** http://host/path?query#fragment: 1 is host, 2 is /path?query */
const URL_PARTS = /:\/\/([^/?#]*)([^#]*)/

/** A request that arrived as a web Request: reads a value from it when it is first read. */
class Incoming extends contract.Incoming {
  /** @throws {TypeError} for anything that is not a usable Request */
  constructor (request) {
    const url = typeof request?.headers?.get === 'function' ? URL_PARTS.exec(request.url) : null
    if (url === null) throw misuse('fetch', `app.fetch(request): request must be a web Request with an http URL, not ${given(request)}`)
    const { body, method } = request
    super(method, url[2][0] === '/' ? url[2] : `/${url[2]}`)
    if (body && (request.bodyUsed || body.locked)) {
      throw misuse('fetch', 'app.fetch(request): the body of the request was already read')
    }
    this.request = request
    this.outgoing = null
    this.reader = null       // of the body, while somebody reads it
    this.isDropped = false   // nobody had read the body when the response was sent
    this.isComplete = body === null || body === undefined
  }

  respondWith (outgoing) {
    this.outgoing = outgoing
  }

  get localMinor () { return 1 }
  get localSocket () { return this.outgoing.connection }
  get isSpent () { return this.outgoing.isClosed || (this.isCollected && this.isComplete) }

  makeHeaders () {
    const headers = {}
    for (const name of ['host', ...this.request.headers.keys(), 'transfer-encoding', 'content-length']) {
      const value = this.findField(name)
      if (value !== undefined) headers[name] = value
    }
    return headers
  }

  /** With the fields that a client adds when it sends this Request. */
  findField (name) {
    const { body, headers, method, url } = this.request
    const value = valueOf(headers, name)
    if (value !== null) return name === 'set-cookie' ? headers.getSetCookie() : name === '__proto__' ? undefined : value
    if (name === 'host') return URL_PARTS.exec(url)[1]
    if (name === 'transfer-encoding') return body && !headers.has('content-length') ? 'chunked' : undefined
    if (name !== 'content-length' || body || headers.has('transfer-encoding')) return undefined
    return method === 'POST' || method === 'PUT' ? '0' : undefined
  }

  makeRequest () {
    require('./node')(this.outgoing)
  }

  collect (limit) {
    if (this.isDropped) return Promise.reject(used())
    if (Number(this.field('content-length')) > limit) return Promise.reject(tooLong(limit))
    if (this.aborted) return Promise.reject(aborted(0))
    this.isCollected = true
    return this.isComplete ? EMPTY : this.readAll(limit)
  }

  async readAll (limit) {
    const chunks = []
    let length = 0
    for (let chunk; (chunk = await this.read(length)) !== null;) {
      length += chunk.byteLength
      if (length > limit) {
        this.cancel()
        throw tooLong(limit)
      }
      chunks.push(chunk)
    }
    return Buffer.concat(chunks, length)
  }

  /** @return {Promise<Uint8Array|null>} the next chunk of the body, or null after the last one */
  async read (received) {
    this.reader ??= this.request.body.getReader()
    const part = await this.reader.read().catch(() => null)
    if (part === null || this.aborted) throw aborted(received)
    if (!part.done) return part.value
    this.isComplete = true
    return null
  }

  /** Give up the rest of the body. */
  cancel () {
    if (this.isComplete) return
    const body = this.reader ?? this.request.body
    body.cancel(new Error('the rest of the body is not read')).catch(() => {})
  }

  /** The response was sent: cancel a body that nobody reads, as node:http skips it. */
  onSent () {
    const { req } = this
    const isStreamed = req !== null && (req.listenerCount('data') > 0 || req.listenerCount('readable') > 0)
    if (isStreamed) return
    if (!this.isComplete && !this.isBeingRead) {
      this.isDropped = true
      this.cancel()
    }
    // node's stream ends, as after a response of node:http, but not while the caller of app.fetch() reads the body
    if (req !== null && (this.isComplete || this.isDropped || this.isCollected)) req.resume()
  }

  /** By readBody(), or by the caller of app.fetch(). */
  get isBeingRead () {
    const { reader, req, request } = this
    if (reader === null) return request.bodyUsed || request.body.locked
    return req === null || this.isCollected // node's stream reads ahead
  }

  /** The caller has aborted the request, or does not read the response. */
  cutOff () {
    this.aborted = true
    this.cancel()
    if (this.req !== null) this.req.destroy()
  }
}

function valueOf (headers, name) {
  try {
    return headers.get(name)
  } catch {
    return null // a name that no field has
  }
}

module.exports = { Incoming }
