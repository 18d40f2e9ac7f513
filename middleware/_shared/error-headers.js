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
    // those of this request: an app may throw one object again and again
    if (err instanceof Error && Object.isExtensible(err)) err.headers = { ...err.headers, ...pick(ctx.response, names) }
    throw err
  })
}

function pick (response, names) {
  return Object.fromEntries(names.map(name => [name, response.get(name)]).filter(([, value]) => value !== ''))
}
