'use strict'

/**
 * Close the connection of a response that has begun and cannot be completed.
 *
 *    cut(ctx.res, new Error('the file was cut while it was sent'))
 *
 * @param {any} res what the body is written to: a response of node's, or a Writable
 * @param {Error} err
 */
module.exports = function cut (res, err) {
  // HTTP/2's res.destroy() resets without an error: the client would accept half a body as complete. On HTTP/1
  // `stream` may be a method that somebody has set: webpack-dev-middleware sets one.
  if (typeof res.stream?.destroy === 'function') return res.stream.destroy(err)
  res.destroy()
  // From node 24 on a queued response that was destroyed writes its half and leaves the connection open.
  if (res.socket === null) res.once('socket', socket => socket.destroy())
}
