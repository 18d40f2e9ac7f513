'use strict'

const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const net = require('node:net')
const { describe, it } = require('node:test')
const { setImmediate: tick } = require('node:timers/promises')
const zlib = require('node:zlib')

const { bodyParser } = require('../../middleware')
const Kone = require('../helpers/kone')
const engines = require('../helpers/engines')

/** How a request can end before its body was read: what its handler does, and then its client. */
const ENDS = {
  'the client leaves': { then: client => client.leave() },
  'the client cancels its request': { then: client => (client.cancel ?? client.leave)() },
  'the client ends its side': { then: client => client.end() },
  'the body is malformed': { then: client => client.send('x\r\n') },
  'the server closes its connections': { then: (client, server) => server.closeAllConnections() },
  'the app destroys the socket': { handle: (ctx, body) => ctx.socket.destroy() && body },
  'the app destroys ctx.req': { handle: (ctx, body) => ctx.req.destroy() && body },
  'the app destroys ctx.res': { handle: (ctx, body) => ctx.res.destroy() && body },
  'the response closes the connection': {
    handle (ctx) {
      ctx.set('Connection', 'close')
      ctx.body = 'early'
    }
  },
  'the client leaves after the response': {
    handle: respondEarly,
    async then (client) {
      await client.responded
      client.leave()
    }
  },
  'the rest comes after the response': {
    handle: respondEarly,
    async then (client) {
      await client.responded
      client.send('2\r\nbc\r\n0\r\n\r\n')
    },
    outcome: 'abc'
  }
}

function respondEarly (ctx) {
  ctx.body = 'early'
}

const WHOLE = { inject: 'every request has its whole body' }

/** What an engine does not have. */
const LACKS = {
  http2: ['the body is malformed', 'the server closes its connections', 'the response closes the connection'],
  fetch: ['the body is malformed', 'the server closes its connections', 'the response closes the connection']
}
LACKS['fetch-materialised'] = LACKS.fetch

/** A request with the first byte of its body, and a client that goes on by hand. */
function halfRequest (engine, { app, port }) {
  if (engine === 'http2') return halfStream(port)
  if (engine.startsWith('fetch')) return halfFetch(app)
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
  const responded = new Promise(resolve => socket.on('data', resolve))
  setImmediate(() => socket.write('1\r\na\r\n'))
  return { responded, send: text => socket.write(text), end: () => socket.end(), leave: () => socket.destroy() }
}

function halfStream (port) {
  const session = http2.connect(`http://127.0.0.1:${port}`)
  const stream = session.request({ ':method': 'POST', ':path': '/' })
  session.on('error', () => {})
  stream.on('error', () => {})
  stream.write('a')
  const responded = new Promise(resolve => stream.on('data', resolve))
  return { responded, send: () => stream.end('bc'), end: () => session.destroy(), leave: () => session.destroy(), cancel: () => stream.destroy() }
}

function halfFetch (app) {
  let controller
  const body = new ReadableStream({
    start (it) {
      controller = it
      controller.enqueue(Buffer.from('a'))
    }
  })
  const request = new Request('http://a/', { method: 'POST', body, duplex: 'half' })
  const responded = app.fetch(request).catch(() => {})
  const leave = () => controller.error(new Error('the client has left'))
  return {
    responded,
    send () {
      controller.enqueue(Buffer.from('bc'))
      controller.close()
    },
    end: leave,
    leave
  }
}

engines('readBody() of a request that ends early', ({ it, serve, engine }) => {
  const ends = Object.entries(ENDS).filter(([name]) => !LACKS[engine]?.includes(name))
  for (const [name, { handle, then, outcome: expected = 'KONE_ERR_BODY_ABORTED' }] of ends) {
    it(`should settle when ${name}`, { skip: WHOLE, timeout: 20000 }, async () => {
      const begun = new EventEmitter()
      const { app, server, port, close } = await serve(app => app.use(async ctx => {
        const body = Promise.resolve(ctx.request.readBody()).then(String, err => err.code)
        begun.emit('request', { body })
        if (handle) await handle(ctx, body)
        else await body
      }))
      const request = once(begun, 'request')
      const client = halfRequest(engine, { app, port })
      try {
        const [{ body }] = await request
        await tick()
        await then?.(client, server)
        assert.equal(await body, expected)
      } finally {
        client.leave()
        await close()
      }
    })
  }
})

engines('readBody() of a body that came whole, and whose client has left', ({ it, serve, engine }) => {
  for (const [how, leave] of [['ended its side', socket => socket.end()], ['closed the connection', socket => socket.destroy()]]) {
    for (const framing of ['Content-Length: 208\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\nd0\r\n']) {
      it(`should give it: ${how}, ${framing.split(':')[0]}`, {
        skip: { ...WHOLE, http2: 'a stream that its client cancels has no bytes', fetch: 'nor has a body that is cancelled' },
        timeout: 20000
      }, async () => {
        const outcome = new EventEmitter()
        const { port, close } = await serve(app => app.use(async ctx => {
          const { socket } = ctx
          await (socket.destroyed || once(socket, 'close'))
          await tick()
          outcome.emit('body', await Promise.resolve(ctx.request.readBody()).then(String, err => err.code))
        }))
        const settled = once(outcome, 'body')
        const socket = net.connect(port, '127.0.0.1')
        const body = 'x'.repeat(208)
        socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${framing}${body}${framing.includes('chunked') ? '\r\n0\r\n\r\n' : ''}`, () => leave(socket))
        try {
          assert.deepEqual(await settled, [body])
        } finally {
          await close()
        }
      })
    }
  }
})

describe('readBody() and bodyParser of a cloud function, which has read the body', () => {
  for (const encoding of ['identity', 'gzip']) {
    it(`should take req.rawBody: ${encoding}`, async () => {
      const app = new Kone()
      app.use(async (ctx, next) => {
        assert.equal(String(await ctx.request.readBody()), '{"a":1}')
        const { request } = new Kone().createContext(ctx.req, ctx.res)
        await assert.rejects(async () => request.readBody({ limit: 6 }), { status: 413 })
        return next()
      })
      app.use(bodyParser())
      app.use(ctx => { ctx.body = ctx.request.body })
      const listener = app.callback()
      // as functions-framework does: body-parser has decompressed it
      const server = http.createServer(async (req, res) => {
        const chunks = await req.toArray()
        req.rawBody = encoding === 'gzip' ? zlib.gunzipSync(Buffer.concat(chunks)) : Buffer.concat(chunks)
        listener(req, res)
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const body = encoding === 'gzip' ? zlib.gzipSync('{"a":1}') : '{"a":1}'
      const headers = { 'Content-Type': 'application/json', 'Content-Encoding': encoding }
      const res = await fetch(`http://127.0.0.1:${server.address().port}/`, { method: 'POST', headers, body })
      server.close()
      assert.deepEqual([res.status, await res.text()], [200, '{"a":1}'])
    })
  }
})

engines('ctx.req after readBody()', ({ it, ask }) => {
  it('should be a stream that was read to its end, not an empty one', async () => {
    for (const [line, body] of [['POST /', 'text'], ['GET /']]) {
      const res = await ask(app => app.use(async ctx => {
        await ctx.request.readBody()
        const { complete, readable, readableEnded } = ctx.req
        ctx.body = { complete, readable, readableEnded }
      }), line, { body })
      assert.deepEqual(res.json(), { complete: true, readable: false, readableEnded: true }, line)
    }
  })
})
