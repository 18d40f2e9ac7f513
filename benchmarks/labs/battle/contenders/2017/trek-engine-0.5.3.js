'use strict'

const take = require('../../../../lib/servers/take-2017')

exports.package = 'trek-engine'

exports.start = function () {
  const app = new (take('trek-engine'))()
  for (let i = 0; i < 5; i++) app.use((ctx, next) => next())
  app.use(ctx => {
    ctx.res.type = 'text/plain; charset=utf-8'
    ctx.res.body = 'Hello World'
    return Promise.resolve()
  })
  return (port, host) => app.run(port, host)
}
