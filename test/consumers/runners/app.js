'use strict'

const Kone = require('kone')
const bodyParser = require('kone/middleware/bodyParser')
const logger = require('kone/middleware/logger')
const Router = require('kone/middleware/router')
const session = require('kone/middleware/session')
const sse = require('kone/middleware/sse')

/** An app with what starts timers: the front's clock, a store of sessions, a heartbeat. */
module.exports = function createApp () {
  const app = new Kone()
  const router = new Router()
  router.get('/hello/:name', ctx => { ctx.body = `Hello ${ctx.params.name}` })
  router.post('/echo', ctx => { ctx.body = ctx.request.body })
  router.get('/count', ctx => {
    ctx.session.count = (ctx.session.count ?? 0) + 1
    ctx.body = { count: ctx.session.count }
  })
  router.get('/events', ctx => {
    const stream = ctx.sse()
    stream.send({ data: 'tick' })
    stream.end()
  })
  app.use(logger(() => {})).use(session()).use(bodyParser()).use(sse()).use(router.routes()).use(router.allowedMethods())
  return app
}
