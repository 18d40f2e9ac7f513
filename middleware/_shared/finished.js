'use strict'

const onFinished = require('on-finished')

/**
 * Call `fn` once: with null when the response is sent, or with an error when the client has disconnected before.
 *
 *    whenFinished(ctx, () => timer.close())
 *
 * @param {object} ctx
 * @param {Function} fn `(err|null) => void`
 * @api private
 */
module.exports = function whenFinished (ctx, fn) {
  // Koa has only ctx.res, which kone would have to create
  if (typeof ctx.onFinished === 'function') ctx.onFinished(fn)
  else onFinished(ctx.res, err => fn(err ?? (ctx.res.writableFinished === false ? new Error('disconnected') : null)))
}
