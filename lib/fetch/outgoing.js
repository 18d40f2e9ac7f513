'use strict'

const { Buffer } = require('node:buffer')
const { STATUS_CODES, validateHeaderName, validateHeaderValue } = require('node:http')
const { Writable } = require('node:stream')
const elsewhere = require('./elsewhere')
const webHeaders = require('./web-headers')

/**
 * A response with node's API, which becomes a web Response. Once node's own ServerResponse exists
 * (`materialize()`), `res` holds the values and this object forwards to it.
 *
 *    open ──▶ streaming ──▶ ended
 *      └────────────────────▲
 */
class Outgoing {
  constructor (exchange) {
    this.exchange = exchange
    this.owner = null // see setOwner()
    this.res = null
    this.fields = new Map() // name in lower case → [name, value]
    this.status = 200
    this.message = undefined
    this.hasBegun = false
    this.hasEnded = false
    this.isLost = false
    this.writer = null
  }

  /** @param {object} owner the context of this response */
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

  get headersSent () { return this.res === null ? this.hasBegun : this.res.headersSent }
  get writableEnded () { return this.res === null ? this.hasEnded : this.res.writableEnded }
  get finished () { return this.res === null ? this.hasEnded : this.res.finished }
  get destroyed () { return this.res === null ? this.isLost : this.res.destroyed }
  get writable () { return this.res === null ? true : this.res.writable }
  get socket () { return this.res === null ? this.exchange.socket : this.res.socket }

  setHeader (name, value) {
    if (this.res !== null) return this.res.setHeader(name, value)
    if (this.hasBegun) throw headersSentError('set')
    validateHeaderName(name)
    for (const one of Array.isArray(value) ? value : [value]) validateHeaderValue(name, one)
    this.fields.set(name.toLowerCase(), [name, value])
    return this
  }

  appendHeader (name, value) {
    if (this.res !== null) return this.res.appendHeader(name, value)
    const before = this.getHeader(name)
    return this.setHeader(name, before === undefined ? value : [].concat(before, value))
  }

  getHeader (name) {
    if (this.res !== null) return this.res.getHeader(name)
    checkName(name)
    return this.fields.get(name.toLowerCase())?.[1]
  }

  hasHeader (name) {
    if (this.res !== null) return this.res.hasHeader(name)
    checkName(name)
    return this.fields.has(name.toLowerCase())
  }

  removeHeader (name) {
    if (this.res !== null) return this.res.removeHeader(name)
    if (this.hasBegun) throw headersSentError('remove')
    checkName(name)
    this.fields.delete(name.toLowerCase())
  }

  getHeaders () {
    if (this.res !== null) return this.res.getHeaders()
    const headers = Object.create(null)
    for (const [name, [, value]] of this.fields) headers[name] = value
    return headers
  }

  getHeaderNames () {
    return this.res === null ? [...this.fields.keys()] : this.res.getHeaderNames()
  }

  /** With node's object, if there is one: the caller goes on with that, as a rule. */
  flushHeaders () {
    if (this.res === null && elsewhere !== '') this.begin()
    else this.materialize().flushHeaders()
  }

  /**
   * Respond with a whole body.
   *
   * @param {string|Uint8Array|null} [body]
   * @throws {RangeError} for a status that no web Response has
   */
  end (body, encoding, callback) {
    if (this.res !== null || encoding !== undefined || callback !== undefined) {
      this.materialize().end(body, encoding, callback)
      return this
    }
    if (this.hasEnded) return this
    if (this.hasBegun) { // by flushHeaders()
      this.writer.end(body ?? undefined)
      return this
    }
    const bytes = body === undefined || body === null ? '' : body
    if (typeof bytes !== 'string' && !(bytes instanceof Uint8Array)) {
      throw new TypeError('the body of a response must be a string or bytes')
    }
    const length = Buffer.byteLength(bytes)
    const hasNone = this.isBodiless
    if (!hasNone && !this.fields.has('content-length') && !this.fields.has('transfer-encoding')) {
      this.fields.set('content-length', ['Content-Length', length])
    }
    // bytes, because a Response gives a string without a type one
    const content = hasNone || length === 0 ? null : typeof bytes === 'string' ? Buffer.from(bytes) : bytes
    const response = this.make(content)
    this.hasBegun = this.hasEnded = true
    this.exchange.deliver(response)
    this.exchange.sent()
    return this
  }

  /**
   * Respond with the chunks that are written into a stream, at the pace of the reader of the Response.
   * The Response is delivered with the first chunk.
   *
   * @return {Writable}
   */
  sink () {
    if (this.res !== null) return this.res
    return this.writer || (this.writer = new Sink(this))
  }

