'use strict'

/*
 * Servers that other code creates with app.callback(). Each case does something to one before its first request, or
 * after it, and talks to it: bytes, and what the listeners see, are those of the same server on node:http.
 */

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const { setImmediate: turn } = require('node:timers/promises')
const tls = require('node:tls')
const { isDeepStrictEqual } = require('node:util')
const { createTerminus } = require('@godaddy/terminus')
const express = require('express')
const { Server: SocketServer } = require('socket.io')
const stoppable = require('stoppable')

const Kone = require('kone')
const { duplexPair } = require('./harness')
const ownProcess = require('./own-process')
const { chunked, credentials, get, isNodes, last, post, quiet, talk } = require('./sides')

const [nodeListener] = http.createServer().listeners('connection')

// Turns of the event loop without a sign of life that end a piece, behind a first one: more where the machine is slow.
const QUIET = [20, 200, 2000]

// How long a response may take to begin, in ms.
const PATIENCE = 5000

const skip = process.env.KONE_HTTP1 === 'off' && 'there is no front'

class OwnServer extends http.Server {
  constructor (options, listener) {
    super(options)
    this.on('request', listener)
  }
}
class OwnMessage extends http.IncomingMessage {}

const EVENTS = [
  'checkContinue', 'checkExpectation', 'clientError', 'close', 'connect', 'connection', 'dropRequest', 'error', 'listening',
  'newListener', 'removeListener', 'request', 'secureConnection', 'timeout', 'tlsClientError', 'upgrade'
]

function replaceListener (server, listener) {
  const [own] = server.listeners('request')
  server.removeAllListeners('request')
  server.on('request', (...args) => listener(own, ...args))
}

/** As sticky balancers do: they call the listeners that were there. */
function standInFront (server, note) {
  const saved = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', socket => {
    note('connection')
    for (const listener of saved) listener.call(server, socket)
  })
}

function other (body, options) {
  const app = new Kone(options)
  app.silent = true
  return app.use(ctx => { ctx.body = body })
}

/** Objects that inherit from node's, or stand in front of them. */
const inherited = (own, req, res) => own(Object.create(req, { url: { value: `/mounted${req.url}`, writable: true } }), Object.create(res, {
  end: { value: (...args) => { res.setHeader('X-End', 'own'); return res.end(...args) } }
}))

/**
 * What a caller does to a server: `to(site, note)`, before its first request or after it, or both.
 *
 *   front    whether new connections are the front's: [done before, done after]; null is not tried
 *   options  of http.createServer()
 *   wrap     the server's listener, made of that of app.callback()
 *   finds    node's own listener is what a caller finds on the server
 */
