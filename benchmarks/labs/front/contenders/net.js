'use strict'

const net = require('node:net')
const serve = require('../../../lib/servers/serve')

// The floor under every HTTP server in Node: it parses nothing and writes the same bytes for every read.
const answer = [
  'HTTP/1.1 200 OK',
  'Content-Type: text/plain; charset=utf-8',
  'Content-Length: 11',
  `Date: ${new Date().toUTCString()}`,
  'Connection: keep-alive',
  'Keep-Alive: timeout=5',
  '',
  'Hello World'
].join('\r\n')

serve(net.createServer(socket => {
  socket.on('data', () => socket.write(answer, 'latin1'))
  socket.on('error', () => {})
}))
