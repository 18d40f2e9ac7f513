'use strict'

/**
 * Report an error to the app when it is too late for a response, as Koa does for its own errors.
 *
 *    report(ctx, err)
 *
 * @param {object} ctx
 * @param {Error} err
 * @api private
 */
module.exports = function report (ctx, err) {
  const { app } = ctx
  if (app.listenerCount('error') > 0) app.emit('error', err, ctx)
  else app.onerror(err)
}
