'use strict'

const { after, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const http = require('node:http')
const { setImmediate: turn } = require('node:timers/promises')

const Kone = require('../../helpers/kone')
const { superLinear } = require('../../helpers/linear/growth')
const shapes = require('../../helpers/linear/shapes')
const { setUp, unwired } = require('./sides')

/*
 * A head costs CPU linear in its bytes however it is cut. Measured without a kernel in between: reads are pushed into
 * the server's socket as its handle would, and what they cost is compared with what they cost node:http in the same
 * process; no time is asserted.
 */

const LARGE = 14_000
const ROUNDS = 15

const head = size => `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(size)}\r\n\r\n`

/**
 * Pushes `text` into a new connection of a server that never listens, in reads of `size` bytes. Returns the CPU in µs. Nothing
 * is pushed once node has the socket: it would be queued here, and each byte of it rejected once more, where a real socket
 * stops reading at the first error.
 */
async function push (server, text, size, isDone = () => {}) {
  const socket = unwired(server)
  socket.on('error', () => {})
  server.emit('connection', socket)
  await turn() // node's listener makes it flow
  const bytes = Buffer.from(text, 'latin1')
  const before = process.cpuUsage()
  const isNodes = 'parser' in socket
  for (let at = 0; at < bytes.length && !socket.destroyed; at += size) {
    socket.push(bytes.subarray(at, at + size))
    if ('parser' in socket && !isNodes) break
  }
  const { user, system } = process.cpuUsage(before)
  await turn()
  isDone(socket)
  socket.destroy()
  return user + system
}

/** What `text` costs a server, cut into reads of `size` bytes: the least of several rounds, because noise only adds. */
function bench (attach) {
  const app = new Kone()
  app.use(ctx => { ctx.body = 'hello' })
  const server = http.createServer()
  attach(app, server)
  return async (text, size) => {
    let least = Infinity
    for (let i = 0; i < ROUNDS; i++) {
      const used = await push(server, text, size, socket => assert.match(socket.written, /^HTTP\/1\.1 200 [^]+hello$/))
      least = Math.min(least, used)
    }
    return Math.max(least, 1)
  }
}

describe('the cost of headers', () => {
  const node = bench((app, server) => setUp(server, app, false))
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

/*
 * What a hostile client sends costs the front linear time, too: in each field that it looks into, in a header section that
 * does not end, in `ctx.get` and `ctx.headers`, and in one-byte reads behind a request that has no response yet.
 */
describe('the cost of hostile bytes', () => {
  const FIELDS = ['Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Expect', 'Upgrade', 'Cookie', 'X-A']
  // what is longer than 16 KB is refused, and shows no growth
  const server = http.createServer({ maxHeaderSize: 64 * 1024 * 1024 })
  // so is what has more than 1000 fields
  server.maxHeadersCount = 1e6
  const app = new Kone()
  app.silent = true
  const held = []
  let handled = 0
  app.use(ctx => {
    handled++
    if (ctx.path === '/held') return new Promise(resolve => held.push(resolve))
    ctx.body = [ctx.get('X-A'), ctx.get('Host'), ctx.get('Cookie'), Object.keys(ctx.headers).length].join().length
  })
  app.attach(server)
  server.on('clientError', (err, socket) => socket.destroy(err))
  let taken
  server.on('connection', socket => { taken = !('parser' in socket) })
  after(() => assert(taken, 'the sockets of this test are the front\'s'))

  const send = (text, size = Infinity) => push(server, text, size, () => {
    for (const resolve of held.splice(0)) resolve()
  })

  const repeats = units => units.map(unit => {
    return { title: JSON.stringify(unit), make: size => unit.repeat(Math.ceil(size / unit.length)) }
  })

  async function check (text, of, options) {
    const found = []
    for (const { title, make } of of) {
      const texts = new Map()
      const growth = await superLinear(size => {
        if (!texts.has(size)) texts.set(size, text(make(size)))
        return send(texts.get(size), options?.read)
      }, options)
      if (growth !== undefined) found.push(`${title}: ${growth}`)
    }
    assert.deepEqual(found, [])
  }

  for (const field of FIELDS) {
    it(`should be linear in the value of ${field}`, async () => {
      const before = handled
      const of = shapes('host')
      await check(value => `GET / HTTP/1.1\r\n${field === 'Host' ? '' : 'Host: a\r\n'}${field}: ${value}\r\n\r\n`, of)
      if (!['Host', 'Content-Length', 'Transfer-Encoding', 'Expect', 'Upgrade'].includes(field)) assert(handled > before + of.length)
    })

    it(`should be linear in the value of ${field} in a header section that does not end`, () => {
      return check(value => `GET / HTTP/1.1\r\nHost: a\r\n${field}:${value}`, shapes('host'))
    })
  }

  it('should be linear in the number of fields, alike or not', () => {
    const of = ['X-A: b', 'Cookie: a=b', 'Content-Length: 0', 'Host: a', 'a:', 'Connection: a'].map(line => ({
      title: line,
      make: size => `${line}\r\n`.repeat(size / line.length)
    }))
    of.push({ title: 'distinct', make: size => Array.from({ length: size / 8 }, (_, i) => `k${i}: v\r\n`).join('') })
    return check(fields => `GET / HTTP/1.1\r\nHost: a\r\n${fields}\r\n`, of)
  })

  it('should be linear in the target', () => check(path => `GET /${path} HTTP/1.1\r\nHost: a\r\n\r\n`, shapes('path')))

  it('should be linear in blanks at the end of a value', async () => {
    const of = repeats([' ', '\t', ' \t'])
    await check(blanks => `GET / HTTP/1.1\r\nHost: a\r\nX-A: x<${blanks}>x${blanks}\r\n\r\n`, of)
    await check(blanks => `GET / HTTP/1.1\r\nHost: a\r\nContent-Length:${blanks}`, of)
    await check(blanks => `GET / HTTP/1.1\r\nHost: a\r\nContent-Length:${blanks}1${blanks}x`, of)
    await check(blanks => `GET / HTTP/1.1\r\nHost: a\r\n${blanks}`, of)
  })

  it('should be linear in one-byte reads of an unfinished header section', async () => {
    const of = repeats([' ', 'x', '\t', ',', 'X-A: b\r\n', '\r', '\n'])
    await check(text => `GET / HTTP/1.1\r\nHost: a\r\nX-A:${text}`, of, { read: 1 })
    await check(text => `GET /${text}`, repeats(['x', '\r']), { read: 1 })
    for (const field of ['Content-Length', 'Connection', 'Proxy-Connection', 'Transfer-Encoding', 'Expect']) {
      for (const read of [1, 100]) {
        await check(blanks => `GET / HTTP/1.1\r\nHost: a\r\n${field}:${blanks}`, of.slice(0, 1), { read, largest: 64 * 1024 })
      }
    }
  })

  it('should be linear in one-byte reads behind a request without a response', async () => {
    const of = repeats(['x', ' ', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx'])
    const before = handled
    await check(text => `GET /held HTTP/1.1\r\nHost: a\r\n\r\n${text}`, of, { read: 1, largest: 64 * 1024 })
    assert(handled > before)
  })

  it('should be linear in one-byte reads of a chunked body', async () => {
    const begin = 'POST /held HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
    const options = { read: 1, largest: 64 * 1024 }
    await check(text => `${begin}${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`, repeats(['x']), options)
    await check(text => begin + text, repeats(['1\r\nx\r\n', '0', '1;a\r\nx\r\n', '1;a="b"\r\nx\r\n']), options)
    await check(text => `${begin}0\r\n${text}\r\n`, repeats(['X:y\r\n']), options)
  })

  it('should be linear in the number of chunks, of bytes of a size, of extensions and of trailers', async () => {
    const begin = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
    await check(text => `${begin}${text}0\r\n\r\n`, repeats(['1\r\nx\r\n', '1;a\r\nx\r\n', '0']))
    await check(text => `${begin}1${text}\r\nx\r\n0\r\n\r\n`, repeats([';a', ';a=b', ';a="b"']), { largest: 16 * 1024 })
    await check(text => `${begin}0\r\n${text}\r\n`, repeats(['X:y\r\n', 'X: y\r\n']))
  })

  it('should be linear in one-byte reads of a body', () => {
    return check(text => `POST /held HTTP/1.1\r\nHost: a\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
      repeats(['x']), { read: 1 })
  })
})
