'use strict'

exports.package = 'trek-engine'

exports.start = function () {
  const app = new (require('trek-engine'))()
  for (let i = 0; i < 5; i++) app.use(async (ctx, next) => { await next() })
  app.use(async ctx => {
    ctx.res.type = 'text/plain; charset=utf-8'
    ctx.res.body = 'Hello World'
  })
  return (port, host) => app.run(port, host)
}
