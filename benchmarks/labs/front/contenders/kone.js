'use strict'

const https = require('node:https')
const { certificate } = require('../../../lib/servers/certificate')
const kone = require('../../../lib/servers/kone')
const same = require('./_handlers')

const handlers = {
  ...same,

  post: async ctx => { ctx.body = JSON.parse(await ctx.request.readBody({ limit: 1024 * 1024 })) },

  touched: async ctx => {
    ctx.state.res = ctx.res
    ctx.body = 'Hello World'
  }
}

exports.package = 'kone'

exports.start = function ([workload, folder]) {
  const app = create(workload)
  return folder ? app.attach(https.createServer(certificate(folder))) : app
}

const create = exports.create = function (workload, options) {
  const app = new (kone('.'))(options)
  for (let i = 0; i < 5; i++) app.use(async (ctx, next) => { await next() })
  if (workload === 'parser') app.use(kone('middleware/bodyParser')())
  return app.use(handlers[workload])
}
