'use strict'

const Koa = require('koa')
const serve = require('../../../lib/servers/serve')
const { calls, codecs, read } = require('./routes')

const app = new Koa()
app.silent = true
app.use((ctx, next) => {
  if (ctx.path !== '/') return next()
  ctx.body = 'hello world'
})
app.use(async ctx => {
  const type = ctx.get('content-type')
  const codec = codecs.get(type)
  const method = calls.get(ctx.path)
  const args = codec.decode(await read(ctx.req))
  const body = codec.encode(await method(...args))
  ctx.set('Content-Type', type)
  ctx.body = body
})

serve(app)
