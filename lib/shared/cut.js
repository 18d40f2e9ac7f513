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
  const message = res.outgoing?.materialize() ?? res
  if (endsWithConnection(message)) {
    if (isUnix(message.socket)) return hold(message)
    reset(message.socket)
  }
  res.destroy()
  // From node 24 on a queued response that was destroyed writes its half and leaves the connection open.
  if (res.socket === null) res.once('socket', socket => socket.destroy())
}

/** Has the body neither a length nor chunks? HTTP/1.0 has no chunks, and nginx speaks it by default. */
function endsWithConnection (res) {
  return res.chunkedEncoding === false && !res.hasHeader('Content-Length')
}

/** A FIN would complete the body. Below TLS, because nginx takes its end without a close_notify for a whole body. */
function reset (socket) {
  try {
    (socket._parent ?? socket).resetAndDestroy()
  } catch {} // a socket in memory
}

/**
 * A Unix socket has no reset: the response ends here, and the connection stays open. So it is cut by the timeout of the
 * client, on which nginx closes the connection of its own client, as it does with each such response of Koa.
 */
function hold (message) {
  message.destroyed = true // eslint-disable-line kone/owners -- node's destroy() closes the socket, too
}

function isUnix (socket) {
  return socket?._handle?.constructor.name === 'Pipe'
}
