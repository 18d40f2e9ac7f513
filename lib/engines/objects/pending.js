'use strict'

const kPending = Symbol('kone.pending')

/**
 * What ends with a socket: `close()` of each is called when it closes. One listener for all of them, because
 * pipelined requests would add too many.
 *
 *    pendingOf(socket).add({ close: () => log('closed') })
 *
 * @param {net.Socket|stream.Duplex} socket
 * @return {Set<{ close: Function }>}
 */
module.exports = function pendingOf (socket) {
  if (socket[kPending] === undefined) {
    socket[kPending] = new Set()
    socket.once('close', function () {
      for (const one of this[kPending]) one.close()
    })
  }
  return socket[kPending]
}
