'use strict'

const { append } = require('vary')
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
 * @param {boolean} [yields=false] a header of the same name that the error has is sent instead
 * @return {Promise}
 * @api private
 */
function keepingHeaders (ctx, next, names, yields) {
  const ended = next()
  if (isOver(ctx, ended) || typeof ended?.catch !== 'function') return ended
  return ended.catch(err => {
    keep(ctx, names, yields)
    throw err
  })
}

/**
 * Let the response to an error have these headers, beside those of the error. The error has them only while
 * `ctx.onerror` sends it, at once: several requests may wait for one promise, so that they fail with one error object,
 * and each client must get its own headers.
 *
 * @param {object} ctx
 * @param {string[]} names
 * @param {boolean} [yields=false]
 * @api private
 */
function keep (ctx, names, yields = false) {
  keepBy(ctx, headers => {
    const set = kept(ctx.response, names, headers)
    return yields ? { ...set, ...headers } : { ...headers, ...set }
  })
}

/**
 * The same for headers that a function makes: it is given those of the error, and returns all.
 *
 * @param {object} ctx
 * @param {Function} headersOf `headers|undefined => object`
 * @api private
 */
function keepBy (ctx, headersOf) {
  const { onerror } = ctx
  ctx.onerror = onerrorKeeping
  ctx.onerror.wraps = onerror.wraps ?? onerror // kone asks whether the app has replaced it

  function onerrorKeeping (err) {
    if (!(err instanceof Error)) return onerror.call(ctx, err)
    const own = Object.getOwnPropertyDescriptor(err, 'headers')
    const value = headersOf(err.headers)
    const headers = { value, writable: true, enumerable: true, configurable: true }
    // a frozen error cannot have them, an object that inherits from it can
    if (!Object.isExtensible(err) || own?.configurable === false) {
      return onerror.call(ctx, Object.create(err, { headers }))
    }
    Object.defineProperty(err, 'headers', headers)
    try {
      onerror.call(ctx, err)
    } finally {
      delete err.headers
      if (own !== undefined) Object.defineProperty(err, 'headers', own)
    }
  }
}

function kept (response, names, { Vary, vary = Vary } = {}) {
  const sent = Object.fromEntries(names.map(name => [name, response.get(name)]).filter(([, value]) => value))
  if (sent.Vary && vary) sent.Vary = append(String(vary), sent.Vary)
  return sent
}

module.exports = { keep, keepBy, keepingHeaders }
