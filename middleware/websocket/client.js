'use strict'

/** Messages that the test has not read yet, in bytes; a server that sends more waits. */
const MOST_HELD = 1_048_576

const classes = new WeakMap() // the class of server's sockets → that of clients

/**
 * The other end of a WebSocket, for app.inject.websocket(): ws's client, which holds messages, sends and closes as the
 * socket of a handler does.
 *
 * @param {Function} Socket see socket.js
 * @param {string} path
 * @param {string[]} protocols
 * @param {object} options ws's
 * @return {Promise<Socket>} an open one; rejects with `{ status, headers, body }` of another response than 101
 */
module.exports = function open (Socket, path, protocols, options) {
  if (!classes.has(Socket)) classes.set(Socket, create(Socket))
  const socket = new (classes.get(Socket))(`ws://localhost${path}`, protocols, options)
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket))
    socket.once('error', reject)
    socket.once('unexpected-response', ({ socket }, res) => {
      const chunks = []
      res.on('data', chunk => chunks.push(chunk))
      res.on('error', reject)
      res.on('end', () => {
        socket.destroy() // which may be kept alive
        reject(refused(res, Buffer.concat(chunks)))
      })
    })
  })
}

function create (Socket) {
  const counts = { open: 0, received: 0, sent: 0 } // of clients, which metrics does not show
  return class Client extends Socket {
    constructor (...args) {
      super(...args)
      this.begin({ maxPayload: MOST_HELD, maxBufferedAmount: Infinity, heartbeat: 0 })
    }

    get counts () {
      return counts
    }
  }
}

function refused ({ statusCode: status, statusMessage, headers }, body) {
  return Object.assign(new Error(`the response to the handshake is ${status} ${statusMessage}: ${body}`), { status, headers, body })
}
