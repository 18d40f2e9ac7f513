'use strict'

const pino = require('pino')
const Kone = require('kone')
const requestId = require('kone/middleware/requestId')

const log = pino()
const app = new Kone()

app.use(requestId())
app.use(function logs (ctx, next) {
  const start = performance.now()
  // W3C: version, trace id, parent id, flags
  const [, traceId] = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/.exec(ctx.get('traceparent')) || []
  ctx.state.log = log.child({ requestId: ctx.state.id, traceId })
  ctx.onFinished(err => ctx.state.log.info({
    method: ctx.method,
    url: ctx.originalUrl,
    status: ctx.status,
    ms: Math.round((performance.now() - start) * 10) / 10,
    err: err || undefined
  }, 'request'))
  return next()
})
app.on('error', (err, ctx) => ctx.state.log.error(err))

app.use(ctx => {
  if (ctx.path === '/broken') throw new Error('out of order')
  ctx.state.log.info({ greeted: ctx.query.name }, 'hello')
  ctx.body = 'Hello'
})

const server = app.listen(process.env.PORT || 3000, () => {
  console.log(`http://localhost:${server.address().port}`)
})
