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
  else onFinished(ctx.res, err => fn(err ?? (wasCut(ctx.res) ? new Error('disconnected') : null)))
}

/** Over HTTP/2 there is no `writableFinished`, and 'finish' also comes for a stream that its client cancels. */
function wasCut ({ writableFinished, stream }) {
  return writableFinished === false || stream?.aborted === true
}
