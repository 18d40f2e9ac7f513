'use strict'

const { Readable } = require('stream')
const cut = require('../../lib/shared/cut')
const { clearInterval, clearTimeout, nextTick, setInterval, setTimeout } = require('../../lib/shared/timers')
const { isObject } = require('../../lib/shared/options')
const { described } = require('../_shared/described')
const { given, misuse } = require('../_shared/usage-error')
const OPTIONS = require('./options')

const HEARTBEAT = ':\n\n'
const HEADERS_AFTER = 100 // ms

// A client comes back after so many ms, and not all of them at once.
const EARLIEST = 1000
const LATEST = 3000

// a property of a server that drains, and the event of its beginning (lib/engines/drain.js)
const kDraining = Symbol.for('kone.draining')

const ENDED = Symbol('sse ended') // what next() returned

const streamsOf = new WeakMap() // server → open streams

/**
 * Add `ctx.sse()`, which responds with an event stream.
 *
 *    app.use(sse({ heartbeat: 15000 }))
 *    app.use(ctx => {
 *      const stream = ctx.sse()
 *      const tick = setInterval(() => stream.send({ event: 'tick', data: { at: Date.now() } }), 1000)
 *      stream.on('close', () => clearInterval(tick))
 *    })
 *
 * `limit` bounds what a client has not read yet: above it `send` drops the event and returns false. When `app.close()`
 * begins, each stream ends with a `retry`, so that the client comes back to another process.
 *
 * @param {object} [options] see options.js
 * @return {Function} middleware
 * @throws {TypeError} for an option that is not such a number
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 * @api public
 */
module.exports = function sse (options) {
  const { heartbeat, limit } = OPTIONS.check(options)

  /** @this {any} */
  function open () {
    if (this.body instanceof EventStream) return this.body
    const stream = new EventStream(this, heartbeat, limit)
    this.status = 200
    this.type = 'text/event-stream'
    this.set('Cache-Control', 'no-cache, no-transform')
    this.set('X-Accel-Buffering', 'no') // otherwise nginx buffers events
    this.body = stream
    if (this.method === 'HEAD') stream.destroy() // such a client reads no events: the handler is notified
    stream.sendHeadersLater(this)
    endWithServer(stream, this.socket?.server)
    return stream
  }

  function sse (ctx, next) {
    ctx.sse = open
    const ended = next()
    ctx[ENDED] = ended
    return ended
  }

  return described(sse, { sendsEvents: true })
}

/**
 * The body of the response. It emits 'close' when it has ended, by `end()` or because the client
 * disconnected. After a `send` that returned false, it emits 'drain' when the queue is half empty.
 */
class EventStream extends Readable {
  constructor (ctx, heartbeat, limit) {
    super({ highWaterMark: limit })
    this.lastEventId = Buffer.from(ctx.get('last-event-id'), 'latin1').toString() // clients send it in UTF-8
    this.isFull = false
    this.isOver = false
    this.beat = heartbeat && setInterval(beat, heartbeat, this).unref()
    this.headersTimer = undefined
  }

  // not `unref`: in app.fetch() there may be nothing else that the process waits for
  sendHeadersLater (ctx) {
    this.headersTimer = setTimeout(sendHeaders, HEADERS_AFTER, this, ctx)
  }

  /**
   * Send one event. Every field may be left out; `data` that is not text is sent as JSON.
   *
   *    stream.send({ event: 'move', data: { x: 1 }, id: '7', retry: 3000 })
   *    stream.send('text')
   *
   * @param {string | { event?: string, data?: any, id?: string|number, retry?: number }} event
   *   `retry` in ms
   * @return {boolean} false: not sent, because the stream has ended or the client reads too slowly
   * @throws {TypeError} for what is neither text nor an event, and when `data` cannot be JSON
   */
  send (event) {
    if (typeof event !== 'string' && !isObject(event)) throw misuse('sse', `send() takes an event, { data }, or its text, not ${given(event)}`)
    if (this.isOver || this.destroyed) return false
    const bytes = Buffer.from(format(typeof event === 'string' ? { data: event } : event))
    const waiting = this.readableLength
    if (waiting > 0 && waiting + bytes.length > this.readableHighWaterMark) {
      this.isFull = true
      return false
    }
    this.push(bytes)
    return true
  }

  /** Close the stream when everything is flushed; the client would connect again. */
  end () {
    if (this.isOver || this.destroyed) return
    this.isOver = true
    this.push(null)
  }

  /** The server is closing. */
  leave () {
    this.send({ retry: Math.round(EARLIEST + Math.random() * (LATEST - EARLIEST)) })
    this.end()
  }

  read (size) {
    const bytes = super.read(size)
    if (this.isFull && this.readableLength < this.readableHighWaterMark / 2) {
      this.isFull = false
      nextTick(() => this.emit('drain'))
    }
    return bytes
  }

  _read () {}

  _destroy (err, done) {
    clearInterval(this.beat)
    clearTimeout(this.headersTimer)
    done(err)
  }
}

function endWithServer (stream, server) {
  if (typeof server?.on !== 'function') return // app.fetch() has none
  if (!streamsOf.has(server)) {
    streamsOf.set(server, new Set())
    server.on(kDraining, () => { for (const one of streamsOf.get(server)) one.leave() })
  }
  const open = streamsOf.get(server)
  open.add(stream)
  stream.once('close', () => open.delete(stream))
  if (server[kDraining] !== undefined) stream.leave()
}

function beat (stream) {
  if (stream.readableLength === 0 && !stream.isOver) stream.push(HEARTBEAT)
}

/**
 * Sends the headers while the handler runs: a handler that sends events in a loop may never return. It runs in a timer,
 * where nothing else would catch an error.
 */
function sendHeaders (stream, ctx) {
  if (stream.readableFlowing !== null || ctx.body !== stream || ctx.headerSent || !ctx.writable) return
  try {
    ctx.flushHeaders()
    ctx.respond = false
    const writable = writableOf(ctx)
    if (ctx.method === 'HEAD') return writable.end()
    stream.pipe(writable)
    // as of a body that is sent when the middleware have returned: nobody else would close the connection
    let failure = new Error('the event stream was destroyed')
    stream.once('close', () => { if (!stream.readableEnded && ctx.writable) cut(writable, failure) })
    Promise.resolve(ctx[ENDED]).catch(err => {
      failure = err ?? failure
      stream.destroy()
    })
  } catch (err) {
    stream.destroy()
    ctx.onerror(err)
  }
}

/** `app.fetch()` has its own Writable, because Bun and Deno have no `ctx.res`. */
function writableOf (ctx) {
  const { outgoing } = ctx.response
  return typeof outgoing?.sink === 'function' ? outgoing.sink() : ctx.res
}

/**
 *     event = *( comment / field ) end-of-line   ; end-of-line is CRLF, LF or CR
 *
 * So a line break is allowed only in `data`, where each line becomes a field of its own. A client
 * ignores an id with a NUL.
 *
 * @param {{ event?: any, data?: any, id?: any, retry?: any }} event
 */
function format ({ event, data, id, retry }) {
  const ms = oneLine(retry)
  let text = ''
  if (id != null) text += `id: ${oneLine(id)}\n`
  if (event != null) text += `event: ${oneLine(event)}\n`
  if (/^\d+$/.test(ms)) text += `retry: ${ms}\n`
  if (typeof data !== 'string') data = JSON.stringify(data)
  if (data !== undefined) text += `data: ${data.replace(/\r\n|\r|\n/g, '\ndata: ')}\n`
  return text + '\n'
}

function oneLine (value) {
  return String(value).replace(/[\r\n\0]/g, '')
}
