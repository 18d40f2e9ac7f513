'use strict'

const { after, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const http = require('node:http')
const net = require('node:net')
const { setImmediate: turn } = require('node:timers/promises')

const Kone = require('../helpers/kone')

/*
 * A head costs CPU linear in its bytes however it is cut. Measured without a kernel in between: reads are pushed into
 * the server's socket as its handle would, and what they cost is compared with what they cost node:http in the same
 * process; no time is asserted.
 */

const LARGE = 14_000
const ROUNDS = 7

const head = size => `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(size)}\r\n\r\n`

/** A server that never listens; what `text` costs it, cut into reads of `size` bytes, in µs of CPU. */
function bench (attach) {
  const app = new Kone()
  app.use(ctx => { ctx.body = 'hello' })
  const server = http.createServer()
  attach(app, server)

  async function once (text, size) {
    const socket = unwired()
    server.emit('connection', socket)
    await turn() // node's listener makes it flow
    const bytes = Buffer.from(text, 'latin1')
    const before = process.cpuUsage()
    for (let at = 0; at < bytes.length; at += size) socket.push(bytes.subarray(at, at + size))
    const { user, system } = process.cpuUsage(before)
    await turn()
    assert.match(socket.written, /^HTTP\/1\.1 200 [^]+hello$/)
    socket.destroy()
    return user + system
  }

  // The least of several rounds: noise only adds.
  return async (text, size) => {
    let least = Infinity
    for (let i = 0; i < ROUNDS; i++) least = Math.min(least, await once(text, size))
    return Math.max(least, 1)
  }
}

/** A net.Socket without a wire: what is written is kept, what is read comes by push(). */
function unwired () {
  const socket = new net.Socket()
  socket.written = ''
  socket._write = (chunk, encoding, callback) => {
    socket.written += chunk.toString('latin1')
    callback()
  }
  socket._writev = null
  socket._read = () => {}
  return socket
}

describe('the cost of a head', () => {
  const node = bench((app, server) => server.on('request', app.callback()))
  let taken
  const front = bench((app, server) => {
    app.attach(server)
    server.on('connection', socket => { taken = !('parser' in socket) })
  })
  after(() => assert(taken, 'the sockets of this test are the front\'s'))

  for (const size of [1, 7, 100, 1000]) {
    it(`should be at most three times node's at ${size} byte${size > 1 ? 's' : ''} per read`, async () => {
      const text = head(LARGE)
      const ratio = await front(text, size) / await node(text, size)
      assert(ratio <= 3, `${ratio.toFixed(2)} × node:http`)
    })
  }

  it('should be the same for many short lines', async () => {
    const text = `GET / HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(900)}\r\n`
    const ratio = await front(text, 1) / await node(text, 1)
    assert(ratio <= 3, `${ratio.toFixed(2)} × node:http`)
  })

  it('should grow with its length, not with its square', async () => {
    const ratio = await front(head(LARGE), 1) / await front(head(LARGE / 8), 1)
    // Eight times as many bytes: 8 when linear, 64 when every read starts over.
    assert(ratio < 24, `${ratio.toFixed(1)} times as much for eight times the bytes`)
  })
})
