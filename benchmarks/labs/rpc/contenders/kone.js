'use strict'

const kone = require('../../../lib/servers/kone')

exports.package = 'kone'
exports.protocol = 'http'
exports.codec = 'JSON'

exports.start = () => listener({ isolates: true })

exports.listener = listener

function listener ({ isolates }) {
  const { ping, parse, noError, asyncError } = require('../service/methods')
  const rpc = kone('middleware/rpc')
  const codecs = [require('../service/hessian')]
  const app = new (kone('.'))()
  app.silent = true
  app.use((ctx, next) => {
    if (ctx.path !== '/') return next()
    ctx.body = 'hello world'
  })
  app.use(rpc({ ping, parse, noError }, { codecs }))
  if (isolates) app.use(kone('middleware/isolate')())
  return app.use(rpc({ noError, asyncError }, { prefix: '/guarded', codecs }))
}
