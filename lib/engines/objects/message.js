'use strict'

/**
 * The stream of a request or response of node:http2. On HTTP/1 `stream` may be a method that somebody has set:
 * webpack-dev-middleware sets one.
 *
 * @param {object} message req or res
 * @return {http2.Http2Stream|undefined}
 */
function http2Stream ({ stream }) {
  return typeof stream === 'object' && stream !== null ? stream : undefined
}

/** Whether a response can still be sent: it has not ended, and the client is connected. */
function canRespond (res) {
  if (res.writableEnded || res.finished || res.destroyed) return false
  const { socket } = res
  const stream = http2Stream(res)
  // HTTP/2: node ends the writable side of a HEAD's stream before the response.
  if (stream) return !stream.destroyed && !stream.closed
  // A queued response on a pipelined connection has no socket yet.
  return socket ? socket.writable : true
}

module.exports = { canRespond, http2Stream }
