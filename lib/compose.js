'use strict'

/**
 * Koa's compose: runs an array of `(ctx, next)` functions. Independent of HTTP.
 *
 * One `Run` per call holds what all layers share, so a layer costs only its `next`. The promise of
 * an async layer is returned as it is. A layer that returned synchronously without a value creates
 * no promise: its caller gets ENDED or ENDED_LATER.
 */

// Every layer returned synchronously, and each returned its `next()` or did not call it: nothing
// is left to run. If `next()` returned ENDED, a middleware may continue synchronously
// (middleware/_shared/is-over.js).
const ENDED = Promise.resolve()

// Every layer returned synchronously, but one did not return its `next()`. That layer may have
// attached a `.then()`; wait one microtask, by `await` or `then`.
const ENDED_LATER = Promise.resolve()

// Maximum stack depth in layers; the next one starts in a microtask.
const DEPTH = 500

/**
 * Compose `middleware` into one function `(ctx, next)`.
 *
 *    const fn = compose([logger, session, handler])
 *    fn(ctx).then(() => console.log('unwound'))
 *
 * The array is read while requests run, so a layer that is pushed later runs, too.
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
    return new Run(middleware, ctx, next).enter(0)
  }
}

class Run {
  constructor (middleware, ctx, outer) {
    this.middleware = middleware
    this.ctx = ctx
    this.outer = outer // called as `next` of the last layer
    this.reached = -1 // the innermost layer entered so far
    this.depth = 0 // layers on the stack right now
  }

  /**
   * Run layer `i`, which may be entered once: `next` of the layer before it is `enter` bound to `i`. One `next` for all
   * layers, with a cursor, takes a third less time for 100 synchronous ones, and cannot see who calls it twice.
   */
  enter (i) {
    if (i <= this.reached) return Promise.reject(new Error('next() called multiple times'))
    this.reached = i

    const { middleware } = this
    const fn = i === middleware.length ? this.outer : middleware[i]
    if (!fn) return ENDED
    if (this.depth === DEPTH) {
      return ENDED.then(() => {
        this.reached = i - 1 // lets `enter(i)` pass the check above
        return this.enter(i)
      })
    }

    this.depth++
    try {
      // `bind` in place of a closure, because V8 inlines it
      const value = fn(this.ctx, this.enter.bind(this, i + 1))
      this.depth--
      if (value === undefined) return this.reached === i ? ENDED : ENDED_LATER
      return value instanceof Promise ? value : Promise.resolve(value)
    } catch (err) {
      this.depth--
      return Promise.reject(err)
    }
  }
}

module.exports = compose
module.exports.ENDED = ENDED
