'use strict'

const http = require('node:http')
const { Duplex } = require('node:stream')

/**
 * Finds out what node would make of bytes that cannot be handed over yet: shows them to node's own parser,
 * on a server and a socket that nobody else knows.
 *
 *    const probe = new Probe(server)
 *    probe.read(Buffer.from('junk'))
 *    probe.error.code // 'HPE_INVALID_METHOD'
 */
class Probe {
  /** @param {http.Server} server whose limits count */
  constructor ({ maxHeaderSize, insecureHTTPParser, maxHeadersCount }) {
    this.error = null       // node would close the connection with it
    this.sawConnect = false

    const server = new http.Server({ maxHeaderSize, insecureHTTPParser })
    server.maxHeadersCount = maxHeadersCount
    server.on('clientError', err => { this.error ??= err })
    server.on('connect', () => { this.sawConnect = true })
    this.socket = new Duplex({ read () {}, write (chunk, encoding, callback) { callback() } })
    server.emit('connection', this.socket)
  }

  /** @param {Buffer} bytes that come next; the first ones begin a message */
  read (bytes) {
    this.socket.emit('data', bytes)
  }

  /** No more will come. */
  end () {
    this.socket.emit('end')
  }
}

module.exports = { Probe }