const CASES = {
  nothing: { to () {}, front: [true, true] },
  'listens for every event': {
    to ({ server }, note) {
      for (const event of EVENTS) {
        server.on(event, (one, two) => {
          note([event, typeof one === 'string' ? one : one?.url ?? one?.code].join(' '))
          if (event === 'checkContinue' || event === 'upgrade') two.end('other')
          if (event === 'clientError') two.destroy()
        })
      }
    },
    front: [true, true]
  },
  "notices a change of the server's listeners": {
    to ({ server }, note) {
      for (const event of ['newListener', 'removeListener']) server.on(event, name => note(`${event} ${name}`))
      note(JSON.stringify(server.eventNames().map(String).sort()))
    },
    front: [true, true]
  },
  'responds itself to some requests, in front of the app': {
    to: ({ server }) => server.prependListener('request', (req, res) => { if (req.url === '/2') res.end('other') }),
    front: [true, true]
  },
  'wraps the listener': { to () {}, wrap: (listener, note) => (req, res) => { note(req.url); return listener(req, res) }, front: [false, null] },
  'mounts the app under express': { to () {}, wrap: listener => express().use('/', listener), front: [false, null] },
  'replaces the listener by one that calls it': {
    to: ({ server }, note) => replaceListener(server, (own, req, res) => { note(req.url); return own(req, res) }),
    front: [false, false]
  },
  'passes objects of its own to the listener': { to: ({ server }) => replaceListener(server, inherited), front: [false, false] },
  'emits the requests itself': {
    to ({ server }, note) {
      const { emit } = server
      server.emit = function (event, ...args) {
        if (event === 'request') note(args[0].url)
        return emit.call(this, event, ...args)
      }
    },
    front: [true, true]
  },
  "adds another app's listener": { to: ({ server }) => server.on('request', other('two').callback()), front: [true, true] },
  "puts another app's listener in its place": {
    to: ({ server }) => { server.removeAllListeners('request').on('request', other('two').callback()) }, front: [true, true]
  },
  'puts that of an app without the front in its place': {
    to: ({ server }) => { server.removeAllListeners('request').on('request', other('two', { http1: false }).callback()) },
    front: [false, false]
  },
  'removes the listener': {
    to: ({ server }) => { server.removeAllListeners('request').on('request', (req, res) => res.end('other')) }, front: [false, false]
  },
  'sets timeouts': {
    to: ({ server }, note) => Object.assign(server.setTimeout(50_000, () => note('timeout')), { keepAliveTimeout: 7000, headersTimeout: 9000 }),
    front: [true, true]
  },
  'sets maxRequestsPerSocket': { to: ({ server }) => { server.maxRequestsPerSocket = 2 }, front: [false, false] },
  'sets maxHeadersCount': { to: ({ server }) => { server.maxHeadersCount = 3 }, front: [true, true] },
  'gives options': { to () {}, options: { joinDuplicateHeaders: true, maxHeaderSize: 2000, keepAlive: true }, front: [true, null] },
  'gives a class of its own': { to () {}, options: { IncomingMessage: OwnMessage }, front: [false, null] },
  'gives unique headers': { to () {}, options: { uniqueHeaders: ['x-once'] }, front: [false, null] },
  'lets an insecure parser in': { to: ({ server }) => { server.insecureHTTPParser = true }, front: [false, false] },
  'listens for connections in front': {
    to: ({ server }, note) => server.prependListener('connection', () => note('first')), front: [false, false]
  },
  'listens for connections, and reads them': {
    to: ({ server }, note) => server.on('connection', socket => socket.on('data', chunk => note(chunk.length))), front: [null, false]
  },
  "calls node's listener itself": { to: ({ server }, note) => standInFront(server, note), front: [false, false] },
  "removes node's listener and adds it again": {
    to ({ server }) {
      const event = server instanceof https.Server ? 'secureConnection' : 'connection'
      assert.equal(server.listeners(event)[0], nodeListener)
      server.removeListener(event, nodeListener)
      server.on(event, nodeListener)
    },
    front: [true, false]
  },
  'has a class of its own': { to () {}, create: (...args) => new OwnServer(...args), front: [true, null] },
  'replaces closeIdleConnections': { to: ({ server }) => { server.closeIdleConnections = () => {} }, front: [false, null] },
  'makes it stoppable': { to: ({ server }) => stoppable(server, 100), front: [true, true] },
  'lets terminus watch its health': {
    to: ({ server }) => createTerminus(server, { healthChecks: { '/2': async () => ({ fine: true }) }, signals: [], logger () {} }),
    front: [false, false]
  },
  'lets socket.io have it': { to: ({ server }) => new SocketServer(server), front: [false, false] },
  'turns the front off': { to: ({ app }) => { app.http1 = false }, front: [false, false] },
  'replaces app.createContext': {
    to: ({ app }, note) => {
      const { createContext } = app
      app.createContext = function (req, res) {
        note([req instanceof http.IncomingMessage, res instanceof http.ServerResponse, req.url, res.req === req].join())
        const ctx = createContext.call(this, req, res)
        return Object.assign(ctx, { isOwn: Object.hasOwn(ctx, 'req') && ctx.req === req && ctx.response.res === res })
      }
    },
    front: [true, true]
  },
  'replaces app.handleRequest': {
    to: ({ app }, note) => {
      const { handleRequest } = app
      app.handleRequest = function (ctx, fn) {
        const { req, res } = ctx
        note([req instanceof http.IncomingMessage, res instanceof http.ServerResponse, req.url, Object.keys(ctx)].join())
        return handleRequest.call(this, ctx, fn)
      }
    },
    front: [true, true]
  },
  'closes idle connections': { to: ({ server }) => server.closeIdleConnections(), front: [true, true] },
  'closes it, and lets it listen again': {
    async to ({ server }) {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
      await once(server.listen(0, '127.0.0.1'), 'listening')
    },
    front: [true, true]
  },
  'emits a connection': {
    async to ({ server }, note) {
      const [client, peer] = duplexPair()
      server.emit('connection', peer)
      client.on('data', chunk => note(chunk.toString().replace(/Date: .*/, 'Date')))
      client.write(get('/emitted'))
      await quiet(() => client.moved, 20)
    },
    front: [true, true]
  }
}

/** What is tried on https, too. */
const SECURE = [
  'nothing', 'listens for every event', 'wraps the listener', 'makes it stoppable', 'replaces app.createContext', 'gives options',
  'replaces app.handleRequest'
]

/** What a client sends on a connection of its own, piece by piece. */
const CONVERSATIONS = [
  [get('/1'), get('/2') + get('/3')],
  [post('body', 'X-Twice: a\r\nX-Twice: b\r\nUser-Agent: a\r\nUser-Agent: b\r\n', 9), ` more${get('/4').replace('GET', 'HEAD')}`],
  [chunked('3\r\nabc\r\n0\r\n\r\n'), get('/throw')],
  [get('/continue', 'Expect: 100-continue\r\n')],
  [get('/1'), 'JUNK\r\n\r\n'],
  [get('/upgrade', 'Connection: upgrade\r\nUpgrade: other\r\n')],
  [get('/large', `X: ${'x'.repeat(3000)}\r\n`)],
  [last('/1')]
]

