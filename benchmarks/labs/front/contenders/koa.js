'use strict'

const https = require('node:https')
const { certificate } = require('../../../lib/servers/certificate')
const handlers = require('./_handlers')

exports.package = 'koa'

exports.start = function ([workload, folder]) {
  const app = new (require('koa'))()
  for (let i = 0; i < 5; i++) app.use(async (ctx, next) => { await next() })
  if (workload === 'parser') app.use(require('koa-bodyparser')())
  app.use(handlers[workload])
  return folder ? https.createServer(certificate(folder), app.callback()) : app
}
