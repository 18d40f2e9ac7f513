'use strict'

/**
 * A worker closes its app while its primary is stopped. Prints 'closed'. With 'sticky' the primary has sent it its
 * connections, as @socket.io/sticky does: one is kept, one has a response that never ends.
 */

const cluster = require('node:cluster')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const Kone = require('../helpers/kone')
const request = require('../helpers/request')

const [, , how] = process.argv

if (cluster.isPrimary) {
  const worker = cluster.fork().on('error', () => {}).on('exit', () => process.exit()) // it replies when the worker has ended
  if (how === 'sticky') {
    const server = net.createServer({ pauseOnConnect: true }, socket => worker.send('connection', socket))
    server.listen(0, '127.0.0.1', () => worker.send(server.address()))
  }
} else {
  close()
}

async function close () {
  const app = new Kone()
  await (how === 'sticky' ? connect(app) : once(app.listen(0), 'listening'))
  process.kill(process.ppid, 'SIGSTOP')
  await app.close({ timeout: 100, grace: 0 })
  process.kill(process.ppid, 'SIGCONT')
  console.log('closed')
  process.exit()
}

async function connect (app) {
  const held = new Promise(resolve => {
    app.use(ctx => {
      if (ctx.path === '/') ctx.body = 'hello'
      else resolve(ctx.respond = false)
    })
  })
  const server = app.attach(http.createServer())
  process.on('message', (message, socket) => { if (socket) server.emit('connection', socket) })
  const [{ port }] = await once(process, 'message')
  await request(port, 'GET /', { agent: new http.Agent({ keepAlive: true }) })
  request(port, 'GET /held').catch(() => {})
  await held
}
