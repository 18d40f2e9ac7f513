'use strict'

const { afterEach, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const path = require('node:path')
const { promisify } = require('node:util')
const { createTerminus } = require('@godaddy/terminus')
const { Server: SocketServer } = require('socket.io')
const { io } = require('socket.io-client')
const stoppable = require('stoppable')
const WebSocket = require('ws')

const Kone = require('../helpers/kone')
const { get, sides, talk, waitFor } = require('./sides')

const hello = app => app.use(ctx => { ctx.body = 'hello' })

/** Node's connection listener has this socket: kone falls back to node:http. */
const isNodes = socket => 'parser' in socket

describe('kone falls back to node:http', () => {
  const open = []
  afterEach(async () => {
    for (const server of open.splice(0)) {
      server.closeAllConnections()
      if (server.listening) await new Promise(resolve => server.close(resolve))
    }
  })

  async function serve (app, server = http.createServer()) {
    app.silent = true
    if (!app.middleware.length) hello(app)
    app.attach(server).listen(0, '127.0.0.1')
    open.push(server)
    await once(server, 'listening')
    const sockets = []
    server.on('connection', socket => sockets.push(socket))
    return { server, sockets, talk: bytes => talk(server.address().port, bytes) }
  }

  /** One request on a connection of its own: was it node's? */
  async function asksNode ({ talk, sockets }) {
    const client = await talk(get('/'))
    await client.until(/hello$/)
    client.destroy()
    return isNodes(sockets.at(-1))
  }

  it('never without a reason', async () => {
    assert.equal(await asksNode(await serve(new Kone())), false)
  })

  it('with new Kone({ http1: false })', async () => {
    assert.equal(await asksNode(await serve(new Kone({ http1: false }))), true)
  })

  it('with app.http1 = false, from one request to the next', async () => {
    const app = new Kone()
    const site = await serve(app)
    const client = await site.talk(get('/'))
    await client.until(/hello$/)
    assert.equal(isNodes(site.sockets[0]), false)
    app.http1 = false
    client.write(get('/'))
    await client.until(/hello[^]+hello$/)
    assert.equal(isNodes(site.sockets[0]), true)
    app.http1 = true
    assert.equal(await asksNode(site), false)
  })

  it('with KONE_HTTP1=off', async () => {
    process.env.KONE_HTTP1 = 'off'
    try {
      assert.equal(await asksNode(await serve(new Kone())), true)
    } finally {
      delete process.env.KONE_HTTP1
    }
  })

  it("when a 'connection' listener was put in front", async () => {
    const site = await serve(new Kone())
    let seen = 0
    const listener = () => seen++
    site.server.prependListener('connection', listener)
    assert.equal(await asksNode(site), true)
    assert.equal(seen, 1)
    site.server.off('connection', listener)
    assert.equal(await asksNode(site), false)
  })

  it("when the 'connection' listeners were replaced", async () => {
    const site = await serve(new Kone())
    const listeners = site.server.listeners('connection')
    site.server.removeAllListeners('connection')
    site.server.on('connection', socket => {
      site.sockets.push(socket)
      for (const listener of listeners) listener.call(site.server, socket)
    })
    assert.equal(await asksNode(site), true)
  })

  const patches = [
    [http.ServerResponse.prototype, ['writeHead', '_implicitHeader', 'assignSocket', 'detachSocket', 'writeEarlyHints']],
    [http.OutgoingMessage.prototype, ['end', 'write', 'setHeader', 'getHeader', 'removeHeader', 'appendHeader', 'flushHeaders',
      'setHeaders', 'getHeaders', 'hasHeader', 'getHeaderNames', 'destroy', '_send', 'setTimeout']],
    [http.IncomingMessage.prototype, ['_read', '_destroy', 'setTimeout', 'on', 'emit']]
  ]
  for (const [prototype, names] of patches) {
    for (const name of names) {
      if (typeof prototype[name] !== 'function') continue
      it(`when ${prototype.constructor.name}.prototype.${name} is patched`, async () => {
        const site = await serve(new Kone())
        const own = Object.getOwnPropertyDescriptor(prototype, name)
        const real = prototype[name]
        Object.defineProperty(prototype, name, {
          configurable: true,
          writable: true,
          value (...args) { return real.apply(this, args) }
        })
        try {
          assert.equal(await asksNode(site), true)
        } finally {
          if (own) Object.defineProperty(prototype, name, own)
          else delete prototype[name]
        }
        assert.equal(await asksNode(site), false)
      })
    }
  }

  it('when the server was made with its own ServerResponse or IncomingMessage', async () => {
    class OwnResponse extends http.ServerResponse {}
    class OwnMessage extends http.IncomingMessage {}
    for (const options of [{ ServerResponse: OwnResponse }, { IncomingMessage: OwnMessage }]) {
      const app = new Kone()
      app.use(ctx => {
        assert(!options.ServerResponse || ctx.res instanceof OwnResponse)
        assert(!options.IncomingMessage || ctx.req instanceof OwnMessage)
        ctx.body = 'hello'
      })
      assert.equal(await asksNode(await serve(app, http.createServer(options))), true)
    }
  })

  for (const options of [{ insecureHTTPParser: true }, { uniqueHeaders: ['x-once'] }, { highWaterMark: 1024 }, { noDelay: false }]) {
    it(`or responds as node with ${JSON.stringify(options)}`, async () => {
      await asksNode(await serve(new Kone(), http.createServer(options)))
    })
  }

  it('when the app builds contexts of its own', async () => {
    for (const name of ['createContext', 'handleRequest', 'callback']) {
      const app = new Kone()
      const site = await serve(app)
      const real = app[name]
      app[name] = function (...args) { return real.apply(this, args) }
      await asksNode(site)
      delete app[name]
      assert.equal(await asksNode(site), false)
    }
  })
})

describe('socket.io', () => {
  it('should share a server with the app', { timeout: 10000 }, async () => {
    const app = new Kone()
    hello(app)
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address()
    const sockets = new SocketServer(server)
    sockets.on('connection', socket => socket.on('ask', (what, answer) => answer(`${what}!`)))
    try {
      for (const transports of [['polling'], ['websocket'], ['polling', 'websocket']]) {
        const client = io(`http://127.0.0.1:${port}`, { transports, forceNew: true, reconnection: false })
        assert.equal(await client.timeout(5000).emitWithAck('ask', transports[0]), `${transports[0]}!`)
        client.disconnect()
      }
      const plain = await talk(port, get('/'))
      await plain.until(/hello$/)
    } finally {
      await sockets.close()
      server.closeAllConnections()
    }
  })
})

sides('ws', ({ it, serve }) => {
  it('should share a server with the app', async () => {
    const { server, port, talk } = await serve(hello)
    const wss = new WebSocket.Server({ server })
    wss.on('connection', socket => socket.on('message', data => socket.send(`${data}!`)))
    const client = new WebSocket(`ws://127.0.0.1:${port}`)
    await once(client, 'open')
    for (const what of ['one', 'two']) {
      client.send(what)
      const [data] = await once(client, 'message')
      assert.equal(String(data), `${what}!`)
    }
    const plain = await talk(get('/'))
    await plain.until(/hello$/)
    client.close()
    await once(client, 'close')
    wss.close()
  })
})

sides('stoppable', ({ it, serve }) => {
  it('should end idle connections and wait for busy ones', async () => {
    let answer
    const { server, talk } = await serve(app => app.use(async ctx => {
      if (ctx.path === '/slow') await new Promise(resolve => { answer = resolve })
      ctx.body = 'hello'
    }))
    stoppable(server, 5000)
    const idle = await talk(get('/'))
    await idle.until(/hello$/)
    const busy = await talk(get('/slow'))
    await waitFor(() => answer, 'the slow request')
    const stopped = new Promise(resolve => server.stop((err, graceful) => resolve([err, graceful])))
    await idle.all()
    assert(!busy.ended)
    answer()
    await busy.until(/hello$/)
    await busy.all()
    assert.deepEqual(await stopped, [undefined, true])
  })
})

sides('@godaddy/terminus', ({ it, serve }) => {
  it('should respond with health checks beside the app, then drain on the signal', async () => {
    const calls = []
    const { server, talk } = await serve(hello)
    createTerminus(server, {
      healthChecks: { '/health': async () => ({ fine: true }) },
      signals: [],
      onSignal: async () => calls.push('signal'),
      useExit0: true,
      logger: () => {}
    })
    const health = await talk(get('/health'))
    await health.until(/"status":"ok"[^]*"fine":true/)
    const plain = await talk(get('/'))
    await plain.until(/hello$/)
  })
})

describe('OpenTelemetry', () => {
  const run = promisify(execFile)

  it('should get the spans of koa from kone in its place', async () => {
    const script = path.join(__dirname, 'opentelemetry.js')
    const [koa, kone] = await Promise.all(['koa', 'kone'].map(async name => {
      const { stdout } = await run(process.execPath, [script, name])
      return JSON.parse(stdout)
    }))
    assert(koa.some(span => span.scope.includes('instrumentation-koa')))
    assert(koa.some(span => span.scope.includes('instrumentation-http')))
    assert.deepEqual(kone, koa)
  })
})
