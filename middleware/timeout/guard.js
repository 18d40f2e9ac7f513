'use strict'

const { nextTick } = require('../../lib/shared/timers')
const { isResponse, isWebStream } = require('../../lib/shared/web')

const RESPONSE = [
  'body', 'status', 'message', 'length', 'type', 'lastModified', 'etag', 'res',
  'set', 'append', 'remove', 'vary', 'redirect', 'back', 'attachment', 'flushHeaders'
]
const RES = [
  'statusCode', 'statusMessage', 'setHeader', 'appendHeader', 'setHeaders', 'removeHeader', 'writeHead', 'writeHeader',
  'writeContinue', 'writeProcessing', 'writeEarlyHints', 'writeInformation', 'flushHeaders', 'addTrailers', 'setTrailer',
  'write', 'end', 'destroy', 'cork', 'uncork', 'setTimeout', 'assignSocket', 'detachSocket', 'socket', 'connection',
  'sendDate', 'shouldKeepAlive', 'chunkedEncoding', 'useChunkedEncodingByDefault', 'strictContentLength',
  'removeAllListeners' // node's own are among them
]
const CTX = [...RESPONSE, 'respond', 'response', 'onerror', 'cookies', 'method']

// What late code sees: a response that can no longer change. Others ask for it, such as session before it saves.
const STATE = { headerSent: true, writable: false }
const STATE_OF_RES = { headersSent: true, writableEnded: true, finished: true, destroyed: true, _header: 'sent', _headerSent: true }
const STREAM = [
  'respond', 'respondWithFD', 'respondWithFile', 'additionalHeaders', 'pushStream', 'sendTrailers', 'priority', 'close',
  'write', 'end', 'destroy', 'cork', 'uncork', 'setDefaultEncoding', 'setTimeout', 'removeAllListeners'
]
const STATE_OF_STREAM = { headersSent: true }
const STATE_OF_HTTP2 = { state: { closed: true, destroyed: true }, trailers: {} } // by description of the symbol

/**
 * Drop what is done to a response while `isLate()`, whatever the way: by ctx, ctx.response or ctx.res.
 * Only a request whose time is over pays for it.
 *
 *    guard(ctx, () => scopes.getStore() === late)
 *
 * @param {object} ctx
 * @param {Function} isLate () => Boolean, called at each write
 * @api private
 */
module.exports = function guard (ctx, isLate) {
  const res = responseOf(ctx)
  const { request, response } = ctx
  shadow(ctx, CTX, isLate)
  shadow(request, ['method'], isLate)
  shadow(response, RESPONSE, isLate)
  pretend(response, STATE, isLate)
  if (res === null) return
  detach(res)
  shadow(res, RES, isLate)
  pretend(res, STATE_OF_RES, isLate)
  for (const name of ['getHeader', 'getHeaders']) copying(res, name, isLate)
  if (typeof res.stream?.respond === 'function') guardHttp2(res, isLate)
  // an earlier write may fail now; without a listener its 'error' would end the process
  res.on?.('error', ignore)
}

/** Methods of HTTP/2's response that code has bound go by its stream, and by what it keeps at symbols. */
function guardHttp2 (res, isLate) {
  shadow(res.stream, STREAM, isLate)
  pretend(res.stream, STATE_OF_STREAM, isLate)
  for (const symbol of Object.getOwnPropertySymbols(res)) {
    const late = STATE_OF_HTTP2[symbol.description]
    if (late !== undefined) pretend(res, { [symbol]: { ...res[symbol], ...late } }, isLate)
  }
}

/** Node's response, or null in `app.fetch()` on Bun and Deno, where no code can write to it. */
function responseOf (ctx) {
  try {
    return ctx.res
  } catch (err) {
    if (err.code === 'KONE_ERR_NODE_ONLY') return null
    throw err
  }
}

/** Code that was given the array of a header before adds to it, as the package cookies does. */
function detach (res) {
  for (const [name, value] of Object.entries(res.getHeaders())) {
    if (Array.isArray(value)) res.setHeader(name, [...value])
  }
}

function copying (res, name, isLate) {
  const { get, set } = accessOf(res, name)
  Object.defineProperty(res, name, {
    configurable: true,
    enumerable: true,
    get () {
      const method = get.call(this)
      return isLate() ? (...args) => copyOf(method.apply(this, args)) : method
    },
    set
  })
}

function copyOf (value) {
  if (Array.isArray(value)) return [...value]
  if (typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, copyOf(one)]))
}

/** Own properties in front of those of the object or its prototypes. */
function shadow (object, names, isLate) {
  for (const name of names) {
    const { get, set } = accessOf(object, name)
    const drop = dropping(name)
    Object.defineProperty(object, name, {
      configurable: true,
      enumerable: true,
      get () {
        const value = get.call(this)
        return typeof value === 'function' && isLate() ? drop : value
      },
      set (value) {
        if (!isLate()) set.call(this, value)
        else discard(value)
      }
    })
  }
}

function pretend (object, state, isLate) {
  for (const name of Reflect.ownKeys(state)) {
    const late = state[name]
    const { get, set } = accessOf(object, name)
    Object.defineProperty(object, name, {
      configurable: true,
      enumerable: true,
      get () { return isLate() ? late : get.call(this) },
      set
    })
  }
}

/** How to get and to set a property, which may not be in this version of Koa or node. */
function accessOf (object, name) {
  for (let owner = object; owner; owner = Object.getPrototypeOf(owner)) {
    const descriptor = Object.getOwnPropertyDescriptor(owner, name)
    if (descriptor?.get !== undefined) return { get: descriptor.get, set: descriptor.set ?? ignore }
  }
  let value = object[name]
  return { get: () => value, set (next) { value = next } }
}

function dropping (name) {
  return function drop (...args) {
    if (name !== 'setTimeout' && typeof args.at(-1) === 'function') nextTick(args.at(-1)) // as if it were written
    return name === 'write' ? true : this
  }
}

/** A stream that nobody reads would keep its file or connection open. */
function discard (body) {
  if (typeof body?.pipe === 'function' && typeof body.destroy === 'function') body.on('error', ignore).destroy()
  else if (isWebStream(body)) body.cancel().catch(ignore)
  else if (isResponse(body)) body.body?.cancel().catch(ignore)
}

function ignore () {}