/** Does the server respond to this piece? */
const isWhole = piece => !piece.endsWith('\nbody')

/** An app in a server that other code creates, on node:http or not; `log` is what `note` got. */
async function open ({ options = {}, wrap = listener => listener, secure = false, isFront, create = http.createServer }) {
  const app = new Kone({ http1: isFront })
  app.silent = true
  const log = []
  const note = what => log.push(what)
  app.on('error', err => note(err.message)).on('finish', ctx => note(`finish ${ctx.path}`))
  app.use(async ctx => {
    if (ctx.path === '/throw') throw new Error('thrown')
    const body = await ctx.request.readBody()
    ctx.body = [ctx.method, ctx.url, body, ctx.get('X-Twice'), ctx.get('User-Agent'), ctx.isOwn, Object.keys(ctx.headers)].join(' ')
  })
  const listener = wrap(app.callback(), note)
  const server = secure ? https.createServer({ ...options, ...await credentials() }, listener) : create(options, listener)
  const sockets = []
  const connect = () => {
    const to = { port: server.address().port, host: '127.0.0.1', noDelay: true }
    return secure ? tls.connect({ ...to, rejectUnauthorized: false }) : net.connect(to)
  }

  async function talk (turns) {
    const client = connect()
    let text = ''
    client.setEncoding('latin1').on('data', chunk => { text += chunk }).on('error', () => {})
    const arrived = once(server, secure ? 'secureConnection' : 'connection')
    await once(client, secure ? 'secureConnect' : 'connect')
    const [socket] = await arrived
    sockets.push(socket)
    return {
      client,
      socket,
      async ask (piece) {
        const { length } = text
        const until = Date.now() + PATIENCE
        if (!client.destroyed) client.write(piece, 'latin1')
        while (!client.closed && text.length === length && isWhole(piece)) {
          assert(Date.now() < until, `nothing came for ${piece}`)
          await turn()
        }
        await quiet(() => `${text.length} ${log.length} ${client.closed}`, turns)
        return { text: text.replace(/Date: .*/g, 'Date'), isOpen: !client.closed }
      }
    }
  }

  async function close () {
    for (const socket of sockets) socket.destroy()
    server.closeAllConnections()
    if (server.listening) await new Promise(resolve => server.close(resolve))
  }
  return { app, server, log, note, talk, close }
}

/** What clients get, and what a caller notices, where it does something `when`. */
async function visit ({ to, ...rest }, when, isFront, turns) {
  const site = await open({ ...rest, isFront })
  const { log, note, server } = site
  const got = []
  const isAsked = when === 'before'
  try {
    if (isAsked && !/listen/.test(to)) await to(site, note)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    if (isAsked && /listen/.test(to)) await to(site, note)
    const first = await site.talk(turns)
    got.push(await first.ask(get('/first')))
    if (!isAsked) await to(site, note)
    got.push(await first.ask(get('/again')))
    // Another app has its first request now.
    first.client.destroy()
    const second = await site.talk(turns)
    got.push(await second.ask(get('/second')))
    const isNode = isNodes(second.socket)
    second.client.destroy()
    for (const pieces of CONVERSATIONS) {
      const { client, ask } = await site.talk(turns)
      for (const piece of pieces) got.push(await ask(piece))
      client.destroy()
      await quiet(() => log.length, turns)
    }
    return { seen: { got, log, properties: Object.keys(server).sort() }, isNode }
  } finally {
    await site.close()
  }
}

describe('a server that other code creates with app.callback()', { skip }, () => {
  for (const secure of [false, true]) {
    for (const [what, one] of Object.entries(CASES)) {
      for (const [i, when] of ['before', 'after'].entries()) {
        if (one.front[i] === null || (secure && !SECURE.includes(what))) continue
        it(`should be as on node:http, ${secure ? 'https' : 'http'}: its creator ${what}, ${when} the first request`, async () => {
          for (const turns of QUIET) {
            const node = await visit({ ...one, secure }, when, false, turns)
            const front = await visit({ ...one, secure }, when, true, turns)
            if (turns !== QUIET.at(-1) && !isDeepStrictEqual(front.seen, node.seen)) continue
            assert.deepEqual(front.seen, node.seen)
            assert.equal(front.isNode, !one.front[i], 'whose the connections are')
            return
          }
        })
      }
    }
  }
})

