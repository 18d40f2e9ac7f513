'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const https = require('node:https')
const { describe, it, after } = require('node:test')
const { setImmediate: immediate } = require('node:timers/promises')
const { Server } = require('socket.io')
const { io } = require('socket.io-client')
const Koa = require('koa')
const compose = require('koa-compose')
const mount = require('koa-mount')
const { Registry } = require('prom-client')
const { generate } = require('selfsigned')
const { WebSocket, WebSocketServer } = require('ws')
const Kone = require('kone')
const set = require('kone/middleware')
const logger = require('kone/middleware/logger')
const metrics = require('kone/middleware/metrics')
const openapi = require('kone/middleware/openapi')
const Router = require('kone/middleware/router')
const timeout = require('kone/middleware/timeout')
const websocket = require('kone/middleware/websocket')
const { routesOf } = require('../../command/table')
const { connect, frame, handshake, requestOf, responseOf } = require('../helpers/handshake')
const seeing = require('../helpers/seeing')
const until = require('../helpers/until')

const echo = async socket => { for await (const message of socket) await socket.send(`kone ${message}`) }

for (const [name, serve] of Object.entries({
  front: app => app.listen(0),
  'node:http': app => Object.assign(app, { http1: false }).listen(0),
  'attach() before the routes': (app, routes) => {
    const server = app.attach(http.createServer())
    routes()
    return server.listen(0)
  }
})) {
  describe(`websocket beside other code, ${name}`, () => {
    const closing = []
    after(() => closing.forEach(close => close()))

    const start = async (route = echo) => {
      const app = seeing(new Kone())
      const routes = () => app.use(new Router().get('/kone/:id', websocket(route)).routes())
      if (!name.startsWith('attach')) routes()
      const server = serve(app, routes)
      closing.push(() => {
        server.close()
        server.closeAllConnections()
      })
      await once(server, 'listening')
      return { app, server, port: server.address().port }
    }
    const ask = async (port, path, protocols) => {
      const client = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols)
      closing.push(() => client.terminate())
      await once(client, 'open')
      client.send('hi')
      const [data] = await once(client, 'message')
      return String(data)
    }

    it('should leave others their handshakes, and not run the app for them', async () => {
      const { app, server, port } = await start()
      app.use(new Router().post('/post', websocket(echo)).routes())
      const wss = new WebSocketServer({ server, path: '/ws' })
      wss.on('connection', socket => socket.on('message', data => socket.send(`ws ${data}`)))
      const vite = new WebSocketServer({ noServer: true })
      server.on('upgrade', (req, socket, head) => {
        if (req.headers['sec-websocket-protocol'] === 'vite-hmr') vite.handleUpgrade(req, socket, head, one => one.on('message', data => one.send(`vite ${data}`)))
      })
      assert.equal(await ask(port, '/kone/1'), 'kone hi')
      assert.equal(await ask(port, '/ws'), 'ws hi')
      assert.deepEqual(app.seen, ['/kone/1'])
      for (const path of ['/kone', '/post']) {
        const unknown = await handshake(port, path)
        assert.deepEqual([unknown.status, app.seen.length], [400, 1], path) // ws's
      }
      assert.equal(server.listenerCount('upgrade'), 2)
      wss.close()
      server.removeAllListeners('upgrade')
      const ordinary = await handshake(port, '/kone')
      assert.deepEqual([ordinary.status, app.seen.length], [404, 2])
      ordinary.destroy()
      const alone = await handshake(port, '/kone/1')
      alone.destroy()
      assert.deepEqual([alone.status, server.listenerCount('upgrade')], [101, 0])
    })

    it('should run beside socket.io, over polling and WebSockets', async () => {
      const { app, server, port } = await start()
      const sio = new Server(server)
      sio.on('connection', socket => socket.on('say', (text, reply) => reply(`io ${text}`)))
      for (const transports of [['polling'], ['websocket']]) {
        const client = io(`http://127.0.0.1:${port}`, { transports, forceNew: true })
        closing.push(() => client.close())
        assert.equal(await client.emitWithAck('say', 'hi'), 'io hi')
      }
      assert.equal(await ask(port, '/kone/1'), 'kone hi')
      assert.deepEqual(app.seen, ['/kone/1'])
      closing.push(() => sio.close())
    })

    it('should know its handshakes by the path that ctx.path has, of a target in absolute form, too', async () => {
      const { server, port } = await start()
      const others = []
      server.on('upgrade', (req, socket) => others.push(req.url) && socket.destroy())
      for (const target of [`http://127.0.0.1:${port}/kone/1?a=/b`, 'HTTP://a.test/kone/1']) {
        const client = await handshake(port, target)
        client.destroy()
        assert.equal(client.status, 101, target)
      }
      const targets = ['http://a.test/none/../kone/1', 'http://a.test?/kone/1', 'http://[a', '*']
      for (const target of targets) (await handshake(port, target)).destroy()
      assert.deepEqual(others, targets)
    })

    it('should give the whole connection to the app with app.use(websocket())', async () => {
      const { app, server, port } = await start()
      app.use(websocket(echo))
      server.on('upgrade', () => assert.fail('another listener got it'))
      assert.equal(await ask(port, '/any?a=1'), 'kone hi')
    })

    it('should respond 503 to a handshake that waits when the drain begins, and end the others with 1001', async () => {
      let go
      const ends = []
      const { app, port } = await start(async (socket, ctx) => {
        await socket.closed
        ends.push(ctx.params.id)
      })
      app.middleware.splice(1, 0, async (ctx, next) => {
        if (ctx.params !== undefined || ctx.path !== '/kone/2') return next()
        ctx.set('X-Mine', '1')
        await new Promise(resolve => { go = resolve })
        return next()
      })
      const open = new WebSocket(`ws://127.0.0.1:${port}/kone/1`)
      await once(open, 'open')
      const deaf = await handshake(port, '/kone/3') // reads, and does not respond
      const kept = await connect(port)
      kept.write('GET /kept HTTP/1.1\r\nHost: a\r\n\r\n')
      await responseOf(kept)
      const waiting = await connect(port)
      waiting.write(requestOf(port, '/kone/2'))
      await until(() => go)
      const closed = app.close({ timeout: 20_000 })
      assert.equal((await once(open, 'close'))[0], 1001)
      const refused = await responseOf(waiting)
      assert.equal(refused.status, 503)
      assert.doesNotMatch(refused.head, /^X-Mine/m)
      assert.match(refused.head, /^Connection: close\r?$/m)
      kept.write(requestOf(port, '/kone/4'))
      assert.equal((await responseOf(kept)).status, 503)
      go()
      deaf.resume()
      await closed
      assert.deepEqual(ends.sort(), ['1', '3']) // it has waited for the handlers
      waiting.destroy()
      kept.destroy()
    })
  })
}

