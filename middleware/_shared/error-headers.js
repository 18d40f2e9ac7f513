'use strict'

const isOver = require('./is-over')

/**
 * Run the middleware that follow. If one fails, its response has the headers that this one has set, too:
 * Koa removes all headers of the response, except those of the error.
 *
 *    ctx.set('X-Request-Id', id)
 *    return keepingHeaders(ctx, next, ['X-Request-Id'])
 *
 * @param {object} ctx
 * @param {Function} next
 * @param {string[]} names
 * @return {Promise}
 * @api private
 */
module.exports = function keepingHeaders (ctx, next, names) {
  const ended = next()
  if (isOver(ctx, ended) || typeof ended?.catch !== 'function') return ended
  return ended.catch(err => {
    keep(ctx, names)
    throw err
  })
}

/**
 * The error has the headers only while `ctx.onerror` sends it, at once: several requests may wait for one promise, so
 * that they fail with one error object, and each client must get its own headers.
 */
function keep (ctx, names) {
  const { onerror } = ctx
  ctx.onerror = onerrorKeeping
  ctx.onerror.wraps = onerror.wraps ?? onerror // kone asks whether the app has replaced it

  function onerrorKeeping (err) {
    if (!(err instanceof Error)) return onerror.call(ctx, err)
    const own = Object.getOwnPropertyDescriptor(err, 'headers')
    if (!Object.isExtensible(err) || own?.configurable === false) return onerror.call(ctx, err)
    const value = { ...err.headers, ...pick(ctx.response, names) }
    Object.defineProperty(err, 'headers', { value, writable: true, enumerable: true, configurable: true })
    try {
      onerror.call(ctx, err)
    } finally {
      delete err.headers
      if (own !== undefined) Object.defineProperty(err, 'headers', own)
    }
  }
}

function pick (response, names) {
  return Object.fromEntries(names.map(name => [name, response.get(name)]).filter(([, value]) => value))
}
