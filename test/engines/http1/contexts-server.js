'use strict'

/*
 * An app in a process of its own, for contexts.test.js: a request that fails in the AsyncLocalStorage `failed`, and requests
 * that note in which stores everything of theirs is called. The sender of `{ start }` gets the ports, that of `{ seen }` what
 * was noted.
 */

const { AsyncLocalStorage } = require('node:async_hooks')
const crypto = require('node:crypto')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const { Readable } = require('node:stream')
const { setImmediate: turn } = require('node:timers/promises')
const zlib = require('node:zlib')

const Kone = require('../../helpers/kone')
const isolate = require('kone/middleware/isolate')

const boom = () => { throw new Error('boom') }

/** Where code of a request can throw so that no promise of the request sees it. */
const WAYS = {
  tick: () => process.nextTick(boom),
  'tick of a tick': () => process.nextTick(() => process.nextTick(boom)),
  microtask: () => queueMicrotask(boom),
  rejection: () => { Promise.reject(new Error('boom')) },
  timer: () => setTimeout(boom, 1),
  immediate: () => setImmediate(boom),
  'callback of fs': () => fs.stat(__filename, boom),
  'callback of crypto': () => crypto.randomBytes(8, boom),
  'a file that is missing': () => fs.createReadStream(`${__filename}.missing`),
  'a socket without a peer': () => net.connect({ host: '127.0.0.1', port: 1 }),
  'an http client without a peer': () => http.get({ host: '127.0.0.1', port: 1 }),
  'zlib that gets no gzip': () => zlib.createGunzip().end('no gzip')
}

/** One for each of the servers `timed`. The first request of a client that gets no core for a while must arrive in time. */
const TIMEOUTS = [
  { headersTimeout: 400, connectionsCheckingInterval: 20 },
  { timeout: 400 },
  { keepAliveTimeout: 30, keepAliveTimeoutBuffer: 1 }
]

const failed = new AsyncLocalStorage()
const listening = new AsyncLocalStorage()

let seen = []
let errors = 0

/** Stores that must not be there, and whether the one of listen() is there. */
function note (id, what) {
  seen.push({ id, what, failed: failed.getStore() ?? null, listening: listening.getStore() ?? null })
}

function hear (id, name, emitter, events) {
  for (const event of events) emitter.on(event, () => note(id, `${name} '${event}'`))
}

/** Ids of sockets: what the client calls its connection, by the client's port. */
const ports = new WeakMap()
const portOf = socket => String(ports.get(socket) ?? ports.get(socket._parent))

function makeApp (keeper) {
  const app = new Kone()
  app.silent = true
  app.on('error', (err, ctx) => {
    if (err.code !== 'ECONNRESET') errors++
    else note(ctx.query.id, "app 'error'")
  })
  if (keeper === 'isolate') app.use(isolate())
  app.use((ctx, next) => ctx.path === '/fail' ? fail(ctx, keeper) : next())
  app.use(async ctx => {
    const { id } = ctx.query
    note(id, 'handler')
    if (ctx.path === '/stored') {
      return failed.run('stored', async () => {
        ctx.res.writeEarlyHints({ link: '</a>; rel=preload' })
        ctx.respond = false
        await behind(ctx.socket)
        ctx.res.end('stored')
      })
    }
    ctx.onFinished(() => note(id, 'onFinished'))
    if (ctx.path === '/plain') return (ctx.body = 'plain')
    hear(id, 'req', ctx.req, ['data', 'end', 'aborted', 'close'])
    hear(id, 'res', ctx.res, ['finish', 'close', 'timeout'])
    ctx.req.on('error', () => {})
    if (ctx.path === '/begun') {
      ctx.respond = false
      ctx.req.on('end', () => ctx.res.end('ended'))
      return ctx.res.write('begun')
    }
    if (ctx.path === '/never') return new Promise(() => {})
    if (ctx.path === '/stream') return (ctx.body = Readable.from(['a', 'b']))
    ctx.body = ctx.path
  })
  return app
}

/** Until the next request of the connection has arrived. */
async function behind (socket) {
  const { bytesRead } = socket
  while (socket.bytesRead === bytesRead) await turn()
  await turn()
}

function fail (ctx, keeper) {
  const { way, store } = ctx.query
  ctx.body = 'goes on'
  return failed.run(store, () => {
    WAYS[way]()
    if (keeper === 'isolate') return new Promise(() => {})
  })
}

async function serve (app, transport, keys, properties) {
  const server = transport === 'callback'
    ? http.createServer(app.callback())
    : app.attach(transport === 'tls' ? https.createServer(keys) : http.createServer())
  Object.assign(server, properties)
  for (const event of transport === 'tls' ? ['connection', 'secureConnection'] : ['connection']) {
    server.on(event, socket => {
      ports.set(socket, socket.remotePort)
      socket.on('close', () => note(portOf(socket), "socket 'close'"))
      socket.on('error', () => {})
    })
  }
  server.on('clientError', (err, socket) => {
    note(portOf(socket), `clientError ${err.code}`)
    socket.destroy()
  })
  server.on('timeout', socket => {
    note(portOf(socket), "server 'timeout'")
    socket.destroy()
  })
  server.on('checkExpectation', (req, res) => {
    note(portOf(req.socket), 'checkExpectation')
    res.end('expected')
  })
  for (const event of ['upgrade', 'connect']) {
    server.on(event, (req, socket) => {
      note(portOf(socket), event)
      socket.write(`HTTP/1.1 ${event === 'connect' ? 200 : 101} Go On\r\n${event === 'connect' ? '' : 'Connection: Upgrade\r\nUpgrade: x\r\n'}\r\n`)
      socket.on('data', chunk => {
        note(portOf(socket), 'message')
        socket.write(chunk)
      })
      socket.on('end', () => {
        note(portOf(socket), "message 'end'")
        socket.end()
      })
    })
  }
  listening.run('listening', () => server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return server.address().port
}

const commands = {
  async start ({ transport, keeper, keys }) {
    if (keeper === 'listener') process.on('uncaughtException', () => { errors++ })
    const app = makeApp(keeper)
    const port = await serve(app, transport, keys, {})
    const timed = []
    for (const timeouts of TIMEOUTS) timed.push(await serve(app, transport, keys, timeouts))
    return { port, timed, ways: Object.keys(WAYS) }
  },
  errors: () => errors,
  seen: () => seen,
  forget () {
    seen = []
  }
}

process.on('message', async message => {
  if (message?.command === undefined) return
  const { number, command, what } = message
  process.send({ number, result: await commands[command](what) ?? null })
})
process.on('disconnect', () => process.exit())
