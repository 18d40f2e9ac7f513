'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const Module = require('node:module')
const { describe, it } = require('node:test')
const { Registry } = require('prom-client')
const { WebSocket } = require('ws')
const Kone = require('kone')
const Bluebird = require('kone/bluebird')
const logger = require('kone/middleware/logger')
const metrics = require('kone/middleware/metrics')
const Router = require('kone/middleware/router')
const session = require('kone/middleware/session')
const websocket = require('kone/middleware/websocket')
const until = require('../helpers/until')

/*
 * app.inject.websocket() beside ws's client on a port: what a test can see is the same.
 */

const servers = new WeakMap()

/** `open(app, path, { headers, protocols })` gives a client, or rejects with `{ status, headers, body }`. */
const WAYS = {
  'a port': async (app, path, { headers, protocols = [] } = {}) => {
    if (!servers.has(app)) servers.set(app, app.listen(0))
    const server = servers.get(app)
    if (!server.listening) await once(server, 'listening')
    const client = new WebSocket(`ws://127.0.0.1:${server.address().port}${path}`, protocols, { headers })
    return new Promise((resolve, reject) => {
      client.once('open', () => resolve(client))
      client.once('error', reject)
      client.once('unexpected-response', async (req, res) => {
        reject(Object.assign(new Error('refused'), { status: res.statusCode, headers: res.headers, body: Buffer.concat(await res.toArray()) }))
      })
    })
  },
  front: (app, path, options) => app.inject.websocket(path, options),
  'node:http': (app, path, options) => app.inject.websocket(path, { engine: 'node', ...options })
}

const refusal = promise => promise.then(() => assert.fail('it is open'), ({ status, headers, body }) => {
  assert(Buffer.isBuffer(body))
  delete headers.date
  return [status, headers, String(body)]
})
const closeOf = client => once(client, 'close').then(([code, reason]) => `${code} ${reason}`.trim())
const sendOnce = (client, text) => {
  client.send(text)
  return once(client, 'message').then(([data, isBinary]) => isBinary ? data : String(data))
}

/** What a test sees → a function that sees it. */
const CASES = {
  'guards, the session and the fields of a 101 and of a refusal': async open => {
    const app = new Kone()
    app.keys = ['0123456789abcdef0123456789abcdef']
    const login = (ctx, next) => ctx.session.user ? next() : ctx.throw(401, 'who?', { headers: { 'X-Why': 'so' } })
    app.use(session())
    app.use(new Router()
      .post('/login', ctx => { ctx.session.user = 'ann'; ctx.status = 204 })
      .get('/rooms/:id', login, (ctx, next) => { ctx.set('X-Room', ctx.params.id); return next() }, websocket(async (socket, ctx) => {
        for await (const message of socket) await socket.send(`${ctx.session.user} in ${ctx.params.id}: ${message}`)
      })).routes())
    const { headers } = await app.inject({ method: 'POST', url: '/login' })
    const cookie = headers['set-cookie'].map(line => line.split(';')[0]).join('; ')
    const client = await open(app, '/rooms/1', { headers: { cookie } })
    const seen = [await sendOnce(client, 'hi'), await refusal(open(app, '/rooms/1')), await refusal(open(app, '/nowhere', { headers: { cookie } }))]
    client.close(4000, 'bye')
    seen.push(await closeOf(client))
    await app.close({ grace: 0 })
    return seen
  },

  'the origin, as the host of the request': async open => {
    const app = new Kone({ env: 'production' })
    app.use(websocket(() => {}, { origins: ['https://a.example'] }))
    const of = origin => open(app, '/', { headers: { host: 'app.test:81', origin } })
    const seen = [await refusal(of('https://evil.example')), await refusal(of('http://app.test')), await refusal(of('null'))]
    for (const origin of ['https://a.example', 'http://app.test:81']) seen.push(await closeOf(await of(origin)))
    await app.close({ grace: 0 })
    return seen
  },

  'the subprotocol, and bytes as bytes': async open => {
    const app = new Kone()
    app.use(websocket(socket => { socket.on('message', data => socket.send(data)) }, { protocols: ['b', 'a'] }))
    const client = await open(app, '/', { protocols: ['x', 'a', 'b'] })
    const seen = [client.protocol, await sendOnce(client, Buffer.from('bytes'))]
    client.close()
    seen.push(await closeOf(client), await open(app, '/', { protocols: ['x'] }).catch(err => err.message))
    await app.close({ grace: 0 })
    return seen
  },

  'the end of a handler, its error, and a message that is too long': async open => {
    const app = new Kone()
    const errors = []
    app.on('error', (err, ctx) => errors.push(`${err.message} ${ctx.path}`))
    app.use(websocket(async (socket, ctx) => {
      if (ctx.path === '/throws') throw new Error('broken')
      if (ctx.path === '/reads') for await (const message of socket) await socket.send(message)
    }, { maxPayload: 100 }))
    const seen = []
    for (const path of ['/ends', '/throws']) seen.push(await closeOf(await open(app, path)))
    const client = await open(app, '/reads')
    client.send('x'.repeat(101))
    seen.push(await closeOf(client))
    await app.close({ grace: 0 })
    return [seen, errors]
  },

  'app.close(): 1001, 503 for a handshake that waits, and the handlers are over': async open => {
    const app = new Kone()
    const order = []
    app.use(async (ctx, next) => {
      if (ctx.path === '/waits') await new Promise(resolve => app.emit('waiting', resolve))
      return next()
    })
    app.use(websocket(async socket => {
      await socket.closed
      await new Promise(resolve => setImmediate(resolve))
      order.push('handler')
    }))
    const client = await open(app, '/')
    const gone = await open(app, '/')
    gone.terminate()
    const waiting = refusal(open(app, '/waits'))
    const [go] = await once(app, 'waiting')
    const closed = app.close({ grace: 0 }).then(() => order.push('closed'))
    const code = await closeOf(client)
    const refused = await waiting
    go()
    await closed
    return [code, refused, order]
  }
}

