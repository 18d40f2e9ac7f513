'use strict'

const { nextTick } = require('../../lib/timers')
const { isResponse, isWebStream } = require('../../lib/web')

const RESPONSE = [
  'body', 'status', 'message', 'length', 'type', 'lastModified', 'etag',
  'set', 'append', 'remove', 'vary', 'redirect', 'back', 'attachment', 'flushHeaders'
]
const RES = [
  'statusCode', 'statusMessage', 'setHeader', 'appendHeader', 'setHeaders', 'removeHeader', 'writeHead',
  'writeContinue', 'writeProcessing', 'writeEarlyHints', 'flushHeaders', 'addTrailers', 'write', 'end'
]

/**
 * Drop what is written to a response while `isLate()`, whatever the way: by ctx, ctx.response or ctx.res.
 * Only a request whose time is over pays for it.
 *
 *    guard(ctx, () => scopes.getStore() === late)
 *
 * @param {object} ctx
 * @param {Function} isLate () => Boolean, called at each write
 * @api private
 */
module.exports = function guard (ctx, isLate) {
  shadow(ctx, ['respond'], isLate)
  shadow(ctx.response, RESPONSE, isLate)
  const res = responseOf(ctx)
  if (res === null) return
  shadow(res, RES, isLate)
  // an earlier write may fail now; without a listener its 'error' would end the process
  res.on?.('error', ignore)
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

/** Own properties in front of those of the object or its prototypes. */
function shadow (object, names, isLate) {
  for (const name of names) {
    const { value, get = () => value, set } = descriptorOf(object, name)
    const descriptor = typeof value === 'function'
      ? method(value, name, isLate)
      : set ? accessor(get, set, isLate) : data(value, isLate)
    Object.defineProperty(object, name, { ...descriptor, configurable: true, enumerable: true })
  }
}

function descriptorOf (object, name) {
  for (let owner = object; owner; owner = Object.getPrototypeOf(owner)) {
    const descriptor = Object.getOwnPropertyDescriptor(owner, name)
    if (descriptor !== undefined) return descriptor
  }
  return { value: undefined } // not in this version of Koa or node
}

function method (fn, name, isLate) {
  return {
    writable: true,
    value (...args) {
      if (!isLate()) return fn.apply(this, args)
      if (typeof args.at(-1) === 'function') nextTick(args.at(-1)) // as if it were written
      return name === 'write' ? true : this
    }
  }
}

function accessor (get, set, isLate) {
  return {
    get,
    set (value) {
      if (!isLate()) set.call(this, value)
      else discard(value)
    }
  }
}

function data (value, isLate) {
  return {
    get: () => value,
    set (next) { if (!isLate()) value = next }
  }
}

/** A stream that nobody reads would keep its file or connection open. */
function discard (body) {
  if (typeof body?.pipe === 'function' && typeof body.destroy === 'function') body.on('error', ignore).destroy()
  else if (isWebStream(body)) body.cancel().catch(ignore)
  else if (isResponse(body)) body.body?.cancel().catch(ignore)
}

function ignore () {}
