'use strict'

const Kone = require('kone')
const Router = require('kone/middleware/router')
const prom = require('prom-client')
const metrics = require('./metrics')

prom.collectDefaultMetrics() // event-loop lag, heap, CPU

const app = new Kone()
app.use(metrics)

const router = new Router()
router.get('/users/:id', ctx => { ctx.body = { id: ctx.params.id } })
router.get('/metrics', async ctx => { ctx.type = prom.register.contentType; ctx.body = await prom.register.metrics() })
router.get('/healthz', ctx => { ctx.body = 'alive' })
router.get('/readyz', ctx => {
  const ready = ctx.socket.server.listening // no longer, once app.close() began
  ctx.status = ready ? 200 : 503
  ctx.body = ready ? 'ready' : 'draining'
})
app.use(router.routes())

const server = app.listen(process.env.PORT || 3000, () => console.log(`http://localhost:${server.address().port}`))
process.once('SIGTERM', () => app.close().then(() => process.exit(0)))
