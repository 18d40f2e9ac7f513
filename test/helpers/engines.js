'use strict'

const { after, describe, it: test } = require('node:test')
const { once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const net = require('node:net')
const { Readable } = require('node:stream')
const { setImmediate, setTimeout } = require('node:timers/promises')

const Kone = require('./kone')
const share = require('./share')

// A response that does not come is a failure with a name, not a test file that never ends.
const PATIENCE = 20000

// The front can be switched off for a whole process; its engines would only be `listen` again.
const withoutFront = process.env.KONE_HTTP1 === 'off' ? 'KONE_HTTP1=off' : false

const withoutInject = Kone.prototype.inject ? false : 'this class has no app.inject()'

const withoutFetch = new Kone().fetch ? false : 'this class has no app.fetch()'

/**
 * Every way a request can reach an app. `prepare` runs on the app before the test's own setup,
 * `server` makes the server, `missing` is the reason why a class under test lacks the engine.
 */
const ENGINES = [
  {
    name: 'callback',
    server: app => http.createServer(app.callback()).listen(0, '127.0.0.1'),
    request: http1Request
  },
  {
    name: 'listen',
    prepare (app) { app.http1 = false },
    server: app => app.listen(0, '127.0.0.1'),
    request: http1Request
  },
  {
    name: 'http2',
    server: app => http2.createServer(app.callback()).listen(0, '127.0.0.1'),
    request: http2Request
  },
  {
    name: 'inject',
    missing: withoutInject || withoutFront,
    request: injectedRequest
  },
  {
    name: 'inject-node',
    like: 'inject',
    missing: withoutInject,
    request: options => injectedRequest({ ...options, engine: 'node' })
  },
  {
    name: 'http1',
    missing: withoutFront,
    server: app => app.listen(0, '127.0.0.1'),
    request: http1Request
  },
  {
    name: 'http1-materialised',
    missing: withoutFront,
    prepare: materialise,
    server: app => app.listen(0, '127.0.0.1'),
    request: http1Request
  },
  {
    name: 'create-context',
    missing: withoutFront,
    prepare: replaceCreateContext,
    server: app => app.listen(0, '127.0.0.1'),
    request: http1Request
  },
  {
    name: 'fetch',
    missing: withoutFetch,
    request: fetchedRequest
  },
  {
    name: 'fetch-materialised',
    like: 'fetch', // skips what that skips
    missing: withoutFetch,
    prepare: materialise,
    request: fetchedRequest
  }
]

function materialise (app) {
  app.use(function materialise (ctx, next) {
    if (!ctx.req || !ctx.res) throw new Error('ctx.req and ctx.res are always there')
    return next()
  })
}

/** As Koa's own createContext() and Egg's: objects of its own, with the prototypes of the app. */
function replaceCreateContext (app) {
  app.createContext = function (req, res) {
    const ctx = Object.create(this.context)
    const request = ctx.request = Object.create(this.request)
    const response = ctx.response = Object.create(this.response)
    ctx.app = request.app = response.app = this
    ctx.req = request.req = response.req = req
    ctx.res = request.res = response.res = res
    request.ctx = response.ctx = ctx
    request.response = response
    response.request = request
    ctx.originalUrl = request.originalUrl = req.url
    ctx.state = {}
    return ctx
  }
}

/** Of each pair one runs a suite, the other one with another commit: node's objects on node's server, or elsewhere. */
const TURNS = [['callback', 'listen'], ['inject-node', 'create-context']]

/**
 * State a behaviour once and have it tested on every engine.
 *
 *    engines('ctx.body=', ({ it, ask, see }) => {
 *      it('should respond with 204 when set to null', async () => {
 *        const res = await ask(app => app.use(ctx => { ctx.body = null }), 'GET /')
 *        assert.equal(res.status, 204)
 *      })
 *
 *      it('should know the socket', { skip: { inject: 'has no socket' } }, async () => {
 *        assert(await see(ctx => ctx.socket.remoteAddress, 'GET /'))
 *      })
 *    })
 *
 * - `it(title, { skip: { engine: reason } }, fn)`: node's `it`, an engine that skips says why
 * - `serve(setup, appOptions)`: an app that stays until the end of the suite, with its own `ask`
 * - `ask(setup, 'METHOD /target', { headers, body, app })`: one response of one app
 * - `see(read, 'METHOD /target', { headers, body, app })`: what `read(ctx)` gives in a middleware
 */
function engines (title, define) {
  describe(title, () => {
    const left = new Set(TURNS.flatMap(pair => pair.filter(name => !share.one(pair, title).includes(name))))
    for (const engine of ENGINES.filter(({ name }) => !left.has(name))) {
      describe(engine.name, { skip: engine.missing }, () => define(bench(engine)))
    }
  })
}

function bench (engine) {
  const running = new Set()

  after(() => Promise.all(Array.from(running, close => close())))

  function it (title, options, fn) {
    if (typeof options === 'function') return test(title, options)
    const { skip, ...rest } = options
    const reason = skip?.[engine.name] ?? skip?.[engine.like]
    return test(title, { ...rest, skip: reason ? `${engine.name}: ${reason}` : false }, fn)
  }

  async function serve (setup, options) {
    const app = new Kone(options)
    app.silent = true
    if (engine.prepare) engine.prepare(app)
    await setup(app)

    const client = await connect(engine, app)
    running.add(client.close)
    return {
      app,
      ...client,
      close () {
        running.delete(client.close)
        return client.close()
      }
    }
  }

  async function ask (setup, line, { app: options, ...request } = {}) {
    const { ask, close } = await serve(setup, options)
    try {
      return await ask(line, request)
    } finally {
      await close()
    }
  }

  async function see (read, line, options) {
    let outcome
    await ask(app => app.use(async ctx => {
      outcome = Promise.resolve().then(() => read(ctx))
      await outcome.catch(() => {})
      ctx.body = ''
    }), line, options)
    return outcome
  }

  return { engine: engine.name, it, serve, ask, see }
}

/** Start `app` on `engine`: `{ server, port, ask(line, { headers, body }), close() }`. */
async function connect (engine, app) {
  const server = engine.server?.(app)
  if (server && !server.listening) await once(server, 'listening')

  const port = server?.address().port
  const agent = new http.Agent({ keepAlive: true })
  const sessions = new Set() // of HTTP/2, whose servers have no closeAllConnections()
  server?.on('session', session => sessions.add(session))
  const ask = (line, { headers = {}, body } = {}) => {
    const [method, ...target] = line.split(' ')
    return engine.request({ app, port, agent, method, target: target.join(' '), headers, body })
  }
  const close = () => {
    agent.destroy()
    if (!server) return setImmediate() // what Kone looks at in a turn of its own would pile up: inject() waits for nothing
    server.closeAllConnections?.()
    for (const session of sessions) session.destroy()
    return new Promise(resolve => server.close(resolve))
  }

  return { server, port, ask, close }
}

function http1Request ({ port, agent, method, target, headers, body }) {
  return new Promise((resolve, reject) => {
    const request = http.request({
      host: '127.0.0.1',
      port,
      agent,
      method,
      path: target,
      headers: { ...framing(headers, body), ...headers }
    })
    request.setTimeout(PATIENCE, () => request.destroy(noAnswer(method, target)))
    request.on('error', reject)
    request.on('response', async response => {
      const { bytes, complete } = await drain(response)
      resolve(answer(response.statusCode, response.headers, bytes, {
        complete,
        message: response.statusMessage,
        rawHeaders: response.rawHeaders
      }))
    })
    request.end(body)
  })
}

function noAnswer (method, target) {
  return new Error(`${method} ${target} had no response within ${PATIENCE} ms`)
}

/** The length of a body, which node's clients leave out for some methods and for HTTP/2. */
function framing (headers, body) {
  if (body === undefined || headers['transfer-encoding']) return {}
  return { 'content-length': Buffer.byteLength(body) }
}

// RFC 9113, 8.2.2: fields of the connection do not exist in HTTP/2
const CONNECTION_FIELDS = new Set([
  'connection', 'host', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'
])

async function http2Request ({ port, method, target, headers, body }) {
  const session = http2.connect(`http://127.0.0.1:${port}`)
  const fields = { ':method': method, ':path': target, ...framing(headers, body) }
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() === 'host') fields[':authority'] = value
    if (!CONNECTION_FIELDS.has(name.toLowerCase())) fields[name] = value
  }

  try {
    const stream = session.request(fields)
    const failed = new Promise((resolve, reject) => {
      stream.on('error', reject)
      stream.on('close', () => reject(new Error(`${method} ${target} was reset: ${stream.rstCode}`)))
    })
    failed.catch(() => {})
    const drained = drain(stream)
    stream.setTimeout(PATIENCE, () => stream.destroy(noAnswer(method, target)))
    stream.end(body)
    const [response] = await Promise.race([once(stream, 'response'), failed])
    const { bytes, complete } = await drained
    const { ':status': status, ...rest } = response
    return answer(status, rest, bytes, { complete: complete && !stream.rstCode })
  } finally {
    session.destroy()
  }
}

