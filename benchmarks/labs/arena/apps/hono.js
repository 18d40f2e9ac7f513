'use strict'

const { Hono } = require('hono')
const { compress } = require('hono/compress')
const { serve } = require('@hono/node-server')
const { serveStatic } = require('@hono/node-server/serve-static')
const { TEXT, items } = require('../data')

module.exports = function (folder) {
  const app = new Hono()

  app.get('/baseline', c => c.text(String(Number(c.req.query('a')) + Number(c.req.query('b')))))

  app.get('/json', c => c.json(items()))

  app.post('/upload', async c => {
    let bytes = 0
    for await (const chunk of c.req.raw.body) bytes += chunk.length
    return c.text(String(bytes))
  })

  app.get('/gzip', compress(), c => c.text(TEXT))

  app.get('/*', serveStatic({ root: folder }))
  return (port, hostname) => serve({ fetch: app.fetch, port, hostname })
}
