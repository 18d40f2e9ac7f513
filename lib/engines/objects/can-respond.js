'use strict'

const http2Stream = require('./http2-stream')

/** Whether a response can still be sent: it has not ended, and the client is connected. */
module.exports = function canRespond (res) {
  if (res.writableEnded || res.finished || res.destroyed) return false
  const { socket } = res
  const stream = http2Stream(res)
  // HTTP/2: node ends the writable side of a HEAD's stream before the response.
  if (stream) return !stream.destroyed && !stream.closed
  // A queued response on a pipelined connection has no socket yet.
  return socket ? socket.writable : true
}