  /** Deliver a Response whose body is the sink's, unless the sink writes into node's response. */
  begin () {
    if (this.hasBegun || this.res !== null) return
    const sink = this.sink()
    const response = this.make(this.isBodiless ? null : sink.readable)
    this.hasBegun = true
    this.exchange.deliver(response)
  }

  /** The sink has ended without an error. */
  concluded () {
    this.hasEnded = true
    this.exchange.sent()
  }

  /** Node's response where it sends the bytes: it was made before the Response was. */
  get node () { return this.hasBegun ? null : this.res }

  get isBodiless () {
    const { status } = this
    return status === 204 || status === 205 || status === 304 || this.exchange.incoming.byHead
  }

  /**
   * @param {Uint8Array|ReadableStream|null} body
   * @return {Response}
   * @throws {RangeError|TypeError} as node does for headers that it does not send
   */
  make (body) {
    const { status, message, fields } = this
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new RangeError(`a web Response has a status from 200 to 599, not ${status}`)
    }
    const statusText = message ?? STATUS_CODES[status] ?? 'unknown'
    validateHeaderValue('statusMessage', statusText)
    if (fields.has('trailer') && (fields.has('content-length') || body === null)) {
      throw Object.assign(new Error('Trailers are invalid with this transfer encoding'), { code: 'ERR_HTTP_TRAILER_INVALID' })
    }
    return new Response(body, { status, statusText, headers: webHeaders(fields.values()) })
  }

  abort (err) {
    this.isLost = true
    if (this.writer !== null) this.writer.destroy(err)
  }

  onFinished (fn) {
    this.exchange.onFinished(fn)
  }

  /** @return {http.ServerResponse} node's own, with the state of this one */
  materialize () {
    if (this.res === null) require('./node')(this.exchange)
    return this.res
  }

  /** From now on `res` holds the values. */
  become (res) {
    this.res = res
  }
}

/**
 * A Writable whose other side is a web ReadableStream.
 */
class Sink extends Writable {
  constructor (outgoing) {
    super({ decodeStrings: true })
    this.outgoing = outgoing
    this.controller = null
    this.proceed = null // the write that waits for the reader
    this.readable = new ReadableStream({ // the body of the Response
      start: controller => { this.controller = controller },
      pull: () => {
        const { proceed } = this
        this.proceed = null
        if (proceed) proceed()
      },
      cancel: () => { this.outgoing.exchange.lost(new Error('the body of the response was cancelled')) }
    })
    this.on('error', () => {}) // the exchange reports it
  }

  // Here rather than in _write, because node too throws out of these for headers it does not send.
  write (chunk, encoding, callback) {
    checkChunk(chunk)
    this.outgoing.begin()
    return super.write(chunk, encoding, callback)
  }

  end (chunk, encoding, callback) {
    if (chunk !== undefined && chunk !== null && typeof chunk !== 'function') checkChunk(chunk)
    this.outgoing.begin()
    return super.end(chunk, encoding, callback)
  }

  _write (chunk, encoding, callback) {
    const { node } = this.outgoing
    if (node !== null) {
      node.write(chunk, callback)
      return
    }
    if (chunk.length === 0 || this.outgoing.isBodiless) return callback()
    this.controller.enqueue(chunk)
    if (this.controller.desiredSize > 0) callback()
    else this.proceed = callback
  }

  _final (callback) {
    const { node } = this.outgoing
    if (node !== null) {
      node.end(callback)
      return
    }
    this.controller.close()
    callback()
    this.outgoing.concluded()
  }

  _destroy (err, callback) {
    if (!this.writableFinished) {
      const failure = err || Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
      try {
        this.controller.error(failure)
      } catch {} // cancelled
      this.outgoing.node?.destroy()
      this.outgoing.exchange.lost(failure)
    }
    callback(err)
  }
}

function checkName (name) {
  if (typeof name === 'string') return
  throw Object.assign(new TypeError('The "name" argument must be of type string'), { code: 'ERR_INVALID_ARG_TYPE' })
}

function checkChunk (chunk) {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) return
  throw Object.assign(new TypeError('The "chunk" argument must be of type string or an instance of Buffer or Uint8Array'), {
    code: 'ERR_INVALID_ARG_TYPE'
  })
}

function headersSentError (what) {
  return Object.assign(new Error(`Cannot ${what} headers after they are sent to the client`), {
    code: 'ERR_HTTP_HEADERS_SENT'
  })
}

module.exports = Outgoing
