'use strict'

/*
 * Forked by agents.long.test.js: starts an agent, then an app of koa's, or of kone's in koa's place. It sends { port },
 * { isWaiting } when it has the request that its client shall leave, and when it is sent 'flush' { log, isNodes, warnings }:
 * what the app logged, which connections node:http has, what is warned of.
 *
 *    fork('child.js', ['{"agent":"elastic-apm-node","framework":"kone","comes":"before","url":"http://127.0.0.1:4000"}'])
 */

const warnings = []
process.removeAllListeners('warning').on('warning', ({ code }) => { if (code === 'KONE_WARN_FALLBACK') warnings.push(code) })

const { once } = require('node:events')

const until = require('../helpers/until')
const { inKoasPlace } = require('./place')

const { agent, comes, framework, url } = JSON.parse(process.argv[2])
const requireApp = inKoasPlace(framework)

// The agent comes first, as its manual says, or when a server of the framework has begun.
if (comes === 'after') new (requireApp('koa'))().listen(0, '127.0.0.1', function () { this.close() })
const { flush, mark, ready } = require('./agents')[agent].start({ require: requireApp, url })

for (const name of ['http', 'https']) require(name) // agents patch what is required from now on

const { Readable } = require('node:stream')
const Koa = requireApp('koa')
const Router = requireApp('@koa/router')

const app = new Koa()
const log = []
app.on('error', err => log.push(['error', err.message]))

const router = new Router()
router.get('/users/:id', async ctx => {
  await new Promise(resolve => setImmediate(resolve))
  ctx.body = { id: ctx.params.id, marked: mark?.() }
})
router.get('/error', () => { throw new Error('wrong') })
router.get('/stream', ctx => { ctx.body = Readable.from(['one ', 'two']) })
router.get('/left', ctx => new Promise(resolve => {
  ctx.res.once('close', () => { log.push('left'); resolve() })
  process.send({ isWaiting: true })
}))
router.post('/echo', async ctx => {
  const chunks = []
  for await (const chunk of ctx.req) chunks.push(chunk)
  ctx.body = Buffer.concat(chunks).toString()
})

app.use(async function first (ctx, next) {
  await next()
  ctx.set('X-First', 'yes')
})
app.use(router.routes()).use(router.allowedMethods())

const server = app.listen(0, '127.0.0.1')
const sockets = []
server.on('connection', socket => sockets.push(socket))
Promise.all([ready, once(server, 'listening')]).then(() => process.send({ port: server.address().port }))

process.on('message', async () => {
  await until(() => log.includes('left')).catch(() => {})
  await flush()
  process.send({ log, isNodes: sockets.map(socket => 'parser' in socket), warnings }, () => process.exit())
})
