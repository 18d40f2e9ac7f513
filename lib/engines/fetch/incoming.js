'use strict'

const { Buffer } = require('buffer')
const contract = require('../contract')
const { aborted, tooLong, used } = require('../errors')

const EMPTY = Buffer.alloc(0)

/** A request that arrived as a web Request: parses a value when it is first read. */
class Incoming extends contract.Incoming {
  constructor (exchange, request) {
    const [, , target] = partsOf(request.url)
    super(request.method, target[0] === '/' ? target : `/${target}`)
    this.exchange = exchange
    this.request = request
    this.reader = null       // of the body, while somebody reads it
    this.isDropped = false   // nobody had read the body when the response was sent
    this.isComplete = request.body === null || request.body === undefined
  }

  get ownSocket () { return this.exchange.socket }
  get isSpent () { return this.exchange.isSettled || (this.isCollected && this.isComplete) }

  makeHeaders () {
    return headersOf(this.request)
  }

  findField (name) {
    const { headers } = this
    return Object.hasOwn(headers, name) ? headers[name] : undefined
  }

  makeRequest () {
    require('./node')(this.exchange)
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

  /**
   * @param {number} received bytes before
   * @return {Promise<Uint8Array|null>} the next chunk of the body, or null after the last one
   */
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
  drop () {
    const { req } = this
    const isStreamed = req !== null && (req.listenerCount('data') > 0 || req.listenerCount('readable') > 0)
    if (!this.isComplete && !isStreamed && !this.isBeingRead) {
      this.isDropped = true
      this.cancel()
    }
    if (req !== null && !isStreamed) req.resume() // to its end, which has come
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

/**
 * Node's headers object: the fields that a client would send for this Request, with those that it
 * adds when it sends them.
 */
function headersOf ({ body, headers: given, method, url }) {
  const headers = { host: given.get('host') ?? partsOf(url)[1] }
  for (const [name, value] of given) {
    if (name === 'set-cookie') headers[name] = given.getSetCookie()
    else if (name !== '__proto__') headers[name] = value
  }
  if ('content-length' in headers || 'transfer-encoding' in headers) return headers
  if (body) headers['transfer-encoding'] = 'chunked'
  else if (method === 'POST' || method === 'PUT') headers['content-length'] = '0'
  return headers
}

/** @return {string[]} of http://host/path?query#fragment: all, host, /path?query */
function partsOf (url) {
  return /:\/\/([^/?#]*)([^#]*)/.exec(url)
}

module.exports = { Incoming }
