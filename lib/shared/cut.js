'use strict'

/** A Unix socket has none, and nginx takes one below TLS for an end. */
const HAS_NO_RESET = ['Pipe', 'TLSWrap']

/**
 * Close the connection of a response that has begun and cannot be completed.
 *
 *    cut(ctx.res, new Error('the file was cut while it was sent'))
 *
 * A FIN completes a body that has neither a length nor chunks: HTTP/1.0 has no chunks, and nginx speaks it by default.
 * Its connection is reset. A reset also drops what the client has not received, so others end by a FIN.
 *
 * @param {any} res what the body is written to: a response of node's, or a Writable
 * @param {Error} err
 */
module.exports = function cut (res, err) {
  // HTTP/2's res.destroy() resets without an error: the client would accept half a body as complete. On HTTP/1
  // `stream` may be a method that somebody has set: webpack-dev-middleware sets one.
  if (typeof res.stream?.destroy === 'function') return res.stream.destroy(err)
  const message = res.outgoing?.materialize() ?? res
  if (message.chunkedEncoding === false && !message.hasHeader('Content-Length')) {
    const kind = message.socket?._handle?.constructor.name
    if (HAS_NO_RESET.includes(kind)) return hold(message)
    if (kind === 'TCP') message.socket.resetAndDestroy()
  }
  res.destroy()
  // From node 24 on a queued response that was destroyed writes its half and leaves the connection open.
  if (res.socket === null) res.once('socket', socket => socket.destroy())
}

/** The response ends here, and the connection stays open: the timeout of nginx cuts it, as each such one of Koa. */
function hold (message) {
  message.destroyed = true // eslint-disable-line kone/owners -- node's destroy() closes the socket, too
}
