'use strict'

const onFinished = require('on-finished')

/**
 * Call `fn` once when the response is sent or the client has disconnected.
 *
 *    whenFinished(ctx, () => timer.close())
 *
 * @param {object} ctx
 * @param {Function} fn
 * @api private
 */
module.exports = function whenFinished (ctx, fn) {
  // Koa has only ctx.res, which kone would have to create
  if (typeof ctx.onFinished === 'function') ctx.onFinished(fn)
  else onFinished(ctx.res, fn)
}