describe('app.inject.websocket()', () => {
  for (const [what, look] of Object.entries(CASES)) {
    it(`should show what a client on a port sees: ${what}`, async () => {
      const expected = await look(WAYS['a port'])
      for (const way of ['front', 'node:http']) assert.deepEqual(await look(WAYS[way]), expected, way)
    })
  }

  it('should hold messages until the test reads them, and let a server wait whose messages nobody reads', async () => {
    const app = new Kone()
    let sent = 0
    app.use(websocket(async socket => {
      for (; sent < 100; sent++) await socket.send(`${sent} ${'x'.repeat(100_000)}`)
    }))
    const socket = await app.inject.websocket('/')
    await until(() => socket.isPaused)
    await new Promise(resolve => setTimeout(resolve, 20))
    assert(sent < 50, `${sent} were sent`)
    const numbers = []
    for await (const message of socket) numbers.push(parseInt(message))
    assert.deepEqual(numbers, Array.from({ length: 100 }, (_, i) => i))
    assert.deepEqual(await socket.closed, { code: 1000, reason: '' })
  })

  it('should end a handler that is sending when the client leaves', async () => {
    const app = new Kone()
    const ended = new Promise(resolve => {
      app.use(websocket(async socket => {
        while (socket.readyState === WebSocket.OPEN) await socket.send('x'.repeat(100_000)).catch(() => {})
        resolve((await socket.closed).code)
      }))
    })
    const socket = await app.inject.websocket('/')
    await until(() => socket.isPaused)
    socket.terminate()
    assert.equal(await ended, 1006)
  })

  it('should be one socket of metrics and one line of logger', async () => {
    const app = new Kone()
    const lines = []
    app.use(logger(line => lines.push(line), { format: ':method :url :status :content-length' }))
    app.use(metrics({ register: new Registry(), defaults: false }))
    app.use(new Router().get('/ws', websocket(async socket => { for await (const message of socket) await socket.send(message) })).routes())
    const valueOf = async name => Number((await app.inject('/metrics')).text().split('\n').find(line => line.startsWith(`${name} `)).split(' ')[1])
    const RECEIVED = 'websocket_messages_total{direction="received"}'
    await until(async () => await valueOf('websockets_open') === 0) // those of the other tests
    const before = await valueOf(RECEIVED)
    const socket = await app.inject.websocket('/ws')
    await sendOnce(socket, 'hi')
    assert.equal(await valueOf('websockets_open'), 1)
    assert.equal(await valueOf(RECEIVED), before + 1)
    await app.close()
    assert.equal(await valueOf('websockets_open'), 0)
    await until(() => lines.some(line => /^GET \/ws 101 \d{3}$/.test(line)))
  })

  it('should take what has no route in the same turn as an ordinary request', async () => {
    const app = new Kone()
    app.use(new Router().get('/ws', websocket(() => {})).routes())
    for (const engine of ['http1', 'node']) {
      const all = ['/ws', '/other', '/ws', '/other'].map(path => app.inject.websocket(path, { engine }).then(() => 101, err => err.status))
      assert.deepEqual(await Promise.all(all), [101, 404, 101, 404])
    }
  })

  it('should leave the process free to end', async () => {
    const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
    const app = new Kone()
    app.use(websocket(socket => socket.closed))
    await app.inject.websocket('/')
    const one = await app.inject.websocket('/')
    one.close()
    await one.closed
    await until(() => timers() === 0)
  })

  it('should give the promise of the app’s class, and let a test replace it', async () => {
    const app = new Bluebird()
    app.use(websocket(() => {}))
    const opening = app.inject.websocket('/')
    assert(opening instanceof app.Promise)
    await opening
    app.inject = () => 'mine'
    assert.equal(app.inject(), 'mine')
  })

  it('should name what is wrong', () => {
    const { inject } = new Kone()
    assert.throws(() => inject.websocket('chat'), /app\.inject\.websocket\(path\): path must be a path that begins with '\/', not 'chat'/)
    assert.throws(() => inject.websocket('/', { header: {} }), /app\.inject\.websocket\(\): options\.header is unknown: did you mean `headers`\?/)
    assert.throws(() => inject.websocket('/', { engine: 'fetch' }), /options\.engine must be/)
  })
})

