'use strict'

/*
 * Bursts of connections of each kind. Prints which sockets and contexts are still reachable after they are closed:
 * node --expose-gc kept-sockets.js
 */

const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const { join } = require('node:path')
const { Readable } = require('node:stream')
const { setImmediate: turn } = require('node:timers/promises')
const tls = require('node:tls')
const certificate = require('../../../examples/certificate')
const Kone = require('../../helpers/kone')
const until = require('../../helpers/until')

const BURST = 10

/** Code that is being compiled, and timers of node's clients, may have a socket for some turns. */
const MOST_COLLECTIONS = 40
const FILE = join(__dirname, '../../../package-lock.json') // larger than what sockets take

const get = path => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
const LAST = 'GET /text HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

/** What a client sends. It reads to the end, or closes the connection when the first bytes come. */
const KINDS = {
  text: get('/text') + LAST,
  stream: get('/stream') + LAST,
  file: get('/file') + LAST,
  'ctx.res': get('/res') + LAST,
  error: get('/error') + LAST,
  POST: 'POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody' + LAST,
  'POST, read by ctx.req': 'POST /iterated HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody' + LAST,
  pipelined: get('/text').repeat(20) + LAST,
  'of node:http': 'PURGE /text HTTP/1.1\r\nHost: a\r\n\r\n' + LAST,
  'left while it is kept': get('/text'),
  'left in a download': get('/file'),
  'left in an upload': 'POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nbody' + get('/text'),
  upgraded: 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n'
}

const BODIES = {
  '/text': () => 'text',
  '/stream': () => Readable.from(['a', 'stream']),
  '/file': () => fs.createReadStream(FILE),
  '/error': () => { throw new Error('meant') },
  '/res': ({ res }) => String(res.statusCode),
  '/read': async ctx => (await ctx.request.readBody()).toString(),
  '/iterated': async ctx => Buffer.concat(await ctx.req.toArray()).toString()
}

async function serve (server) {
  const seen = { sockets: [], contexts: [], open: 0 }
  const app = new Kone({ silent: true })
  app.on('error', () => {})
  app.use(async ctx => {
    seen.contexts.push(new WeakRef(ctx))
    ctx.body = await BODIES[ctx.path](ctx)
  })
  await once(app.attach(server).listen(0, '127.0.0.1'), 'listening')
  server.on('upgrade', (req, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'))
  server.on(server instanceof https.Server ? 'secureConnection' : 'connection', socket => {
    seen.sockets.push(new WeakRef(socket))
    seen.open++
    socket.once('close', () => { seen.open-- })
  })
  return { seen, port: server.address().port }
}

async function burst ({ port, seen }, connect, kind) {
  for (const list of [seen.sockets, seen.contexts]) list.length = 0
  let left = BURST
  const clients = new Set()
  for (let i = 0; i < BURST; i++) {
    const client = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    client.on('error', () => {})
    client.once('close', () => { left-- })
    client.write(KINDS[kind])
    if (kind.startsWith('left')) client.once('data', () => client.destroy())
    client.resume()
    clients.add(client)
  }
  if (kind === 'left in an upload') {
    await until(() => seen.contexts.length === BURST)
    for (const client of clients) client.destroy()
  }
  await until(() => left === 0 && seen.sockets.length === BURST && seen.open === 0)
  let kept
  for (let i = 0; i < MOST_COLLECTIONS; i++) {
    await turn()
    global.gc()
    kept = [seen.sockets, seen.contexts].map(list => list.filter(ref => ref.deref() !== undefined).length)
    if (Math.max(...kept) === 0) break
  }
  return kept
}

async function run () {
  const kept = {}
  for (const [name, connect, server] of [
    ['TCP', net.connect, http.createServer()], ['TLS', tls.connect, https.createServer(await certificate())]
  ]) {
    const site = await serve(server)
    for (const kind of Object.keys(KINDS)) kept[`${kind}, ${name}`] = await burst(site, connect, kind)
  }
  console.log(JSON.stringify(kept))
  process.exit()
}

run()
