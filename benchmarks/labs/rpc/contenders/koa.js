'use strict'

exports.package = 'koa'
exports.protocol = 'http'
exports.codec = 'JSON'

exports.start = function () {
  const { calls, codecs, read } = require('../service/routes')
  const app = new (require('koa'))()
  app.silent = true
  app.use((ctx, next) => {
    if (ctx.path !== '/') return next()
    ctx.body = 'hello world'
  })
  return app.use(async ctx => {
    const type = ctx.get('content-type')
    const codec = codecs.get(type)
    const method = calls.get(ctx.path)
    const args = codec.decode(await read(ctx.req))
    const body = codec.encode(await method(...args))
    ctx.set('Content-Type', type)
    ctx.body = body
  })
}