describe('websocket in servers of app.callback()', () => {
  it('should get the first handshake of a server, of which others get theirs', async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }])
    for (const [isSecure, create] of [[false, http.createServer], [true, fn => https.createServer({ key, cert }, fn)]]) {
      const app = new Kone()
      app.use(new Router().get('/kone', websocket(echo)).routes())
      const server = create(app.callback())
      const wss = new WebSocketServer({ server, path: '/ws' })
      server.listen(0)
      await once(server, 'listening')
      const statuses = []
      for (const path of ['/kone', '/ws', '/none', '/kone']) {
        const client = await handshake(server.address().port, path, { isSecure })
        statuses.push(client.status)
        client.destroy()
      }
      assert.deepEqual(statuses, [101, 101, 400, 101])
      wss.close()
      server.close()
    }
  })
})

describe('websocket and the rest of the set', () => {
  for (const http1 of [true, false]) {
    it(`should be behind all that acts on requests, ${http1 ? 'front' : 'node:http'}`, async () => {
      const ended = []
      const app = new Kone({ http1, keys: ['0123456789abcdef0123456789abcdef'], env: 'production' })
      app.on('error', err => ended.push(err))
      const overloaded = set.overload({ maxEventLoopDelay: false, maxRssBytes: 1 })
      app.use((ctx, next) => ctx.query.overloaded ? overloaded(ctx, next) : next())
      for (const fn of [
        set.overload({ maxEventLoopDelay: false }), set.requestId(), set.helmet(), set.cors(), set.rateLimit({ max: 3 }),
        set.timeout(60_000), set.compress({ threshold: 0 }), set.conditionalGet(), set.etag(), set.jsonp(), set.isolate(),
        set.session(), set.csrf(), set.bodyParser(), set.upload(), set.static(__dirname), set.favicon(),
        set.i18n(app, { locales: { en: {} } })
      ]) app.use(fn)
      app.use(new Router().get('/chat', websocket(async (socket, ctx) => {
        for await (const message of socket) await socket.send(`${ctx.state.reqId ?? ctx.reqId ?? ''} ${message}`)
        ended.push('handler')
      })).routes())
      const server = app.listen(0)
      await once(server, 'listening')
      const { port } = server.address()
      const headers = {
        Origin: `http://127.0.0.1:${port}`, 'Sec-Fetch-Site': 'cross-site', 'Accept-Encoding': 'gzip, br', 'If-None-Match': '*'
      }
      const refused = await handshake(port, '/chat?overloaded=1', { headers })
      const open = []
      for (let i = 0; i < 4; i++) open.push(await handshake(port, '/chat?callback=f', { headers }))
      assert.deepEqual([refused, ...open].map(({ status }) => status), [503, 101, 101, 101, 429])
      const [first,,, limited] = open
      for (const { head } of [refused, limited]) assert.match(head, /^Retry-After: \d+\r?$[^]*^Connection: close\r?$/mi)
      for (const name of ['X-Request-Id', 'X-RateLimit-Remaining', 'X-Frame-Options', 'Access-Control-Allow-Origin']) {
        assert.match(first.head, new RegExp(`^${name}: `, 'mi'))
      }
      assert.doesNotMatch(first.head, /^(?:content-|etag|transfer-encoding)/mi)
      first.write(frame('hi'))
      let text = first.rest.toString('latin1')
      while (!text.includes(' hi')) text += String((await once(first, 'data'))[0])
      assert.deepEqual(ended, [])
      const closed = app.close({ grace: 0 })
      for (const client of open) client.resume().write(frame('', 8))
      await closed
      assert.deepEqual(ended, ['handler', 'handler', 'handler'])
    })
  }

  it('should be waited for at each close of an app that listens again', async () => {
    let ended = 0
    const app = new Kone()
    app.use(websocket(async socket => {
      await socket.closed
      await new Promise(resolve => setTimeout(resolve, 20))
      ended++
    }))
    for (const times of [1, 2]) {
      const server = app.listen(0)
      await once(server, 'listening')
      await once(new WebSocket(`ws://127.0.0.1:${server.address().port}/`), 'open')
      await app.close()
      assert.equal(ended, times)
    }
  })

  it('should be one line of logger behind its end, a gauge and messages of metrics, and a route of openapi and kone routes', async () => {
    const lines = []
    const app = new Kone()
    const register = new Registry()
    app.use(logger(line => lines.push(line), { format: ':method :url :status :content-length :response-time' }))
    app.use(metrics({ register, defaults: false }))
    app.use(openapi(app))
    app.use(timeout(200))
    const login = (ctx, next) => next()
    app.use(new Router().get('/chats/:id', login, websocket(async socket => {
      for await (const message of socket) await socket.send(message)
    })).routes())
    const server = app.listen(0)
    await once(server, 'listening')
    const { port } = server.address()
    const agent = new http.Agent({ keepAlive: true }) // as of a proxy: the connection has had a response before
    const [earlier] = await once(http.get({ host: '127.0.0.1', port, path: '/openapi.json', agent }), 'response')
    const size = (await earlier.toArray()).join('').length
    const client = new WebSocket(`ws://127.0.0.1:${port}/chats/1`, { agent })
    await once(client, 'open')
    client.send('hi')
    await once(client, 'message')
    const text = async () => (await app.inject('/metrics')).text()
    assert.match(await text(), /^websockets_open 1$/m)
    assert.match(await text(), /^http_requests_in_flight 0$/m)
    assert.match(await text(), /_count{method="GET",route="\/chats\/:id",status="101"} 1/)
    await once(setTimeout(() => client.emit('later'), 250).unref() && client, 'later')
    assert.deepEqual(lines.filter(line => line.includes('chats')), [])
    client.close()
    await until(() => lines.some(line => line.includes('chats')))
    const [, bytes, ms] = /^GET \/chats\/1 101 (\d+) (\d+)$/.exec(lines.find(line => line.includes('chats')))
    assert(bytes > 130 && bytes < size && ms >= 250, `${bytes} bytes, ${ms} ms, ${size} bytes before`)
    assert.match(await text(), /^websockets_open 0$/m)
    assert.match(await text(), /^websocket_messages_total{direction="received"} [1-9]/m)
    const { paths } = (await app.inject('/openapi.json')).json()
    assert.deepEqual(Object.keys(paths['/chats/{id}'].get.responses), ['101'])
    assert.deepEqual(routesOf(app), [{ method: 'GET', path: '/chats/:id', middleware: ['login', 'websocket'] }])
    await app.close({ grace: 0 })
  })
})

