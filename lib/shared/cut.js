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
  if (endsWithConnection(res.outgoing?.materialize() ?? res)) reset(res.socket)
  res.destroy()
  // From node 24 on a queued response that was destroyed writes its half and leaves the connection open.
  if (res.socket === null) res.once('socket', socket => socket.destroy())
}

/** Has the body neither a length nor chunks? HTTP/1.0 has no chunks, and nginx speaks it by default. */
function endsWithConnection (res) {
  return res.chunkedEncoding === false && !res.hasHeader('Content-Length')
}

/** A FIN would complete the body. */
function reset (socket) {
  try {
    socket.resetAndDestroy()
  } catch {} // a socket of TLS, which sends no close_notify, or a Unix one, which has no resets
}
