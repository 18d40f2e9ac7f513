'use strict'

const https = require('node:https')
const { certificate } = require('../../../lib/servers/certificate')

const handlers = {
  hello: async ctx => { ctx.body = 'Hello World' },

  browser: async ctx => {
    ctx.set('X-Language', ctx.get('Accept-Language'))
    ctx.set('X-Page', ctx.query.page)
    ctx.body = 'Hello World'
  },

  json: async ctx => { ctx.body = { id: 4711, name: 'kone', tags: ['web', 'framework'], fast: true } },

  parser: async ctx => { ctx.body = ctx.request.body }
}

exports.package = 'koa'

exports.start = function ([workload, folder]) {
  const app = new (require('koa'))()
  for (let i = 0; i < 5; i++) app.use(async (ctx, next) => { await next() })
  if (workload === 'parser') app.use(require('koa-bodyparser')())
  app.use(handlers[workload])
  return folder ? https.createServer(certificate(folder), app.callback()) : app
}