describe('the options of websocket()', () => {
  const open = (options, { handler = () => {}, headers, protocols, env = 'production' } = {}) => {
    const app = new Kone({ env })
    app.use(websocket(handler, options))
    return app.inject.websocket('/', { headers: { host: 'a.test', ...headers }, protocols })
  }

  it('should allow the origins of each form, want one with requireOrigin, and name both hosts in development', async () => {
    const of = (options, origin, env) => open(options, { headers: { origin }, env })
      .then(() => 101, err => env ? String(err.body) : err.status)
    const one = (origin, ctx) => origin !== 'https://c.test' && ctx.path === '/' // it does not see 'null'
    const seen = {}
    const later = async (...args) => one(...args)
    const FORMS = { all: { origins: '*' }, fn: { origins: one }, async: { origins: later }, must: { requireOrigin: true } }
    for (const [name, options] of Object.entries(FORMS)) {
      seen[name] = await Promise.all(['https://b.test', 'https://c.test', 'null', 'http://a.test', undefined].map(origin => of(options, origin)))
    }
    assert.deepEqual(seen, {
      all: [101, 101, 101, 101, 101],
      fn: [101, 403, 403, 101, 101],
      async: [101, 403, 403, 101, 101],
      must: [403, 403, 403, 101, 403]
    })
    assert.match(await of({}, 'https://b.test', 'development'), /^Origin https:\/\/b\.test is not the host of the request, http:\/\/a\.test: .*\borigins\b/)
    assert.match(await of({ requireOrigin: true }, undefined, 'development'), /^no Origin is not the host/)
  })

  it('should choose the protocol by a function, and pass on compression to ws', async () => {
    assert.equal((await open({ protocols: (offered, ctx) => ctx.path === '/' && [...offered].at(-1) }, { protocols: ['a', 'b'] })).protocol, 'b')
    for (const perMessageDeflate of [true, { threshold: 0 }, undefined]) {
      const app = new Kone()
      app.use(websocket(socket => { socket.send('hi') }, { perMessageDeflate }))
      const client = await WAYS['a port'](app, '/')
      assert.equal(client.extensions, perMessageDeflate ? 'permessage-deflate' : '')
      await once(client, 'close')
      await app.close({ grace: 0 })
    }
  })

  it('should leave send() with a callback to ws, and let one loop read at a time', async () => {
    let results
    const handler = async socket => {
      const sent = (...args) => new Promise(resolve => socket.send(...args, err => resolve(err ? 'failed' : 'sent')))
      const [first, second] = [1, 2].map(() => socket[Symbol.asyncIterator]())
      const message = first.next()
      results = [await second.next().catch(err => err.message), await sent('a'), await sent(Buffer.from('b'), { binary: false }), (await message).value]
      socket.terminate()
      results.push(await sent('late'))
    }
    const client = await open({}, { handler })
    const got = []
    for await (const message of client) got.push(message) === 2 && client.send('c')
    assert.deepEqual([got, results], [['a', 'b'], ['websocket: two loops read one socket', 'sent', 'sent', 'c', 'failed']])
  })

  it('should say what to install without ws', t => {
    t.mock.method(Module.prototype, 'require', id => { throw new Error(`no ${id}`) })
    assert.throws(() => websocket(() => {}), /the package ws is missing: npm install ws/)
  })
})
