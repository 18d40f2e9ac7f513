'use strict'

const net = require('node:net')
const serve = require('../../../lib/servers/serve')

// The floor under every HTTP server in Node: of a read it looks only at the path.
const answers = new Map()
for (const [path, body] of require('./files')(process.argv[2])) {
  const head = [
    'HTTP/1.1 200 OK',
    'Content-Type: text/html; charset=utf-8',
    `Content-Length: ${body.length}`,
    `Date: ${new Date().toUTCString()}`,
    'Connection: keep-alive',
    'Keep-Alive: timeout=5',
    '\r\n'
  ].join('\r\n')
  answers.set(path, { head, body, small: body.length < 16384 && head + body.latin1Slice() })
}

serve(net.createServer(socket => {
  socket.on('data', chunk => {
    const { head, body, small } = answers.get(chunk.latin1Slice(4, chunk.indexOf(' ', 4)))
    if (small) return socket.write(small, 'latin1')
    socket.cork()
    socket.write(head, 'latin1')
    socket.write(body)
    socket.uncork()
  })
  socket.on('error', () => {})
}))
