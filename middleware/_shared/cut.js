'use strict'

/**
 * Close the connection of a response that has begun and cannot be completed.
 *
 *    cut(ctx.res, new Error('the file was cut while it was sent'))
 *
 * @param {import('stream').Writable} res what the body is written to
 * @param {Error} err
 * @api private
 */
module.exports = function cut (res, err) {
  // HTTP/2's res.destroy() resets without an error: the client would take half of the body for all of it. On HTTP/1
  // `stream` may be a method that somebody has set: webpack-dev-middleware sets one.
  if (typeof res.stream?.destroy === 'function') res.stream.destroy(err)
  else res.destroy()
}