describe('websocket where kone cannot take the connection', () => {
  const reasonOf = async (middleware, ask) => {
    const errors = []
    const app = new (middleware.Koa ?? Kone)()
    app.on('error', err => errors.push(err.message))
    app.use(middleware.fn)
    if (middleware.then) app.use(middleware.then)
    const server = http.createServer(app.callback()).listen(0)
    await once(server, 'listening')
    const client = await handshake(server.address().port, '/')
    client.destroy()
    server.close()
    return [client.status, errors.join()]
  }

  it('should say so in plain Koa, and inside of another function beside a route that is visible', async () => {
    const [status, message] = await reasonOf({ Koa, fn: websocket(() => {}) })
    assert.deepEqual([status, /this is Koa/.test(message)], [500, true], message)
    const fn = websocket(() => {})
    const inside = await reasonOf({ fn: new Router().get('/other', fn).routes(), then: ctx => fn(ctx) })
    assert.deepEqual([inside[0], /not inside of another function/.test(inside[1])], [500, true], inside[1])
  })

  it('should warn once, and say what to do, where a proxy does not pass on a handshake', async () => {
    for (const silent of [true, false]) {
      const app = Object.assign(new Kone({ env: 'production' }), { silent })
      app.use(websocket(echo))
      const server = app.listen(0)
      await once(server, 'listening')
      const { port } = server.address()
      const warnings = []
      const warn = warning => warnings.push(warning)
      process.on('warning', warn)
      const DEFAULTS = requestOf(port, '/chat', { Upgrade: undefined, Connection: 'close' }).replace('1.1', '1.0') // of nginx
      for (const bytes of ['GET /chat HTTP/1.1\r\nHost: a\r\n\r\n', DEFAULTS, DEFAULTS]) {
        const client = await connect(port)
        client.write(bytes)
        assert.equal((await responseOf(client)).status, 426)
        client.destroy()
      }
      await immediate()
      process.off('warning', warn)
      await app.close({ grace: 0 })
      assert.equal(warnings.length, silent ? 0 : 1)
      if (silent) continue
      assert.equal(warnings[0].code, 'KONE_WARN_HANDSHAKE')
      assert.match(warnings[0].message, /^websocket: a handshake of \/chat came without Upgrade: websocket: a proxy has to pass on Upgrade and Connection/)
    }
  })

  it('should accept inside of koa-compose and koa-mount, unless others listen for handshakes', async () => {
    for (const http1 of [true, false]) {
      const app = new Kone({ http1 })
      app.use(compose([mount('/a', websocket(echo)), mount('/b', new Kone().use(websocket(echo))), mount('/c', compose([(ctx, next) => next(), websocket(echo)]))]))
      const server = app.listen(0)
      await once(server, 'listening')
      const { port } = server.address()
      for (const path of ['/a', '/b/1', '/c']) {
        const client = new WebSocket(`ws://127.0.0.1:${port}${path}`)
        client.on('open', () => client.send('hi'))
        assert.equal(String((await once(client, 'message'))[0]), 'kone hi')
        client.terminate()
      }
      assert.equal((await handshake(port, '/none')).status, 404)
      const others = []
      server.on('upgrade', (req, socket) => others.push(req.url) && socket.destroy())
      await handshake(port, '/a')
      assert.deepEqual(others, ['/a'])
      await app.close({ grace: 0 })
    }
  })

  it('should leave the connection to other code of an app without a route that is visible', async () => {
    for (const http1 of [true, false]) {
      websocket(echo) // of another app of the process
      const app = new Kone({ http1 })
      const wss = new WebSocketServer({ noServer: true })
      app.use(async ctx => { // as koa-easy-ws
        ctx.respond = false
        const socket = await new Promise(resolve => wss.handleUpgrade(ctx.req, ctx.req.socket, Buffer.alloc(0), resolve))
        socket.on('message', data => socket.send(data))
        await once(socket, 'close')
      })
      const server = app.listen(0)
      await once(server, 'listening')
      const [client, open] = Array.from({ length: 2 }, () => new WebSocket(`ws://127.0.0.1:${server.address().port}`))
      await Promise.all([once(client, 'open'), once(open, 'open')])
      let bytes = 0
      client.on('message', ({ length }) => { bytes += length })
      for (let i = 0; i < 10; i++) client.send(Buffer.alloc(20_000))
      await until(() => bytes === 200_000)
      client.close(4000)
      assert.equal((await once(client, 'close'))[0], 4000)
      open.on('error', err => assert.fail(err)) // bytes that are no frame
      const closed = app.close({ grace: 0, timeout: 100 })
      assert.equal((await once(open, 'close'))[0], 1006)
      await closed
    }
  })

  it('should respond 426 over HTTP/2, and accept over HTTP/1.1 on the same port', async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }])
    const app = new Kone()
    app.on('error', () => {})
    app.use(websocket(echo))
    const server = app.attach(http2.createSecureServer({ key, cert, allowHTTP1: true })).listen(0)
    await once(server, 'listening')
    const { port } = server.address()
    const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    const stream = session.request({ ':path': '/' })
    const [headers] = await once(stream, 'response')
    assert.deepEqual([headers[':status'], headers.upgrade], [426, undefined])
    session.destroy()
    const client = await handshake(port, '/', { isSecure: true })
    assert.equal(client.status, 101)
    client.destroy()
    server.close()
    await immediate()
  })

  it('should throw without ws, for a handler that is no function, and for wrong options', () => {
    assert.throws(() => websocket(), /handler must be a function/)
    assert.throws(() => websocket(() => {}, { origin: '*' }), /origins/)
    assert.throws(() => websocket(() => {}, { origins: ['example.com'] }), /'https:\/\/example.com'/)
    assert.throws(() => websocket(() => {}, { ws: {} }), /the package ws/)
  })
})
