'use strict'

exports.package = 'hono'

exports.start = function () {
  const { Hono } = require('hono')
  const { serve } = require('@hono/node-server')
  const app = new Hono()
  for (let i = 0; i < 5; i++) app.use(async (c, next) => { await next() })
  app.get('/', async c => c.text('Hello World'))
  return (port, hostname) => serve({ fetch: app.fetch, port, hostname })
}
