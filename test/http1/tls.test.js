'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const tls = require('node:tls')
const { generate } = require('selfsigned')

const Kone = require('../helpers/kone')
const { accepted, cuts, differences, exchange, explain, open, randomFrom } = require('./harness')
const { corpus } = require('./corpus')
const { observe } = require('./app')

function define () {
  const app = new Kone()
  app.use(observe)
  return app
}

describe('app.attach(https.createServer())', () => {
  let node
  let front
  before(async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }])
    const server = () => https.createServer({ key, cert })
    node = await open('node:https', app => server().on('request', app.callback()).listen(0, '127.0.0.1'), define)
    front = await open('front', app => app.attach(server()).listen(0, '127.0.0.1'), define)
  })
  after(() => Promise.all([node, front].map(side => side.close())))

  // A handshake costs more than a case: the level of the app goes round.
  const levels = ['fast', 'materialised', 'late']

  for (const [number, app] of levels.entries()) {
    it(`should respond with the corpus as node does, ${app}`, async () => {
      const random = randomFrom(3)
      const found = []
      for (const [i, { file, title, server, parts }] of corpus().entries()) {
        if (Object.keys(server).length || i % levels.length !== number) continue
        const steps = parts.flatMap(part => Buffer.isBuffer(part) ? cuts.random(part, random, 3) : part)
        const [a, b] = [await exchange(node, steps, { app }), await exchange(front, steps, { app })]
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

  for (const secure of [true, false]) {
    it(`should be handled in their order when a handler ends earlier responses, ${secure ? 'TLS' : 'plain'}`, async t => {
      const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }])
      const requests = READS.reduce((sum, count) => sum + count)
      const dispatched = []
      const open = []
      const app = new Kone()
      app.use(ctx => {
        const number = Number(ctx.path.slice(1))
        dispatched.push(number)
        ctx.respond = false
        open.push(() => ctx.outgoing.end(`${number}`))
        if (number === 520 || number === requests - 1) endAll()
      })
      function endAll () {
        for (const end of open.splice(0).reverse()) end() // the first one last
      }

      const server = secure ? app.attach(https.createServer({ key, cert })) : app.attach(http.createServer())
      t.after(() => { server.closeAllConnections(); server.close() })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address()
      const accepted = once(server, secure ? 'secureConnection' : 'connection')
      const client = secure ? tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false }) : net.connect(port, '127.0.0.1')
      const [socket] = await accepted

      // TLS passes on the records that it has although the socket no longer reads.
      let next = 0
      for (const count of READS) {
        const numbers = Array.from({ length: count }, () => next++)
        socket.push(Buffer.from(numbers.map(number => `GET /${number} HTTP/1.1\r\nHost: a\r\n\r\n`).join('')))
      }
      setImmediate(endAll)
      let text = ''
      for await (const chunk of client.setEncoding('latin1')) {
        text += chunk
        if (text.endsWith(`\r\n\r\n${requests - 1}`)) break
      }

      const inOrder = Array.from({ length: requests }, (_, number) => number)
      assert.deepEqual(dispatched, inOrder)
      assert.deepEqual([...text.matchAll(/\r\n\r\n(\d+)/g)].map(match => Number(match[1])), inOrder)
    })
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
  let key
  let cert
  before(async () => {
    ({ private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }]))
  })

  for (const [what, [expected, handler, requests = 1]] of Object.entries(WRITES)) {
    it(`should be ${expected} for ${what}, and be followed by 'finish'`, async t => {
      const app = new Kone()
      let finished = 0
      app.use(ctx => {
        ctx.onFinished(err => { if (!err) finished++ })
        handler(ctx)
      })
      const server = app.attach(https.createServer({ key, cert }))
      const writes = []
      server.on('secureConnection', socket => {
        const { write } = socket
        socket.write = function (chunk, ...rest) {
          writes.push(chunk.length)
          return write.call(this, chunk, ...rest)
        }
      })
      server.listen(0, '127.0.0.1')
      t.after(() => { server.closeAllConnections(); server.close() })
      await once(server, 'listening')

      const client = tls.connect({ port: server.address().port, host: '127.0.0.1', rejectUnauthorized: false })
      client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(requests - 1) + 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      client.resume()
      await once(client, 'close')
      assert.equal(writes.length, expected, `${writes}`)
      assert.equal(finished, requests)
    })
  }
})
