'use strict'

const net = require('node:net')
const files = require('./_files')

exports.about = 'writes fixed bytes, parses nothing'

// The floor under every HTTP server in Node: of a read it looks only at the path.
exports.start = function ([root]) {
  const responses = new Map([...files(root)].map(([path, body]) => [path, response(body)]))
  return net.createServer(socket => {
    socket.on('data', chunk => {
      const { headers, body, small } = responses.get(chunk.latin1Slice(4, chunk.indexOf(' ', 4)))
      if (small) return socket.write(small, 'latin1')
      socket.cork()
      socket.write(headers, 'latin1')
      socket.write(body)
      socket.uncork()
    })
    socket.on('error', () => {})
  })
}

function response (body) {
  const headers = [
    'HTTP/1.1 200 OK',
    'Content-Type: text/html; charset=utf-8',
    `Content-Length: ${body.length}`,
    `Date: ${new Date().toUTCString()}`,
    'Connection: keep-alive',
    'Keep-Alive: timeout=5',
    '\r\n'
  ].join('\r\n')
  return { headers, body, small: body.length < 16384 && headers + body.latin1Slice() }
}
