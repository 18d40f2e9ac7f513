'use strict'

const { Buffer } = require('buffer')
const { STATUS_CODES, validateHeaderName, validateHeaderValue } = require('http')
const { Writable } = require('stream')
const contract = require('../contract')
const { reset } = require('../errors')
const { fieldName } = require('../field-names')
const elsewhere = require('./elsewhere')
const { BODILESS, webResponse } = require('./web-response')

const CONTENT_LENGTH = fieldName('Content-Length')

/**
 * A response that becomes a web Response.
 *
 *    open ──▶ begun, by the sink ──▶ ended
 *      └──────────────────────────────▲
 */
class Outgoing extends contract.Outgoing {
  constructor (exchange, incoming) {
    super(incoming)
    this.exchange = exchange
    this.stream = null // see sink()
  }

  get ownSocket () { return this.isFlushed ? null : this.exchange.socket }
  get isFlushed () { return this.exchange.isSettled && !this.isLost }
  get isClosed () { return this.exchange.isSettled }

  /** Does not ask the socket, because that is made when it is read. */
  get canRespond () { return this.res === null ? !this.hasEnded && this.exchange.isOpen : super.canRespond }

  setField (name, value) {
    if (this.hasBegun) return false
    const field = fieldName(name)
    if (field !== undefined && field.accepts(value)) {
      this.put(field, value)
      return true
    }
    validateHeaderName(name)
    for (const one of Array.isArray(value) ? value : [value]) validateHeaderValue(name, one)
    this.put(field ?? { text: name, key: name }, value) // a name of digits
    return true
  }

  appendField (name, value) {
    const at = typeof name === 'string' ? this.find(name.toLowerCase()) : -1
    return this.setField(name, at === -1 ? value : [].concat(this.fields[at + 1], value))
  }

  /** With node's object, if there is one: the caller goes on with that, as a rule. */
  flushHeaders () {
    if (this.res === null && elsewhere !== '') this.begin()
    else super.flushHeaders()
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
      this.stream.end(body ?? undefined)
      return this
    }
    const bytes = body ?? ''
    if (typeof bytes !== 'string' && !(bytes instanceof Uint8Array)) {
      throw new TypeError('the body of a response must be a string or bytes')
    }
    const length = Buffer.byteLength(bytes)
    const { isBodiless } = this
    if (!isBodiless && this.find('content-length') === -1 && this.find('transfer-encoding') === -1) {
      this.put(CONTENT_LENGTH, length)
    }
    // bytes, because a Response gives a string without a type one
    const content = isBodiless || length === 0 ? null : typeof bytes === 'string' ? Buffer.from(bytes) : bytes
    const response = this.toResponse(content)
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
    return this.res ?? (this.stream ??= new BodyStream(this))
  }

  /** Deliver a Response whose body is the stream's, unless the stream writes into node's response. */
  begin () {
    if (this.hasBegun || this.res !== null) return
    const stream = this.sink()
    const response = this.toResponse(this.isBodiless ? null : stream.readable)
    this.hasBegun = true
    this.exchange.deliver(response)
  }

  /** The stream has ended without an error. */
  concluded () {
    this.hasEnded = true
    this.exchange.sent()
  }

  /** Node's response where it sends the bytes: it was made before the Response was. */
  get node () { return this.hasBegun ? null : this.res }

  get isBodiless () { return this.incoming.isHead || BODILESS.has(this.status) }

  /**
   * @param {Uint8Array|ReadableStream|null} body
   * @return {Response}
   * @throws {RangeError|TypeError} as node does for headers that it does not send
   */
  toResponse (body) {
    const statusText = this.message ?? STATUS_CODES[this.status] ?? 'unknown'
    validateHeaderValue('statusMessage', statusText)
    if (this.find('trailer') !== -1 && (this.find('content-length') !== -1 || body === null)) {
      throw Object.assign(new Error('Trailers are invalid with this transfer encoding'), { code: 'ERR_HTTP_TRAILER_INVALID' })
    }
    return webResponse(this.status, statusText, this.fields, body)
  }

  destroy (err) {
    if (this.res === null) this.exchange.lost(err ?? reset())
    else this.res.destroy(err)
  }

  /** The Response cannot be completed, because of `cause`. */
  lose (failure, cause) {
    this.failure = failure
    if (this.stream !== null) this.stream.destroy(cause)
  }

  onFinished (fn) {
    this.exchange.onSettled(fn)
  }

  makeResponse () {
    require('./node')(this.exchange)
  }
}

/**
 * A Writable whose other side is a web ReadableStream.
 */
class BodyStream extends Writable {
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

  // Not in _write: node, too, throws out of these for headers that it does not send. Writable throws for other chunks.
  write (chunk, encoding, callback) {
    if (isChunk(chunk)) this.outgoing.begin()
    return super.write(chunk, encoding, callback)
  }

  end (chunk, encoding, callback) {
    if (chunk === undefined || chunk === null || typeof chunk === 'function' || isChunk(chunk)) this.outgoing.begin()
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
      const failure = err || reset()
      try {
        this.controller.error(failure)
      } catch {} // cancelled
      this.outgoing.node?.destroy()
      this.outgoing.exchange.lost(failure)
    }
    callback(err)
  }
}

function isChunk (chunk) {
  return typeof chunk === 'string' || chunk instanceof Uint8Array
}

module.exports = { Outgoing }
