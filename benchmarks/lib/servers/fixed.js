'use strict'

const net = require('node:net')

/** The headers of a response, as the servers in Node write them. */
exports.headersOf = (type, length) => [
  'HTTP/1.1 200 OK',
  `Content-Type: ${type}`,
  `Content-Length: ${length}`,
  `Date: ${new Date().toUTCString()}`,
  'Connection: keep-alive',
  'Keep-Alive: timeout=5',
  '\r\n'
].join('\r\n')

const RESPONSE = `${exports.headersOf('text/plain; charset=utf-8', 11)}Hello World`

/**
 * The floor under every HTTP server in Node: it parses nothing, and writes the same bytes for every read. A request
 * with `Connection: close` gets its connection closed.
 */
exports.start = () => net.createServer(socket => {
  socket.on('data', chunk => {
    if (chunk.includes('Connection: close')) socket.end(RESPONSE, 'latin1')
    else socket.write(RESPONSE, 'latin1')
  })
  socket.on('error', () => {})
})
