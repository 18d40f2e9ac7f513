'use strict'

const { AsyncResource } = require('async_hooks')
const { Buffer } = require('buffer')
const net = require('net')
const Stream = require('stream')
const { declare } = require('./body-length')
const cut = require('../shared/cut')
const { ENGINE } = require('../engines/node')
const { http2Stream } = require('../engines/objects/message')
const { cutShort, overlong } = require('./errors')
const fileStream = require('./file-stream')
const inContext = require('./in-context')
const lazy = require('../shared/lazy')
const { byteLength } = require('../shared/text')
const { isBlob, isResponse, isWebStream } = require('../shared/web')

const destroy = lazy(() => require('destroy'))

/**
 * Of ctx.response: the body that send() got. Unless it is undefined, a stream is being sent, or was; what is set as the
 * body from then on is not sent, and drops nothing.
 */
const kSent = Symbol('kone.sent')
exports.kSent = kSent

/** Of ctx.response: the async context in which its body was set. */
const kContext = Symbol('kone.context')

/**
 * Whether a body is one of node's streams; also of another copy of the class, as old and
 * bundled packages have them.
 */
exports.isStream = function (value) {
  return value instanceof Stream || (
    value !== null && typeof value === 'object' &&
    typeof value.pipe === 'function' && typeof value.read === 'function' &&
    typeof value.readable === 'boolean' && typeof value.destroy === 'function'
  )
}

/**
 * Whether a body is a plain object or an array, as most are. It is checked first, because it takes less time.
 */
exports.isPlain = function (value) {
  return (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype) && typeof value.pipe !== 'function'
}

/** The stream that a body is sent as; undefined for any other body. */
exports.toStream = function (body) {
  if (exports.isPlain(body)) return undefined
  if (exports.isStream(body)) return body
  if (isWebStream(body)) return Stream.Readable.fromWeb(body)
  if (isBlob(body)) return Stream.Readable.fromWeb(body.stream())
  if (isResponse(body)) {
    return body.body ? Stream.Readable.fromWeb(body.body) : Stream.Readable.from([])
  }
}

/** Whether a body is a stream of any kind, web ones included: it may read from another. */
exports.streams = function (value) {
  return exports.isStream(value) || isWebStream(value) || isResponse(value)
}

/** @return {number|undefined} of a body in bytes, where it is known before all of it was read */
exports.sizeOf = function (body) {
  if (typeof body === 'string') return byteLength(body)
  if (Buffer.isBuffer(body)) return body.length
  if (isBlob(body)) return body.size
  return exports.streams(body) ? undefined : Buffer.byteLength(JSON.stringify(body))
}

/**
 * Destroy or cancel a stream that nobody will read, so that its resources are released.
 *
 * @param {*} body of any kind
 */
exports.drop = function (body) {
  if (exports.isStream(body)) return destroy()(body)
  const web = isResponse(body) ? body.body : body
  // A locked stream has a reader, which is responsible for it.
  if (isWebStream(web) && !web.locked) web.cancel().catch(() => {})
}

/**
 * Handle the failure of a stream as an error of the request, and destroy the stream when the
 * response was sent or lost. A stream that fails after the header section was sent closes the
 * connection, because the client must neither accept half of a body as complete nor wait for ever.
 *
 * @param {object} body what was set; the stream itself or what it was made of
 */
exports.watch = function (response, stream, body) {
  // Not `once`: a second error must not be an uncaught exception.
  stream.on('error', err => fail(response, stream, body, err))
  exports.dropWhenOver(response, () => destroy()(stream))
}

/**
 * A body is read, and dropped when the response was sent or lost, in the async context of the code that has set it: it
 * sees the stores of that code, and isolate finds the request of its errors.
 */
exports.dropWhenOver = function (response, drop) {
  const { ctx } = response
  const context = response[kContext] = new AsyncResource('KONEBODY')
  ctx[ENGINE].onFinished(ctx.incoming, ctx.outgoing, inContext(drop, context))
}

/**
 * Send a stream, at the pace of the client.
 *
 * @param {object} body what was set; the stream itself or what it was made of
 * @throws {Error} if the stream is gone already
 */
exports.send = function (response, stream, body) {
  const context = response[kContext]
  if (context === undefined) begin(response, stream, body)
  else context.runInAsyncScope(begin, null, response, stream, body)
}

function begin (response, stream, body) {
  if (stream.destroyed && !stream.readableEnded) throw stream.errored ?? cutShort()
  if (stream !== body) exports.watch(response, stream, body)
  response[kSent] = body
  const length = declare(response, exports.sizeOf(body))
  const sink = sinkOf(response, stream)
  if (length < Infinity) fileStream.prepare(stream, length, sink)
  stream.once('close', () => {
    if (stream.readableEnded === false && response.writable) fail(response, stream, body, stream.errored ?? cutShort())
  })
  const readers = typeof stream[fileStream.kReuse] === 'function' ? new Readers(stream, sink) : null
  guard(response, stream, sink, body, readers)
  const { write } = sink
  // If nothing else listens for 'data', Node 26 passes the chunks to _write() of a Writable, and does not call write().
  if (sink._writableState) {
    stream.on('data', ignore)
    sink.once('unpipe', () => stream.removeListener('data', ignore)) // before pipe() resumes what has a listener
  }
  stream.pipe(sink)
  readers?.observe(write)
}

