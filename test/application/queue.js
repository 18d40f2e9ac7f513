'use strict'

/*
 * Clients that connect while the event loop is blocked, and app.close() before it goes on: node queue.js <how>.
 * Prints how many got which response.
 */

const cluster = require('node:cluster')
const { once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const https = require('node:https')
const net = require('node:net')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const tls = require('node:tls')
const { Worker, isMainThread, workerData } = require('node:worker_threads')
const certificate = require('../../examples/certificate')
const Kone = require('../helpers/kone')

const CLIENTS = 40
const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

const SERVERS = {
  'the front': app => app.listen(0, '127.0.0.1'),
  'node:http': app => Object.assign(app, { http1: false }).listen(0, '127.0.0.1'),
  'a Unix socket': app => app.listen(join(tmpdir(), `kone-queue-${process.pid}.sock`)),
  'an attached server': app => app.attach(http.createServer()).listen(0, '127.0.0.1'),
  TLS: async app => app.attach(https.createServer(await certificate())).listen(0, '127.0.0.1'),
  'HTTP/2': app => app.attach(http2.createServer()).listen(0, '127.0.0.1'),
  'a worker of node:cluster': app => app.listen(0, '127.0.0.1')
}

async function serve (how) {
  const app = new Kone({ silent: true })
  app.use(ctx => { ctx.body = 'served' })
  const server = await SERVERS[how](app)
  if (!server.listening) await once(server, 'listening')

  const flag = new Int32Array(new SharedArrayBuffer(4))
  const address = server.address()
  const to = typeof address === 'string' ? { path: address } : { port: address.port, host: '127.0.0.1' }
  new Worker(__filename, { workerData: { how, to, flag } }).on('error', err => { throw err })
  Atomics.wait(flag, 0, 0)
  // on a busy machine a client is silent for longer than 600 ms within its handshake
  await app.close({ timeout: 60_000, grace: 30_000 })
}

async function connectAll ({ how, to, flag }) {
  const sockets = Array.from({ length: CLIENTS }, () => net.connect(to))
  await Promise.all(sockets.map(socket => once(socket, 'connect')))
  const responses = sockets.map(socket => ask(how, socket).catch(err => err.code))
  Atomics.store(flag, 0, 1)
  Atomics.notify(flag, 0)
  const counts = {}
  for (const response of await Promise.all(responses)) counts[response] = (counts[response] ?? 0) + 1
  console.log(JSON.stringify(counts))
}

async function ask (how, socket) {
  if (how === 'HTTP/2') {
    const session = http2.connect('http://127.0.0.1', { createConnection: () => socket })
    const [{ ':status': status }] = await once(session.request().resume(), 'response')
    session.close()
    return status
  }
  const stream = how === 'TLS' ? tls.connect({ socket, rejectUnauthorized: false }) : socket
  stream.write(REQUEST)
  const text = Buffer.concat(await stream.toArray()).toString()
  return text.endsWith('\r\n\r\nserved') ? 200 : text
}

if (!isMainThread) connectAll(workerData)
else if (process.argv[2] === 'a worker of node:cluster' && cluster.isPrimary) cluster.fork()
else serve(process.argv[2]).then(() => cluster.worker?.disconnect())
