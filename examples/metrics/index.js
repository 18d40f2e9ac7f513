'use strict'

// Figures for Prometheus, and whether the server is alive and takes requests.
const Kone = require('kone')
const health = require('kone/middleware/health')
const metrics = require('kone/middleware/metrics')
const Router = require('kone/middleware/router')

const app = new Kone()
const router = new Router()
router.get('/users/:id', ctx => { ctx.body = { id: ctx.params.id } })

app.use(health()) // /healthz and /readyz
app.use(metrics()) // /metrics
app.use(router.routes())

const server = app.listen(process.env.PORT || 3000, () => console.log(`http://localhost:${server.address().port}`))
process.once('SIGTERM', () => app.close().then(() => process.exit(0)))
