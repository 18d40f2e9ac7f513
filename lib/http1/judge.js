'use strict'

const http = require('node:http')
const { Duplex } = require('node:stream')

/**
 * Says what node would make of a connection that cannot be handed over yet: its bytes are shown to node's own
 * parser, on a server and a socket that nobody else knows.
 *
 *    const judge = new Judge(server)
 *    judge.hear(Buffer.from('junk'))
 *    judge.error.code // 'HPE_INVALID_METHOD'
 */
class Judge {
  /** @param {http.Server} server whose limits count */
  constructor ({ maxHeaderSize, insecureHTTPParser, maxHeadersCount }) {
    this.error = null    // node would refuse the connection with it
    this.connect = false // there was a CONNECT

    const server = new http.Server({ maxHeaderSize, insecureHTTPParser })
    server.maxHeadersCount = maxHeadersCount
    server.on('clientError', err => { this.error ??= err })
    server.on('connect', () => { this.connect = true })
    this.socket = new Duplex({ read () {}, write (chunk, encoding, callback) { callback() } })
    server.emit('connection', this.socket)
  }

  /** @param {Buffer} bytes that come next; the first ones begin a message */
  hear (bytes) {
    this.socket.emit('data', bytes)
  }

  /** No more will come. */
  end () {
    this.socket.emit('end')
  }
}

module.exports = { Judge }
