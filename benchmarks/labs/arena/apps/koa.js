'use strict'

const Koa = require('koa')
const Router = require('@koa/router')
const compress = require('koa-compress')
const serve = require('koa-static')
const { TEXT, items } = require('../data')

module.exports = function (folder) {
  const app = new Koa()
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

  router.get('/gzip', compress(), ctx => { ctx.body = TEXT })

  app.use(serve(folder))
  return app
}