async function injectedRequest ({ app, method, target, headers, body, engine }) {
  const response = await app.inject({ method, url: target, headers, body, engine })
  return answer(response.status, response.headers, response.body, { complete: true, message: response.message })
}

async function fetchedRequest ({ app, method, target, headers, body }) {
  const fields = new Headers()
  for (const [name, value] of Object.entries({ ...framing(headers, body), ...headers })) {
    for (const one of [].concat(value)) fields.append(name, one)
  }
  if (!fields.has('host')) fields.set('host', '127.0.0.1')
  const url = target.startsWith('/') ? `http://127.0.0.1${target}` : target
  const response = await within(PATIENCE, noAnswer(method, target),
    app.fetch(new Request(url, { method, headers: fields, body }), { ip: '127.0.0.1' }))

  const received = Object.fromEntries(response.headers)
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) received['set-cookie'] = cookies
  const { bytes, complete } = await drain(Readable.fromWeb(response.body ?? new Blob([]).stream()))
  return answer(response.status, received, bytes, { complete, message: response.statusText })
}

async function within (ms, err, promise) {
  const timer = new AbortController()
  const late = setTimeout(ms, undefined, { signal: timer.signal }).then(() => { throw err })
  late.catch(() => {})
  try {
    return await Promise.race([promise, late])
  } finally {
    timer.abort()
  }
}

/** All bytes of a stream, and whether it came to its end. */
function drain (stream) {
  const chunks = []

  return new Promise(resolve => {
    const done = complete => resolve({ bytes: Buffer.concat(chunks), complete })
    stream.on('data', chunk => chunks.push(chunk))
    stream.once('end', () => done(true))
    stream.once('error', () => done(false))
    stream.once('close', () => done(false))
  })
}

function answer (status, headers, body, more) {
  const text = body.toString()
  return { status, headers: { ...headers }, body, text, json: () => JSON.parse(text), ...more }
}

/**
 * Write bytes to a port and give back, as latin1 text, all that comes until the server ends the
 * connection.
 *
 *    await exchange(port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
 */
async function exchange (port, bytes) {
  const socket = net.connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(bytes, 'latin1')
  const { bytes: answered } = await drain(socket)
  return answered.toString('latin1')
}

module.exports = engines
module.exports.connect = (name, app) => connect(ENGINES.find(engine => engine.name === name), app)
module.exports.exchange = exchange
