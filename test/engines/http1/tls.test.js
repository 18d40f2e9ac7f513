'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const { Duplex } = require('node:stream')
const { setImmediate: turn } = require('node:timers/promises')
const tls = require('node:tls')

const Kone = require('../../helpers/kone')
const { random } = require('../../helpers/random')
const { It, READERS } = require('./acts')
const { accepted, cuts, differences, exchange, explain, open } = require('./harness')
const { corpus } = require('./corpus')
const { observe } = require('./program')
const { chunked, credentials, get, last, post, setUp, settled, use, waitFor } = require('./sides')

/** A site on the front. */
async function served (t, setup, isSecure) {
  const app = new Kone()
  setup(app)
  const server = app.attach(isSecure ? https.createServer(await credentials()) : http.createServer())
  t.after(() => { server.closeAllConnections(); server.close() })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const to = { port: server.address().port, host: '127.0.0.1', rejectUnauthorized: false }
  return { server, to }
}

/** The same, and a client's connection to it. */
async function site (t, setup, { isSecure = true, onSocket = () => {} } = {}) {
  const { server, to } = await served(t, setup, isSecure)
  const accepted = once(server, isSecure ? 'secureConnection' : 'connection')
  accepted.then(([socket]) => onSocket(socket))
  const client = isSecure ? tls.connect(to) : net.connect(to)
  const [socket] = await accepted
  return { client, socket }
}

describe('app.attach(https.createServer())', () => {
  const define = () => new Kone().use(observe)
  let sides
  before(async () => {
    const keys = await credentials()
    sides = [
      await open('node:https', app => setUp(https.createServer(keys), app, false).listen(0, '127.0.0.1'), define),
      await open('front', app => app.attach(https.createServer(keys)).listen(0, '127.0.0.1'), define)
    ]
  })
  after(() => Promise.all(sides.map(side => side.close())))

  // A handshake costs more than a case: the level of the app goes round.
  const levels = ['fast', 'materialised', 'late']

  for (const [number, app] of levels.entries()) {
    it(`should respond with the corpus as node does, ${app}`, async () => {
      const { next } = random(3)
      const found = []
      for (const [i, { file, title, server, parts }] of corpus().entries()) {
        if (Object.keys(server).length || i % levels.length !== number) continue
        const steps = parts.flatMap(part => Buffer.isBuffer(part) ? cuts.random(part, next, 3) : part)
        const [a, b] = [await exchange(sides[0], steps, { app }), await exchange(sides[1], steps, { app })]
        // Over TLS the end of a response is reported later, so whether an error comes while it is on its way is not compared.
        const here = differences(a, b, steps).filter(({ what }) => what !== 'errors')
        if (here.length && !accepted(steps, a, b)) found.push(`${file}, ${title}\n${explain(steps, here)}`)
      }
      assert(!found.length, `${found.length} differences\n${found.slice(0, 5).join('\n\n')}`)
    })
  }
})

describe('reads that follow each other at once, as those of several TLS records in one TCP read', () => {
  const READS = [258, 280, 20]
  const inOrder = Array.from({ length: READS.reduce((sum, count) => sum + count) }, (_, number) => number)

  for (const isSecure of [true, false]) {
    it(`should be handled in their order when a handler ends earlier responses, ${isSecure ? 'TLS' : 'plain'}`, async t => {
      const dispatched = []
      const open = []
      const endAll = () => { for (const end of open.splice(0).reverse()) end() } // the first one last
      const { client, socket } = await site(t, use(ctx => {
        const number = Number(ctx.path.slice(1))
        dispatched.push(number)
        ctx.respond = false
        open.push(() => ctx.outgoing.end(`${number}`))
        if (number === 520 || number === inOrder.at(-1)) endAll()
      }), { isSecure })

      // TLS passes on the records that it has although the socket no longer reads.
      let from = 0
      for (const count of READS) socket.push(Buffer.from(inOrder.slice(from, from += count).map(number => get(`/${number}`)).join('')))
      setImmediate(endAll)
      let text = ''
      for await (const chunk of client.setEncoding('latin1')) {
        text += chunk
        if (text.endsWith(`\r\n\r\n${inOrder.at(-1)}`)) break
      }
      assert.deepEqual(dispatched, inOrder)
      assert.deepEqual([...text.matchAll(/\r\n\r\n(\d+)/g)].map(match => Number(match[1])), inOrder)
    })
  }
})

/** A connection whose writes behind hold() leave in one piece with its end. */
class Joined extends Duplex {
  constructor (socket) {
    super()
    this.socket = socket.on('data', chunk => this.push(chunk)).on('end', () => this.push(null)).on('error', err => this.destroy(err))
    this.held = null
  }

  hold () { this.held = [] }

  _read () {}

  _write (chunk, encoding, callback) {
    if (this.held === null) return this.socket.write(chunk, callback)
    this.held.push(chunk)
    callback()
  }

