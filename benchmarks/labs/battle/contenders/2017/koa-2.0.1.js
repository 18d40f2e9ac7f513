'use strict'

const take = require('../../../../lib/servers/take-2017')

exports.package = 'koa'

// Node 6 has no async functions: middleware are functions that return promises.
exports.start = function () {
  const app = new (take('koa'))()
  for (let i = 0; i < 5; i++) app.use((ctx, next) => next())
  return app.use(ctx => {
    ctx.body = 'Hello World'
    return Promise.resolve()
  })
}
