'use strict'

const PRIVATE = /(?:^|,)\s*(?:private|no-store)\s*(?:,|$)/i
const SHARED = /^(?:public|s-maxage\b.*)$/i

/**
 * Let no shared cache store a response with somebody's cookie: with its own `private` or `no-store` a response is left
 * as it is, `public` and `s-maxage` become `private`. A response without Cache-Control gets `private`, because caches
 * may store it, too (RFC 9111, 4.2.2 and 7.3).
 *
 * @param {object} ctx
 * @api private
 */
module.exports = function keepPrivate (ctx) {
  if (ctx.headerSent) return
  const given = ctx.response.get('Cache-Control') || '' // Koa 3: undefined
  if (!PRIVATE.test(given)) ctx.set('Cache-Control', asPrivate(given))
}

/**
 *    asPrivate('public, max-age=600') // 'private, max-age=600'
 */
function asPrivate (given) {
  const kept = given.split(',').map(directive => directive.trim()).filter(directive => directive !== '' && !SHARED.test(directive))
  return ['private', ...kept].join(', ')
}