  _final (callback) {
    this.socket.end(Buffer.concat(this.held ?? []), callback)
  }
}

describe('a client that ends its side behind a body that it sends', () => {
  const KB = 1024
  const FRAMES = {
    'of a known length': [size => post('', '', size), bytes => [bytes]],
    chunked: [() => chunked(''), bytes => [`${bytes.length.toString(16)}\r\n`, bytes, '\r\n', '0\r\n\r\n']],
    'chunked, in one piece': [() => chunked(''), bytes => [`${bytes.length.toString(16)}\r\n${bytes}\r\n0\r\n\r\n`]]
  }

  // The records of one read follow each other in one turn, the end among them; so do reads each of which fills libuv's buffer.
  for (const [isSecure, sizes] of [[true, [5, 16 * KB]], [false, [5, 64 * KB, 128 * KB]]]) {
    for (const [what, [head, body]] of Object.entries(FRAMES)) {
      it(`should get all responses, ${isSecure ? 'over TLS' : 'over TCP'}, ${what}`, async t => {
        let begin
        const { to } = await served(t, use(async ctx => {
          if (ctx.method === 'GET') return (ctx.body = 'next')
          const reader = await new Promise(resolve => { begin = resolve })
          ctx.body = `${(await READERS[reader](new It(ctx))).length} bytes`
        }), isSecure)
        for (const reader of ['readBody()', 'co-body', "on('data')", 'read()', 'for await', 'pipeline()']) {
          for (const size of sizes) {
            for (const next of ['', get('/')]) {
              begin = undefined
              const wire = new Joined(net.connect({ ...to, allowHalfOpen: true }))
              const client = isSecure ? tls.connect({ ...to, socket: wire }) : wire
              client.write(head(size))
              await waitFor(() => begin, 'the request')
              begin(reader)
              await turn()
              wire.hold()
              for (const bytes of body('x'.repeat(size))) client.write(bytes)
              client.end(next)
              const text = String(Buffer.concat(await client.toArray()))
              const expected = new RegExp(`\r\n\r\n${size} bytes${next && '[^]+\r\n\r\nnext'}$`)
              assert.match(text, expected, `${reader}, ${size} bytes, behind it ${next ? 'a request' : 'nothing'}`)
            }
          }
        }
      })
    }
  }
})

describe('the last response over TLS, which a client reads slowly while it sends more', () => {
  const SIZE = 16_000_000
  const REQUESTS = [get('/2'), get('/3'), get('/4')]

  for (const [how, closes] of [
    ["by the app's field", ctx => ctx.set('Connection', 'close')],
    ['because app.close() drains', ctx => { ctx.app.close({ timeout: 60000 }) }]
  ]) {
    for (const [what, reads] of [
      ['three requests', REQUESTS],
      ['a body', [post('', '', 300_000), 'x'.repeat(150_000), 'x'.repeat(150_000)]],
      ['half a request and the end', [...REQUESTS, 'GET /', null]]
    ]) {
      it(`should be whole: ${how}, behind it ${what}`, async t => {
        const dispatched = []
        const { client, socket } = await site(t, use(ctx => {
          dispatched.push(ctx.path)
          closes(ctx)
          ctx.body = Buffer.alloc(SIZE)
        }))
        client.write(get('/'))
        await waitFor(() => dispatched.length > 0 && socket.bytesWritten > 0, 'the response')
        for (const bytes of reads) {
          if (bytes === null) client.end()
          else client.write(bytes)
          await settled(() => socket.bytesRead)
        }
        const received = Buffer.concat(await client.toArray())
        assert.equal(received.length, SIZE + received.indexOf('\r\n\r\n') + 4)
        assert.deepEqual(dispatched, ['/'])
      })
    }
  }
})

describe('the writes of a response over TLS', () => {
  const large = Buffer.alloc(100_000, 'x')
  // how many there are for each, and not one more for the callback of the last
  const WRITES = {
    'a string': [1, ctx => { ctx.body = 'hello' }],
    JSON: [1, ctx => { ctx.body = { hello: 'world' } }],
    'no body': [1, ctx => { ctx.status = 204 }],
    'a small Buffer': [1, ctx => { ctx.body = Buffer.from('hello') }],
    'headers and a large Buffer': [2, ctx => { ctx.body = large }],
    'three pipelined requests': [1, ctx => { ctx.body = 'hello' }, 3]
  }

  for (const [what, [expected, handler, requests = 1]] of Object.entries(WRITES)) {
    it(`should be ${expected} for ${what}, and be followed by 'finish'`, async t => {
      let finished = 0
      const { client, socket } = await site(t, use(ctx => {
        ctx.onFinished(err => { if (!err) finished++ })
        handler(ctx)
      }))
      const write = t.mock.method(socket, 'write')
      client.write(get('/').repeat(requests - 1) + last('/'))
      client.resume()
      await once(client, 'close')
      assert.equal(write.mock.callCount(), expected)
      assert.equal(finished, requests)
    })
  }
})
