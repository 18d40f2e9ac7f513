'use strict'

const { Buffer } = require('buffer')
const { STATUS_CODES, validateHeaderName, validateHeaderValue } = require('http')
const { isIP } = require('net')
const contract = require('../contract')
const { OPEN, BEGUN, WRITTEN, FLUSHED } = contract
const { reset, responseLost } = require('../errors')
const { FieldName, fieldName } = require('../field-names')
const { Incoming } = require('./incoming')
const { elsewhere } = require('../../shared/runtime')
const { BODILESS, webResponse } = require('./web-response')
const { queueMicrotask, setImmediate } = require('../../shared/timers')

const CONTENT_LENGTH = fieldName('Content-Length')

/**
 * Responses that do not listen to the abort signal of their request yet. Most are sent before the event loop goes on,
 * and a listener would cost more than their middleware.
 */
const fresh = new Set()
let isScheduled = false

/**
 * A response that becomes a web Response: BEGUN when that is made, FLUSHED when it was delivered with a whole body, or
 * the caller has read the last chunk of a stream, LOST when the caller has cancelled it, or it cannot be completed. It
 * is OPEN while node's response sends it.
 */
class Outgoing extends contract.Outgoing {
  /** `info` is what the runtime passes beside the request; the others are of the promise of the Response. */
  constructor (host, request, info, resolve, reject) {
    super(new Incoming(request))
    this.host = host
    this.info = info
    this.resolve = resolve
    this.reject = reject
    this.stream = null      // see sink()
    this.madeConnection = null
    this.signal = null      // of the request, until the response is sent
    this.completes = false  // Deno: `info.completed` is rejected if the Response does not arrive
    this.listeners = null
    this.incoming.respondWith(this)
  }

  /** The connection in memory, made when something reads a socket. */
  get connection () {
    if (this.madeConnection !== null) return this.madeConnection
    const socket = this.madeConnection = connect(this.incoming.request, this.info)
    socket.once('close', () => this.lose(reset()))
    socket.on('error', err => this.host.failed(this.owner, err))
    return this.isLost ? socket.destroy() : socket
  }

  get localSocket () { return this.isFlushed ? null : this.connection }
  get isClosed () { return this.state >= FLUSHED }

  /** Does not ask the socket, because that is made when it is read. */
  get canRespond () {
    if (this.res !== null) return super.canRespond
    return this.state < WRITTEN && (this.madeConnection === null || this.madeConnection.writable)
  }

  setField (name, value) {
    if (this.hasBegun) return false
    const field = fieldName(name)
    if (field !== undefined && field.accepts(value)) {
      this.put(field, value)
      return true
    }
    validateHeaderName(name)
    for (const one of Array.isArray(value) ? value : [value]) validateHeaderValue(name, one)
    this.put(field ?? new FieldName(name), value) // a name of digits
    return true
  }

  /** With node's object, if there is one: the caller goes on with that, as a rule. */
  flushHeaders () {
    if (this.res === null && elsewhere !== '') this.begin()
    else super.flushHeaders()
  }

  /** Respond with a whole body: a string, bytes or nothing. */
  end (body, encoding, callback) {
    if (this.res !== null || encoding !== undefined || callback) return super.end(body, encoding, callback)
    if (this.hasBegun && !this.hasEnded) this.stream.end(body ?? undefined) // after flushHeaders()
    else if (!this.hasEnded) this.endWhole(body ?? '')
    return this
  }

  endWhole (content) {
    if (typeof content !== 'string' && !(content instanceof Uint8Array)) {
      throw new TypeError('the body of a response must be a string or bytes')
    }
    const { isBodiless } = this
    if (!isBodiless && this.find('content-length') === -1 && this.find('transfer-encoding') === -1) {
      this.put(CONTENT_LENGTH, Buffer.byteLength(content))
    }
    const response = this.toResponse(isBodiless ? this.nothing : content.length === 0 ? null : content)
    this.become(BEGUN)
    this.onEnd()
    this.deliver(response)
  }

  /** Respond with chunks, at the pace of the reader of the Response, which is delivered with the first one. */
  sink () {
    return this.res ?? (this.stream ??= new (require('./body-stream'))(this))
  }

  /** Deliver a Response whose body is the stream's, unless the stream writes into node's response. */
  begin () {
    if (this.hasBegun || this.res !== null) return
    const response = this.toResponse(this.isBodiless ? this.nothing : this.sink().readable)
    this.become(BEGUN)
    this.deliver(response)
  }

  /** The stream has ended, and the caller may still read it. */
  onEnd () {
    if (this.state === BEGUN) this.become(WRITTEN)
  }

  /** Node's response where it sends the bytes: it was made before the Response was. */
  get node () { return this.hasBegun ? null : this.res }

