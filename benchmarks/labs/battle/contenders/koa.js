'use strict'

exports.package = 'koa'

exports.start = () => hello(new (require('koa'))())

const hello = exports.hello = function (app) {
  for (let i = 0; i < 5; i++) app.use(async (ctx, next) => { await next() })
  return app.use(async ctx => { ctx.body = 'Hello World' })
}
