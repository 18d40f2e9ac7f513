'use strict'

// Code that runs after all middleware needs no `await next()`: finals run one after the other, without promises.
const { performance } = require('node:perf_hooks')
const Kone = require('kone')

const app = new Kone()

app.use((ctx, next) => {
  ctx.state.start = performance.now()
  return next()
})

app.use(ctx => { ctx.body = { path: ctx.path } })

// an envelope around every object
app.final(ctx => {
  if (ctx.response.is('json')) ctx.body = { ok: ctx.status < 400, data: ctx.body }
})

app.final(ctx => {
  const took = performance.now() - ctx.state.start
  ctx.set('Server-Timing', `app;dur=${took.toFixed(2)}`)
})

// after the response is sent, or when the client has disconnected
app.on('finish', ctx => console.log('%s %s %d', ctx.method, ctx.url, ctx.status))

const port = process.env.PORT || 3000
app.listen(port, () => console.log(`http://localhost:${port}`))