  /** Bun and Deno send the length of no body, 0, for a HEAD whose length nobody knows. */
  get nothing () {
    const isUnknown = elsewhere !== '' && this.incoming.isHead && this.find('content-length') === -1
    return isUnknown ? new ReadableStream({ pull: controller => controller.close() }, { highWaterMark: 0 }) : null
  }

  get isBodiless () { return this.incoming.isHead || BODILESS.has(this.status) }

  /** @throws {RangeError|TypeError} as node does for headers that it does not send */
  toResponse (body) {
    const { fields, message, status } = this
    const reason = STATUS_CODES[status] ?? 'unknown'
    if (message !== undefined && message !== reason) validateHeaderValue('statusMessage', message)
    if (this.find('trailer') !== -1 && (this.find('content-length') !== -1 || body === null)) {
      throw Object.assign(new Error('Trailers are invalid with this transfer encoding'), { code: 'ERR_HTTP_TRAILER_INVALID' })
    }
    // bytes, because a Response gives a string without a type one
    if (typeof body === 'string' && typeof this.getField('content-type') !== 'string') body = Buffer.from(body)
    return webResponse(status, message || reason, fields, body)
  }

  onFinished (fn) {
    if (this.isClosed) return notify(fn, this.failure)
    if (this.completes && this.signal === null) {
      this.signal = this.incoming.request.signal
      this.listen()
    }
    ;(this.listeners ??= []).push(fn)
  }

  makeResponse () {
    require('./node')(this)
  }

  destroy (err) {
    if (this.res === null) this.lose(err ?? reset())
    else this.res.destroy(err)
  }

  /**
   * Notice when the caller aborts the request: from the next iteration of the event loop on, or when the Response is
   * delivered. Deno aborts the signal after every response, and warns about listeners: there `info.completed` counts
   * for a delivered Response, and before, the signal is listened to only if somebody has to be notified.
   *
   * @throws the reason, if it is aborted already
   */
  watch () {
    const { completed } = Object(this.info)
    this.completes = typeof completed?.then === 'function'
    if (this.completes) return completed.then(undefined, err => this.lose(err))
    const { signal } = this.incoming.request
    if (!signal) return
    signal.throwIfAborted()
    this.signal = signal
    fresh.add(this)
    if (!isScheduled) setImmediate(listen)
    isScheduled = true
  }

  listen () {
    if (this.signal?.aborted) this.handleEvent()
    else this.signal?.addEventListener('abort', this, { once: true })
  }

  unlisten () {
    if (this.signal !== null && !fresh.delete(this)) this.signal.removeEventListener('abort', this)
    this.signal = null
  }

  handleEvent () {
    this.lose(this.signal.reason)
  }

  /** The header section is complete: the caller gets its Response. */
  deliver (response) {
    if (this.signal?.aborted) return this.handleEvent()
    if (this.completes) this.unlisten()
    if (this.state === WRITTEN) this.onFlushed() // before, so that its listeners are called before the caller goes on
    this.resolve(response)
  }

  /** The whole response was given to the caller, or to the stream that the caller reads. */
  onFlushed () {
    if (this.isClosed) return
    if (this.state === OPEN) this.become(BEGUN) // node's response has sent it
    this.onEnd()
    this.become(FLUSHED)
    this.notify()
    this.incoming.onSent()
  }

  /** The caller has aborted, or the response cannot be completed. */
  lose (cause) {
    if (this.isClosed) return
    super.lose(responseLost(cause))
    this.notify()
    this.stream?.destroy(cause)
    // Does nothing once it is delivered. Deno logs what a handler rejects with, and its client has left.
    if (this.completes) this.resolve(webResponse(500, STATUS_CODES[500], [], null))
    else this.reject(cause)
    this.incoming.cutOff()
    this.madeConnection?.destroy()
  }

  notify () {
    this.unlisten()
    if (this.listeners !== null) for (const fn of this.listeners) notify(fn, this.failure)
  }
}

function listen () {
  isScheduled = false
  for (const outgoing of fresh) outgoing.listen()
  fresh.clear()
}

/** In memory: there is no network behind it. */
function connect (request, info) {
  const { End } = require('../memory/pipe')
  return new End({ ...peer(request, info), encrypted: request.url.startsWith('https:') })
}

/** The client's address: Deno passes `{ remoteAddr }`, Bun its server, tests `{ ip }`. Other values are ignored. */
function peer (request, info) {
  if (Object(info) !== info) return {}
  const { ip, remoteAddr } = info
  if (typeof ip === 'string' && isIP(ip)) return { address: ip }
  if (typeof remoteAddr?.hostname === 'string' && isIP(remoteAddr.hostname)) {
    return { address: remoteAddr.hostname, port: remoteAddr.port }
  }
  return (typeof info.requestIP === 'function' && info.requestIP(request)) || {}
}

// Not by process.nextTick: a caller that awaits one fetch after the other runs in microtasks alone.
function notify (fn, failure) {
  queueMicrotask(() => fn(failure))
}

module.exports = { Outgoing }
