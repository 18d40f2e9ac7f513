'use strict'

const { inspect } = require('util')
const { nextTick } = require('../../lib/timers')

/**
 * Report an error that does not decide the response, for example because it was sent already. All middleware of the set
 * report by this function. Without a listener of 'error' the app's `onerror` prints it: `emit` would throw, and only
 * Koa's `callback()` adds a listener, not `app.fetch()` or `app.createContext()`.
 *
 *    report(ctx, err)
 *
 * An error that a listener throws becomes an uncaught exception, as that of any other listener: the request continues.
 *
 * @param {object} ctx
 * @param {*} thrown
 * @api private
 */
module.exports = function report (ctx, thrown) {
  const { app } = ctx
  const err = toError(thrown)
  try {
    if (app.listenerCount('error') > 0) app.emit('error', err, ctx)
    else app.onerror(err)
  } catch (failed) {
    nextTick(() => { throw failed })
  }
}

/** `app.onerror` throws for what is not an Error, as Koa's does. */
function toError (thrown) {
  // an Error of another realm (vm, jest) is not an `instanceof Error` here
  if (thrown instanceof Error || Object.prototype.toString.call(thrown) === '[object Error]') return thrown
  return new Error(`non-error thrown: ${inspect(thrown)}`, { cause: thrown })
}
