'use strict'

const Kone = require('kone')
const Router = require('kone/middleware/router')
const prom = require('prom-client')

prom.collectDefaultMetrics() // event-loop lag, heap, CPU
const inFlight = new prom.Gauge({ name: 'http_requests_in_flight', help: 'Requests being answered' })
const seconds = new prom.Histogram({
  name: 'http_request_duration_seconds',
  help: 'From the head of a request to the end of its answer',
  labelNames: ['method', 'route', 'status']
})

const app = new Kone()
const router = new Router()
let draining = false

router.get('/users/:id', ctx => { ctx.body = { id: ctx.params.id } })
router.get('/healthz', ctx => { ctx.body = 'alive' })
router.get('/readyz', ctx => { ctx.status = draining ? 503 : 200; ctx.body = draining ? 'draining' : 'ready' })
router.get('/metrics', async ctx => { ctx.type = prom.register.contentType; ctx.body = await prom.register.metrics() })

app.use(function measure (ctx, next) {
  const end = seconds.startTimer({ method: ctx.method })
  inFlight.inc()
  ctx.onFinished(() => { // by route, never by path: those are without number
    inFlight.dec()
    end({ route: ctx._matchedRoute || 'none', status: ctx.status })
  })
  return next()
})
app.use(router.routes())

const server = app.listen(process.env.PORT || 3000, () => console.log(`http://localhost:${server.address().port}`))
process.once('SIGTERM', () => {
  draining = true // the balancer sees it on its kept connections, and app.close() waits for those
  app.close().then(() => process.exit(0))
})
