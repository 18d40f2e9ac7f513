'use strict'

/**
 * For whoever changes the bytes of a response: a strong ETag becomes a weak one, because these bytes are others, and a
 * client is offered no ranges, because they would count the bytes of before.
 *
 *    ctx.body = transformed(ctx.body, zlib.createGzip())
 *    changed(ctx)
 *
 * @param {object} ctx
 * @api private
 */
module.exports = function changed (ctx) {
  ctx.remove('Accept-Ranges')
  const tag = weakened(ctx)
  if (tag) ctx.set('ETag', tag)
}

/**
 * The same for a 304: what the client has is still valid under the tag that it came with (RFC 9110, 15.4.5).
 *
 * @param {object} ctx
 */
module.exports.unchanged = function unchanged (ctx) {
  const tag = weakened(ctx)
  if (tag && ctx.get('If-None-Match').includes(tag)) ctx.set('ETag', tag)
}

function weakened (ctx) {
  const etag = String(ctx.response.get('ETag'))
  return etag && !etag.startsWith('W/') ? `W/${etag}` : ''
}
