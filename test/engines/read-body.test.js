'use strict'

const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const http2 = require('node:http2')
const net = require('node:net')
const { setImmediate: tick } = require('node:timers/promises')

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
