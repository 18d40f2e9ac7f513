'use strict'

const isOver = require('./is-over')

/**
 * Make a middleware that acts after those that follow it, and the same for `app.final`, from one body.
 *
 *    const { middleware, final } = middlewareAndFinal(function etag (options) {
 *      const { weak } = OPTIONS.check(options)
 *      return { act: ctx => tag(ctx, weak) }
 *    })
 *    module.exports = middleware
 *    module.exports.final = final   // by its name, so that ES modules can import it
 *
 * @param {Function} make is named as the middleware and given the arguments of both; returns `act(ctx, wanted)`; if it
 *   acts for some requests only, `wants(ctx)`, called before the others, whose result is true for these; and properties
 *   for both
 * @return {{ middleware: Function, final: Function }}
 * @api private
 */
module.exports = function middlewareAndFinal (make) {
  const { name } = make

  function middleware (...args) {
    const { wants = always, act, ...properties } = make(...args)
    return named(name, (ctx, next) => {
      const wanted = wants(ctx)
      const ended = next()
      if (!wanted) return ended
      return isOver(ctx, ended) ? act(ctx, wanted) ?? ended : ended.then(() => act(ctx, wanted))
    }, properties)
  }

  function final (...args) {
    const { wants = always, act, ...properties } = make(...args)
    return named(name, ctx => {
      const wanted = wants(ctx)
      if (wanted) return act(ctx, wanted)
    }, properties)
  }

  return { middleware: named(name, middleware), final }
}

function always () {
  return true
}

function named (name, fn, properties) {
  return Object.assign(Object.defineProperty(fn, 'name', { value: name }), properties)
}
