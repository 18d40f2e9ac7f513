'use strict'

const http = require('node:http')
const { Duplex } = require('node:stream')

/**
 * Finds out whether node would reject bytes that cannot be handed over yet: gives a copy to node's own parser,
 * on a private server and socket.
 *
 *    const probe = new Probe(server)
 *    probe.read(Buffer.from('junk'))
 *    probe.error.code // 'HPE_INVALID_METHOD'
 */
class Probe {
  /** @param {http.Server} server whose limits apply */
  constructor ({ maxHeaderSize, insecureHTTPParser, maxHeadersCount }) {
    this.error = null       // the error with which node would close the connection
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
