'use strict'

/**
 * Whether a request has a body, as its header section says.
 *
 * @param {object} ctx
 * @return {boolean}
 * @api private
 */
module.exports = function hasBody (ctx) {
  if (ctx.get('content-length') !== '' || ctx.get('transfer-encoding') !== '') return true
  // a body of HTTP/2 has neither of these headers: its frames say where it ends
  const { httpVersionMajor } = ctx.request.incoming || ctx.req
  return httpVersionMajor > 1 && !['GET', 'HEAD'].includes(ctx.method)
}
