'use strict'

/**
 * The onion. It knows no HTTP: it runs the functions `(ctx, next)` of an array.
 *
 * One `Run` per call holds what all layers share, so a layer costs only its `next`. A promise that
 * an async layer returns is passed up as it is. A layer that returned synchronously without a value
 * makes no promise: its caller gets one of the two below.
 */

// Every layer returned synchronously, and each returned its `next()` or did not call it: nothing
// is left to happen. A middleware may compare with this promise and go on at once.
const ENDED = Promise.resolve()

// Every layer returned synchronously, but one did not return its `next()`. It may have chained on
// that promise, so whoever goes on must do so one microtask later, by `await` or `then`.
const ENDED_LATER = Promise.resolve()

// At most so many layers are on the stack at once; the next one starts in a microtask.
const DEPTH = 500

/**
 * Compose `middleware` into one function `(ctx, next)`.
 *
 *    const fn = compose([logger, session, handler])
 *    fn(ctx).then(() => console.log('unwound'))
 *
 * The array is read while requests run: a layer that is pushed later takes part.
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

  enter (i) {
    if (i <= this.reached) return Promise.reject(new Error('next() called multiple times'))
    this.reached = i

    const { middleware } = this
    const fn = i === middleware.length ? this.outer : middleware[i]
    if (!fn) return ENDED
    if (this.depth === DEPTH) {
      return ENDED.then(() => {
        this.reached = i - 1
        return this.enter(i)
      })
    }

    this.depth++
    try {
      // `bind` instead of a closure, which costs a synchronous layer twice as much, because V8
      // inlines it (benchmarks/micro/compose.js)
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
