'use strict'

const kone = require('../../../lib/servers/kone')
const { TEXT, items } = require('../data')

module.exports = function (folder) {
  const app = new (kone('.'))()
  const Router = kone('middleware/router')
  const router = new Router()
  app.use(router.routes())

  router.get('/baseline', ctx => {
    ctx.body = String(Number(ctx.query.a) + Number(ctx.query.b))
  })

  router.get('/json', ctx => { ctx.body = items() })

  router.post('/upload', async ctx => {
    let bytes = 0
    for await (const chunk of ctx.req) bytes += chunk.length
    ctx.body = String(bytes)
  })

  router.get('/gzip', kone('middleware/compress')(), ctx => { ctx.body = TEXT })

  app.use(kone('middleware/static')(folder))
  return app
}
