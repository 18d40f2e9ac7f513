'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const tls = require('node:tls')

const Kone = require('../../helpers/kone')
const { random } = require('../../helpers/random')
const { accepted, cuts, differences, exchange, explain, open } = require('./harness')
const { corpus } = require('./corpus')
const { observe } = require('./program')
const { credentials, get, last, post, setUp, settled, use, waitFor } = require('./sides')

/** A site on the front, and a client's connection to it. */
async function site (t, setup, { isSecure = true, onSocket = () => {} } = {}) {
  const app = new Kone()
  setup(app)
  const server = app.attach(isSecure ? https.createServer(await credentials()) : http.createServer())
  const accepted = once(server, isSecure ? 'secureConnection' : 'connection')
  accepted.then(([socket]) => onSocket(socket))
  t.after(() => { server.closeAllConnections(); server.close() })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const to = { port: server.address().port, host: '127.0.0.1', rejectUnauthorized: false }
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
