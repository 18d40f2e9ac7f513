'use strict'

const { AsyncLocalStorage } = require('async_hooks')
const createError = require('../../lib/shared/http-errors')
const guard = require('./guard')
const isOver = require('../_shared/is-over')
const { given, misuse } = require('../_shared/usage-error')
const { report } = require('../../lib/shared/error-path')
const { LONGEST } = require('../../lib/shared/timers')
const signals = require('./signal')

// Separates a late handler, whose writes are dropped, from earlier middleware: both use the same ctx.
const scopes = new AsyncLocalStorage()

/**
 * Respond 503 when the following middleware take too long. It then aborts `ctx.signal`, and drops what the handler
 * writes later.
 *
 *    app.use(timeout(5000))
 *    app.use(async ctx => { ctx.body = await fetch(url, { signal: ctx.signal }) })
 *
 * If the headers were sent in time, the response is completed, and nothing is aborted.
 *
 * @param {number} ms milliseconds, from 1 to 2^31 - 1
 * @return {Function} middleware; rejects with 503
 * @throws {TypeError} if ms is not a number from 1 to 2^31 - 1
 * @api public
 */
module.exports = function timeout (ms) {
  if (typeof ms !== 'number' || !(ms >= 1 && ms <= LONGEST)) {
    throw misuse('timeout', `ms must be a number of milliseconds from 1 to ${LONGEST}, not ${given(ms)}`)
  }

  return function timeout (ctx, next) {
    // two timeouts of one request share a signal
    const signal = signals.of(ctx)
    const scope = { ctx, isLate: false, outer: scopes.getStore() }
    const running = scopes.run(scope, next)
    return isOver(ctx, running) ? running : inTime(running, scope, signal, ms)
  }
}

/** Settles like `running`, or rejects with 503 after `ms`. */
function inTime (running, scope, signal, ms) {
  const { ctx } = scope
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      if (ctx.headerSent || !ctx.writable) return
      scope.isLate = true
      try {
        guard(ctx, () => isLate(ctx))
      } catch (err) {
        return reject(err) // in a timer nothing else would catch it
      }
      const err = createError(503, { code: 'KONE_ERR_TIMEOUT', timeout: ms })
      reject(err)
      // run abort listeners in the scope of the late code, so that their writes are dropped, too
      scopes.run(scope, () => signal.abort(err))
    }, ms)

    running.then(
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

/** Does the code that runs now belong to a handler that timed out? */
function isLate (ctx) {
  for (let scope = scopes.getStore(); scope !== undefined; scope = scope.outer) {
    if (scope.isLate && scope.ctx === ctx) return true
  }
  return false
}

/** Did the abort cause `err`? */
function isConsequence (err, reason) {
  return err === reason || err?.cause === reason || err?.name === 'AbortError'
}
