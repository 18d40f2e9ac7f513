'use strict'

const net = require('node:net')
const tls = require('node:tls')
const { once } = require('node:events')

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='

/**
 * A client of WebSockets that is only a socket: what it sends, and what it gets, byte by byte.
 *
 *    const client = await handshake(port, '/chat', { headers: { Origin: 'null' } })
 *    client.head // 'HTTP/1.1 403 Forbidden\r\n…', without the empty line
 *
 * @param {number} port
 * @param {string} path
 * @param {object} [options] `headers` in place of or beside those of a handshake (undefined: without), `behind`: bytes of
 *   the same write, `isSecure`
 * @return {Promise<net.Socket>} with `head`, `status` and `rest`, the bytes behind it
 */
async function handshake (port, path, options = {}) {
  const socket = await connect(port, options)
  socket.write(Buffer.concat([Buffer.from(requestOf(port, path, options.headers)), options.behind ?? Buffer.alloc(0)]))
  return responseOf(socket)
}

async function connect (port, { isSecure = false } = {}) {
  const socket = isSecure ? tls.connect({ port, rejectUnauthorized: false }) : net.connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, isSecure ? 'secureConnect' : 'connect')
  return socket
}

function requestOf (port, path, headers) {
  const all = {
    Host: `127.0.0.1:${port}`,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Key': KEY,
    'Sec-WebSocket-Version': '13',
    ...headers
  }
  const lines = Object.entries(all).filter(([, value]) => value !== undefined).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

/** Reads until a response is whole, as far as its header section goes. */
async function responseOf (socket) {
  let text = ''
  while (!text.includes('\r\n\r\n')) {
    const chunk = socket.read() ?? await new Promise(resolve => {
      socket.once('readable', () => resolve(socket.read()))
      socket.once('end', () => resolve(null))
      socket.once('close', () => resolve(null))
    })
    if (chunk === null) break
    text += chunk.toString('latin1')
  }
  const end = text.indexOf('\r\n\r\n')
  return Object.assign(socket, {
    head: end === -1 ? text : text.slice(0, end),
    rest: Buffer.from(end === -1 ? '' : text.slice(end + 4), 'latin1'),
    status: Number(text.split(' ')[1])
  })
}

/** A frame of a client: text, or with an opcode; masked with zeros, so that its payload is as it is. */
function frame (payload, opcode = 1) {
  const bytes = Buffer.from(payload)
  const length = bytes.length < 126
    ? Buffer.from([0x80 | bytes.length])
    : Buffer.from([0xfe, bytes.length >> 8, bytes.length & 255])
  return Buffer.concat([Buffer.from([0x80 | opcode]), length, Buffer.alloc(4), bytes])
}

module.exports = { KEY, connect, frame, handshake, requestOf, responseOf }
