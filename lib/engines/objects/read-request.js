'use strict'

/** Of a `req` of node's whose body kone has read, or reads: no other reader must wait for it, or take it for empty. */

/**
 * Bring `req` into the state after 'end' and 'close'.
 *
 * @param {http.IncomingMessage} req
 */
exports.markRead = function (req) {
  const state = req._readableState
  state.ended = state.endEmitted = state.destroyed = state.closed = state.closeEmitted = true
}

/**
 * Let destroy() close the connection while the body still arrives: of a stream in that state node's does nothing.
 *
 * @param {http.IncomingMessage} req
 * @param {{ isComplete: boolean }} body
 * @param {net.Socket} socket
 */
exports.closeOnDestroy = function (req, body, socket) {
  req.destroy = err => {
    if (!body.isComplete) socket.destroy(err)
    return req
  }
}
