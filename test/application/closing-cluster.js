'use strict'

/**
 * An app of a cluster is closed, and prints 'closed'. The primary may have sent its worker the connections, as
 * @socket.io/sticky does: of these one is kept, one has a response that never ends.
 *
 *    node closing-cluster.js listening   the worker's, which listens; the primary is stopped (SIGSTOP)
 *    node closing-cluster.js sticky      the worker's, which got its connections; the primary is stopped
 *    node closing-cluster.js sent        the primary's, whose worker keeps the connections
 *    node closing-cluster.js frozen      the primary's, whose worker is stopped
 */

const cluster = require('node:cluster')
const { once } = require('node:events')
const http = require('node:http')
const Kone = require('../helpers/kone')
const request = require('../helpers/request')

const [, , how] = process.argv
const OPTIONS = { timeout: 100, grace: 0 }

if (cluster.isPrimary) primary()
else if (how === 'listening') close(app => once(app.listen(0), 'listening'))
else if (how === 'sticky') close(connect)
else connect(new Kone()).then(() => process.send('connected'))

async function primary () {
  const worker = cluster.fork().on('error', () => {}).on('exit', () => process.exit()) // it replies when the worker has ended
  if (how === 'listening') return
  const app = new Kone()
  const server = Object.assign(app.attach(http.createServer()), { pauseOnConnect: true })
  server.removeAllListeners('connection').on('connection', socket => worker.send('connection', socket))
  server.listen(0, '127.0.0.1', () => worker.send(server.address()))
  if (how === 'sticky') return
  await once(worker, 'message')
  if (how === 'frozen') worker.process.kill('SIGSTOP')
  process.on('warning', ({ message }) => console.log(message)) // listeners of each question to the worker
  await app.close(OPTIONS)
  console.log('closed')
  worker.process.kill('SIGKILL')
}

async function close (begin) {
  const app = new Kone()
  await begin(app)
  process.kill(process.ppid, 'SIGSTOP')
  await app.close(OPTIONS)
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