function ignore () {}

function sinkOf ({ ctx }, stream) {
  return ctx[ENGINE].sink(ctx, stream)
}

/**
 * The sink's `write()` and `end()` may throw, inside node's pipe, where nobody catches it: make that an error of the
 * request. Less than the declared length is an error, because the client would wait for the rest; more is dropped, and
 * reported.
 */
function guard (response, stream, sink, body, readers) {
  const { write, end } = sink
  const writeChunk = readers === null ? write : reusing(readers, write)
  let left // bytes of the declared length
  let isOver = false
  const failed = err => {
    Object.assign(sink, { write, end }) // for the error's response
    fail(response, stream, body, err)
    return false
  }
  const guarded = method => function (chunk, ...rest) {
    // False pauses the stream, which is destroyed when the response was sent or lost. A stream that reads in microtasks
    // alone would otherwise keep the event loop from the 'close' of a connection that has failed.
    if (isOver || (method !== end && !response.writable)) return false
    left ??= declare(response) // not before the first chunk, because code may have set a length since send()
    const size = bytesIn(chunk, rest[0])
    try {
      if (method === end && left - size > 0 && left < Infinity && response.writable) throw stream.errored ?? cutShort()
      if (size <= left) {
        if (method !== end) left -= size // HTTP/2's end() calls write()
        else if (http2Stream(sink) !== undefined) sink.flushHeaders() // which may throw; its end() could not be undone
        return method.call(this, chunk, ...rest)
      }
      isOver = true
      if (left > 0) write.call(this, Buffer.from(chunk).subarray(0, left))
      end.call(this)
      response.ctx.onerror(overlong(response.get('Content-Length')))
      return false
    } catch (err) {
      return failed(err)
    }
  }
  sink.write = guarded(writeChunk)
  sink.end = guarded(end)
}

/**
 * @param {any} chunk
 * @param {BufferEncoding | Function} [encoding]
 * @return {number} bytes; 0 for what is no chunk
 */
function bytesIn (chunk, encoding) {
  if (typeof chunk === 'string') return Buffer.byteLength(chunk, typeof encoding === 'string' ? encoding : 'utf8')
  return chunk instanceof Uint8Array ? chunk.byteLength : 0
}

function reusing (readers, write) {
  return function (chunk, ...rest) {
    if (rest.length > 0 || !readers.isOnly(this)) return write.call(this, chunk, ...rest)
    return write.call(this, chunk, err => { if (!err) readers.reuse(chunk) })
  }
}

const { emit, push, read } = Stream.Readable.prototype
const { write: writeToSocket } = Stream.Writable.prototype // a socket inherits it

/** Gives chunks back to their stream once they were flushed, unless other code has seen them: it may keep them. */
class Readers {
  constructor (stream, sink) {
    this.stream = stream
    this.hasOthers = false
    this.knowsFlush = sink.reportsFlush === true
    this.write = null // see observe()
  }

  /**
   * Call it after `pipe`, which adds one listener for 'data'; listeners for 'pipe' may add others. They cannot be
   * counted later: one of once() is gone by then.
   *
   * @param {Function} write of the sink, before `pipe`
   */
  observe (write) {
    this.write = write
    this.hasOthers = this.stream.listenerCount('data') > 1 || this.stream.listenerCount('readable') > 0
    this.stream.on('newListener', name => { this.hasOthers ||= name === 'data' || name === 'readable' })
  }

  /** Does nothing but `sink` and the operating system get the chunk that the stream emits now? */
  isOnly (sink) {
    const { stream } = this
    const { flowing, resumeScheduled } = stream._readableState
    return !this.hasOthers && flowing === true && !resumeScheduled && // otherwise other code has called read()
      stream.emit === emit && stream.push === push && stream.read === read && sink.write === this.write &&
      this.knowsFlush &&
      sink.socket instanceof net.Socket && sink.socket.write === writeToSocket // others may pass on what they get
  }

  reuse (chunk) {
    if (!this.hasOthers) this.stream[fileStream.kReuse](chunk)
  }
}

function fail (response, stream, body, err) {
  if ((response[kSent] ?? response._body) !== body) return // it was replaced
  if (!response.headerSent) response[kSent] = undefined // the error's response may have a body
  response.ctx.onerror(err)
  if (response.headerSent && response.writable) cut(sinkOf(response, stream), err)
}
