'use strict'

/** Brings node's objects into the state of what has ended, although node has not ended them. */

/**
 * Bring a `req` whose body kone has read, or reads, into the state after 'end' and 'close': no other reader must wait
 * for it, or take it for empty.
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

/** A socket that drops everything: with it node's response ends, though its bytes were sent by other code. */
class NullSocket {
  constructor () {
    this.writable = true
    this.destroyed = false
    this.writableLength = 0
    this.writableCorked = 0
    this._writableState = { corked: 0 }
    this._httpMessage = null
  }

  on () {}
  removeListener () {}
  cork () {}
  uncork () {}
  write (data, encoding, callback) {
    if (typeof callback === 'function') callback()
    return true
  }
}

exports.NullSocket = NullSocket
