'use strict'

const createError = require('http-errors')
const report = require('../_shared/report')

const kController = Symbol('timeout controller')
const SIGNAL = { configurable: true, get () { return this[kController].signal } }
const MAX = 2 ** 31 - 1 // what a timer can hold, in ms

/**
 * Answer 503 when what follows takes too long. `ctx.signal` is aborted then, for whatever can be
 * called off; what is written later is dropped.
 *
 *    app.use(timeout(5000))
 *    app.use(async ctx => { ctx.body = await fetch(url, { signal: ctx.signal }) })
 *
 * An answer whose head is out before that ends whole: nothing is cut off or aborted.
 *
 * @param {Number} ms
 * @return {Function} middleware; rejects with 503
 * @throws {TypeError} if ms is no positive number of milliseconds
 * @api public
 */
module.exports = function timeout (ms) {
  if (typeof ms !== 'number' || !(ms > 0 && ms <= MAX)) {
    throw new TypeError(`timeout: ms must be a number from 1 to ${MAX}`)
  }

  return function timeout (ctx, next) {
    // of two timeouts on a request the second shares the first one's signal
    if (ctx[kController] === undefined) {
      ctx[kController] = new AbortController()
      Object.defineProperty(ctx, 'signal', SIGNAL)
    }

    return new Promise((resolve, reject) => {
      let isLate = false
      const timer = setTimeout(() => {
        if (ctx.headerSent || !ctx.writable) return
        isLate = true
        // a write() to what has ended is an 'error' event, which without a listener ends the process
        ctx.res.on('error', () => {})
        const err = createError(503, { code: 'KONE_ERR_TIMEOUT', timeout: ms })
        reject(err)
        ctx[kController].abort(err)
      }, ms)

      next().then(
        value => {
          clearTimeout(timer)
          resolve(value)
        },
        err => {
          clearTimeout(timer)
          if (!isLate) reject(err)
          else if (!isConsequence(err, ctx[kController].signal)) report(ctx, err)
        }
      )
    })
  }
}

/**
 * Has the abort caused it?
 */
function isConsequence (err, { reason }) {
  return err === reason || err?.cause === reason || err?.name === 'AbortError'
}
