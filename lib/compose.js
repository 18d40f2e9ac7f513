'use strict'

/**
 * The onion. Knows no HTTP: it runs functions `(ctx, next)` of one array.
 *
 * One `Run` per call holds what all layers share; a layer costs its `next` and nothing else.
 * What an async layer returns is passed up as it is; a layer that ended synchronously without
 * a value makes no promise, it gives one of the two below.
 */

// Everything ended synchronously.
const ENDED = Promise.resolve()

// So it did, but a layer kept the promise of its `next()` to itself. It may have chained on it,
// so whoever goes on must do that in a microtask, after what was chained.
const LOOSE = Promise.resolve()

// So many layers may stand on the stack at once; the next one starts in a microtask.
const DEPTH = 500

/**
 * Compose `middleware` into one function `(ctx, next)`.
 *
 *    const fn = compose([logger, session, answer])
 *    fn(ctx).then(() => console.log('unwound'))
 *
 * The array is read while requests run: what is pushed later takes part.
 *
 * @param {Function[]} middleware
 * @return {Function} `(ctx, next) => Promise`; `next` is called after the last layer
 * @throws {TypeError} if `middleware` is not an array of functions
 * @api public
 */
function compose (middleware) {
  if (!Array.isArray(middleware)) throw new TypeError('Middleware stack must be an array!')
  for (const fn of middleware) {
    if (typeof fn !== 'function') throw new TypeError('Middleware must be composed of functions!')
  }

  return function composed (ctx, next) {
    return enter(new Run(middleware, ctx, next), 0)
  }
}

class Run {
  constructor (middleware, ctx, outer) {
    this.middleware = middleware
    this.ctx = ctx
    this.outer = outer
    this.reached = -1 // the innermost layer entered so far
    this.depth = 0 // layers on the stack right now
  }
}

function enter (run, i) {
  if (i <= run.reached) return Promise.reject(new Error('next() called multiple times'))
  run.reached = i

  const { middleware } = run
  const fn = i === middleware.length ? run.outer : middleware[i]
  if (!fn) return ENDED
  if (run.depth === DEPTH) {
    return ENDED.then(() => {
      run.reached = i - 1
      return enter(run, i)
    })
  }

  run.depth++
  try {
    // Bound, for that inlines: a closure costs a synchronous layer twice as much (micro/compose.js).
    const value = fn(run.ctx, enter.bind(null, run, i + 1))
    run.depth--
    if (value === undefined) return run.reached === i ? ENDED : LOOSE
    return value instanceof Promise ? value : Promise.resolve(value)
  } catch (err) {
    run.depth--
    return Promise.reject(err)
  }
}

module.exports = compose
module.exports.ENDED = ENDED
module.exports.LOOSE = LOOSE
