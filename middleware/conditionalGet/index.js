'use strict'

const middlewareAndFinal = require('../_shared/middleware-and-final')
const { Options } = require('../../lib/shared/options')

const OPTIONS = new Options('conditionalGet', {})

/**
 * Respond 304 when the client has this response already, as its ETag or Last-Modified shows
 * (RFC 9110, 13).
 *
 *    app.use(conditionalGet())
 *    app.use(etag())
 *
 * @return {Function} middleware
 * @api public
 */
const { middleware, final } = middlewareAndFinal(function conditionalGet (options) {
  OPTIONS.check(options)

  return { wants: isConditional, act: respond }
})

module.exports = middleware

/**
 * The same for `app.final`; register it after the middleware that sets ETag or Last-Modified.
 *
 *    app.final(etag.final())
 *    app.final(conditionalGet.final())
 *
 * @return {Function} (ctx) => void
 * @api public
 */
module.exports.final = final

// ctx.fresh reads these two fields first: without them no response is fresh
function isConditional (ctx) {
  return ctx.get('if-none-match') !== '' || ctx.get('if-modified-since') !== ''
}

function respond (ctx) {
  if (!ctx.fresh) return
  ctx.status = 304
  ctx.body = null
  // a cache would write them to the response that it has, whose bytes may be in another encoding (RFC 9111, 3.2)
  ctx.remove('Content-Encoding')
  ctx.remove('Content-Range')
}