describe('the socket of an upgrade of a server that other code creates', { skip }, () => {
  for (const [event, line] of [['upgrade', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n'], ['connect', 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n']]) {
    it(`should have the listeners that it has on node:http: '${event}'`, async () => {
      const seen = []
      for (const isFront of [false, true]) {
        const { server, port, close } = await listen(isFront)
        const emitted = once(server, event)
        const client = await talk(port, line)
        const [, socket] = await emitted
        seen.push(Object.fromEntries(socket.eventNames().map(name => [name, socket.listenerCount(name)])))
        socket.destroy()
        client.destroy()
        close()
      }
      assert.deepEqual(seen[1], seen[0])
    })
  }

  async function listen (isFront) {
    const app = new Kone({ http1: isFront })
    const server = http.createServer(app.use(ctx => { ctx.body = 'hello' }).callback()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address()
    const first = await talk(port, get('/')) // from now on new connections are the front's
    await first.until(/hello$/)
    first.destroy()
    return { server, port, close: () => server.close().closeAllConnections() }
  }
})

describe('NODE_DEBUG=kone:http1 and KONE_WARN_FALLBACK of such a server', { skip }, () => {
  const env = { NODE_DEBUG: 'kone:http1' }
  const serves = 'serves the new connections of a server that other code has created'

  for (const [title, options, expected] of [
    ['say that it has the front', {}, { nodes: [true, false, false], warnings: [], log: [serves] }],
    ['say nothing when the front is off', { env: { KONE_HTTP1: 'off' } }, { nodes: [true, true, true], warnings: [], log: [] }],
    ['say nothing with app.http1 = false', { before: 'app.http1 = false' }, { nodes: [true, true, true], warnings: [], log: [] }],
    ['say once why node:http is used', { before: 'server.maxRequestsPerSocket = 9' }, {
      nodes: [true, true, true], warnings: ['server.maxRequestsPerSocket'], log: ['falls back to node:http: server.maxRequestsPerSocket']
    }],
    ['warn of no server that calls the app in its own listener', {
      before: "const [listener] = server.listeners('request'); server.off('request', listener).on('request', (...args) => listener(...args))"
    }, { nodes: [true, true, true], warnings: [], log: ['no front: another listener calls that of the app'] }]
  ]) {
    it(`should ${title}`, async () => {
      const server = 'http.createServer(app.callback()).listen(0)'
      assert.deepEqual(await ownProcess({ ...options, server, env: { ...env, ...options.env } }), expected)
    })
  }
})

describe('an app that its caller passes each request', { skip }, () => {
  it('should look once per connection whether the server can have the front', async t => {
    let looks = 0
    const app = Object.defineProperty(new Kone(), 'http1', { get () { looks++; return true } })
    app.use(ctx => { ctx.body = 'hello' })
    const listener = app.callback()
    const server = http.createServer((req, res) => listener(req, res)).listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    for (const connection of [1, 2]) {
      const client = await talk(server.address().port, get('/').repeat(3))
      await client.until(/(hello[^]*){3}$/)
      client.destroy()
      assert.equal(looks, connection)
    }
  })
})

describe('the CPU of a request', { skip }, () => {
  const REQUESTS = 16 // pipelined
  const FEWEST = 5
  const MOST = 100 // other processes may disturb the runs of one for a while
  const LONG = 20_000 // µs

  /** A connection to an app in this server; `least` is the CPU of a request, in µs. */
  async function connect (serve) {
    const app = new Kone().use(async (ctx, next) => next()).use(async ctx => { ctx.body = 'hello' })
    const server = serve(app)
    if (!server.listening) await once(server, 'listening')
    const first = await talk(server.address().port, get('/'))
    await first.until(/hello$/)
    const client = net.connect(server.address().port, '127.0.0.1')
    await once(client, 'connect')
    return { server, client, size: first.text.length * REQUESTS, least: Infinity }
  }

  async function measure (site) {
    const { client, size } = site
    const bytes = get('/').repeat(REQUESTS)
    const start = process.cpuUsage()
    let used = 0
    let requests = 0
    while (used < LONG) {
      let left = size
      client.write(bytes)
      while (left > 0) {
        const [chunk] = await once(client, 'data')
        left -= chunk.length
      }
      requests += REQUESTS
      const { user, system } = process.cpuUsage(start)
      used = user + system
    }
    site.least = Math.min(site.least, used / requests)
  }

  it('should be that of app.listen() in a server that other code creates', { timeout: 120_000 }, async () => {
    const sites = [
      await connect(app => app.listen(0, '127.0.0.1')),
      await connect(app => http.createServer(app.callback()).listen(0, '127.0.0.1'))
    ]
    const isEqual = () => sites[1].least < sites[0].least * 1.15
    for (let run = 0; run < MOST && (run < FEWEST || !isEqual()); run++) for (const site of sites) await measure(site)
    for (const { server } of sites) {
      server.close()
      server.closeAllConnections()
    }
    assert(isEqual(), `${sites[1].least} µs, not ${sites[0].least} µs`)
  })
})
