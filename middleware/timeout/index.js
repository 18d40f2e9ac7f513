'use strict'

const { AsyncLocalStorage } = require('node:async_hooks')
const createError = require('http-errors')
const guard = require('./guard')
const isOver = require('../_shared/is-over')
const { given, misuse } = require('../_shared/misuse')
const report = require('../_shared/report')
const signals = require('./signal')

const MAX = 2 ** 31 - 1 // what a timer can hold, in ms

// Whose code it is that writes: a handler below the timeout and a middleware above have one ctx.
const scopes = new AsyncLocalStorage()

/**
 * Respond 503 when the following middleware take too long. `ctx.signal` is aborted then, for whatever can be
 * called off; what is written later is dropped.
 *
 *    app.use(timeout(5000))
 *    app.use(async ctx => { ctx.body = await fetch(url, { signal: ctx.signal }) })
 *
 * A response whose headers were sent before that is completed: nothing is cut off or aborted.
 *
 * @param {number} ms
 * @return {Function} middleware; rejects with 503
 * @throws {TypeError} if ms is not a number of milliseconds, 1 or more
 * @api public
 */
module.exports = function timeout (ms) {
  if (typeof ms !== 'number' || !(ms >= 1 && ms <= MAX)) {
    throw misuse('timeout', `ms must be a number of milliseconds from 1 to ${MAX}, not ${given(ms)}`)
  }

  return function timeout (ctx, next) {
    // of two timeouts on a request the second shares the first one's signal
    const signal = signals.of(ctx)
    const scope = { ctx, isLate: false, outer: scopes.getStore() }
    const ended = scopes.run(scope, next)
    return isOver(ctx, ended) ? ended : inTime(ended, scope, signal, ms)
  }
}

/** Settles as `ended` does, or rejects with 503 when that takes longer than `ms`. */
function inTime (ended, scope, signal, ms) {
  const { ctx } = scope
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      if (ctx.headerSent || !ctx.writable) return
      scope.isLate = true
      guard(ctx, () => isLate(ctx))
      // what was written in time may fail now: an 'error' event that without a listener ends the process
      ctx.res.on('error', () => {})
      const err = createError(503, { code: 'KONE_ERR_TIMEOUT', timeout: ms })
      reject(err)
      // the listeners of the signal are code of the handler
      scopes.run(scope, () => signal.abort(err))
    }, ms)

    ended.then(
      value => {
        clearTimeout(timer)
        resolve(value)
      },
      err => {
        clearTimeout(timer)
        if (!scope.isLate) reject(err)
        else if (!isConsequence(err, signal.reason)) report(ctx, err)
      }
    )
  })
}

/** Does the code that runs now belong to a handler whose time is over? */
function isLate (ctx) {
  for (let scope = scopes.getStore(); scope !== undefined; scope = scope.outer) {
    if (scope.isLate && scope.ctx === ctx) return true
  }
  return false
}

/**
 * Has the abort caused it?
 */
function isConsequence (err, reason) {
  return err === reason || err?.cause === reason || err?.name === 'AbortError'
}
