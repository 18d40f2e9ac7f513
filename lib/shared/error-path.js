'use strict'

const { throwLater } = require('./timers')

/**
 * What reaches whom when a request fails, in kone and, for the middleware set, in Koa:
 *
 * | who | gets |
 * | --- | --- |
 * | listeners of 'error', without one `app.onerror` | toError() of what was thrown, by report() |
 * | the client | status and headers of the error, its message if it is exposed, and all KeptHeaders |
 * | a `ctx.onerror` of the app's own | what was thrown, but toError() of null; an Error has all KeptHeaders |
 */

const KEPT = Symbol('context#kept')
const NONE = []

/** A thrown value as an Error: anything else becomes Koa's `non-error thrown: …` with the value as `cause`. */
function toError (thrown) {
  if (isError(thrown)) return thrown
  const err = new Error(`non-error thrown: ${describe(thrown)}`, { cause: thrown })
  return Object.assign(err, { code: 'KONE_ERR_NON_ERROR' })
}

// An Error of another realm (vm, jest) is not an `instanceof Error` here. The traps of a Proxy and getters may throw.
function isError (value) {
  try {
    return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]'
  } catch {
    return false
  }
}

function describe (value) {
  try {
    return JSON.stringify(value)
  } catch {} // a BigInt, a cycle, a toJSON that throws
  try {
    return Object.prototype.toString.call(value)
  } catch {
    return `[${typeof value}]` // a Proxy, a getter that throws
  }
}

/**
 * Report an error to the app, also one that does not decide the response, for example because that was sent already.
 * Without a listener of 'error' the app's `onerror` prints it: `emit` would throw, and only `callback()` adds a
 * listener, not `app.fetch()` or `app.createContext()`. An error that a listener throws becomes an uncaught exception,
 * as that of any other listener: the request continues.
 *
 *    report(ctx, err)
 *
 * @param {object} ctx
 * @param {*} thrown
 */
function report (ctx, thrown) {
  const { app } = ctx
  const err = toError(thrown)
  try {
    if (app.listenerCount('error') > 0) app.emit('error', err, ctx)
    else app.onerror(err)
  } catch (failed) {
    throwLater(failed)
  }
}

/**
 * Headers that the response to an error keeps: otherwise it has those of the error alone. A middleware declares them
 * when it is registered, and names each request for which it has set them. They cost nothing more until one fails.
 *
 *    const kept = new KeptHeaders(['X-Request-Id'])   // at registration
 *    ctx.set('X-Request-Id', id)
 *    kept.keepFor(ctx)
 */
class KeptHeaders {
  /**
   * @param {string[]|Function} headers names; or a function that is given the headers of the error, and returns all
   * @param {{ yields?: boolean }} [options] yields: a header of the same name that the error has is sent instead
   */
  constructor (headers, { yields = false } = {}) {
    this.headers = headers
    this.yields = yields
    this.before = null // what the request before had declared, and that with this
    this.all = NONE
  }

  /** @param {object} ctx of kone or Koa */
  keepFor (ctx) {
    const before = ctx[KEPT] ?? keepIn(ctx)
    if (before !== this.before) {
      this.before = before
      this.all = [...before, this]
    }
    ctx[KEPT] = this.all
  }

  /** @return {object} the headers of the error, and those that the response has of these */
  headersWith (headers, response) {
    if (typeof this.headers === 'function') return this.headers(headers)
    const { Vary, vary = Vary } = headers
    if (vary && this.headers.includes('Vary') && response.get('Vary')) {
      const varies = response.get('Vary')
      response.set('Vary', String(vary))
      response.vary(varies)
    }
    const kept = Object.fromEntries(this.headers.map(name => [name, response.get(name)]).filter(([, value]) => value))
    return this.yields ? { ...kept, ...headers } : { ...headers, ...kept }
  }
}

/** Let `onerror` of this app's contexts give its errors the headers that a ctx keeps. */
function keepIn (ctx) {
  const context = ctx.app?.context
  const isShared = context !== undefined && Object.prototype.isPrototypeOf.call(context, ctx)
  const owner = isShared ? context : ctx
  const { onerror } = owner
  const isReplaced = Object.hasOwn(owner, 'onerror')

  function onerrorKeeping (thrown) {
    const isRaw = thrown === null || thrown === undefined || (isReplaced && !isError(thrown))
    if (isRaw || this[KEPT] === NONE) return onerror.call(this, thrown)
    const err = toError(thrown)
    let lent
    try {
      lent = lend(err, this)
    } catch {
      return onerror.call(this, err) // its getters or traps throw
    }
    try {
      return onerror.call(this, lent.err)
    } finally {
      lent.end()
    }
  }

  onerrorKeeping.wraps = onerror?.wraps ?? onerror // kone asks whether the app has replaced it
  define(owner, {
    [KEPT]: { value: NONE, writable: true },
    onerror: { value: onerrorKeeping, writable: true, enumerable: true, configurable: true }
  })
  return NONE
}

/**
 * Give an error the headers of one response. It has them only while `ctx.onerror` sends it, at once: several requests
 * may wait for one promise, so that they fail with one error object, and each client must get its own headers. They are
 * not enumerable, because the listeners of 'error' print errors, and one of the headers may be the cookie of a session.
 *
 * @return {{ err: Error, end: Function }} the error, and what takes the headers from it
 */
function lend (err, ctx) {
  const value = ctx[KEPT].reduce((headers, kept) => kept.headersWith(headers, ctx.response), err.headers ?? {})
  const lent = { headers: { value, writable: true, enumerable: false, configurable: true } }
  const before = Object.getOwnPropertyDescriptor(err, 'headers')
  // a frozen error cannot have them, an object that inherits from it can
  if (!Object.isExtensible(err) || before?.configurable === false) return { err: Object.create(err, lent), end () {} }
  define(err, lent)
  return {
    err,
    end () {
      try {
        delete err.headers
        if (before !== undefined) define(err, { headers: before })
      } catch {} // a Proxy
    }
  }
}

function define (object, properties) {
  // eslint-disable-next-line kone/owners -- the app's context, or an error
  Object.defineProperties(object, properties)
}

module.exports = { KeptHeaders, isError, report, toError }
