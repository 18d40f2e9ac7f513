'use strict'

const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const querystring = require('node:querystring')
const { pipeline } = require('node:stream')
const zlib = require('node:zlib')
const kone = require('../../lib/servers/kone')
const { send, sendJSON } = require('../../lib/servers/send')
const { TEXT, items } = require('./data')

/*
 * The same app in each framework, as its users write it: its router, its packages for compression and files.
 */

const sum = ({ a, b }) => String(Number(a) + Number(b))

async function sizeOf (stream) {
  let bytes = 0
  for await (const chunk of stream) bytes += chunk.length
  return String(bytes)
}

function likeKoa (app, router, { compress, files }) {
  app.use(router.routes())
  router.get('/baseline', ctx => { ctx.body = sum(ctx.query) })
  router.get('/json', ctx => { ctx.body = items() })
  router.post('/upload', async ctx => { ctx.body = await sizeOf(ctx.req) })
  router.get('/gzip', compress(), ctx => { ctx.body = TEXT })
  return app.use(files)
}

function byHand (folder) {
  const PLAIN = 'text/plain; charset=utf-8'
  const TYPES = { '.html': 'text/html; charset=utf-8', '.css': 'text/css; charset=utf-8', '.png': 'image/png' }
  const routes = {
    'GET /baseline': (req, res, query) => send(res, PLAIN, sum(querystring.parse(query))),

    'GET /json': (req, res) => sendJSON(res, items()),

    'POST /upload' (req, res) {
      let bytes = 0
      req.on('data', chunk => { bytes += chunk.length })
      req.on('end', () => send(res, PLAIN, String(bytes)))
    },

    'GET /gzip' (req, res) {
      zlib.gzip(TEXT, (err, body) => {
        if (err) return res.destroy(err)
        res.writeHead(200, { 'Content-Type': PLAIN, 'Content-Encoding': 'gzip', 'Content-Length': body.length, Vary: 'Accept-Encoding' })
        res.end(body)
      })
    }
  }

  return http.createServer((req, res) => {
    const [target, query] = req.url.split('?')
    const route = routes[`${req.method} ${target}`]
    if (route) return route(req, res, query)
    const file = path.join(folder, path.normalize(target))
    fs.stat(file, (err, stats) => {
      if (res.destroyed) return // pipeline() throws then, since Node 26
      res.statusCode = err ? 404 : 200
      if (err) return res.end()
      res.setHeader('Content-Type', TYPES[path.extname(file)])
      res.setHeader('Content-Length', stats.size)
      pipeline(fs.createReadStream(file), res, () => {})
    })
  })
}

module.exports = {
  kone: {
    package: 'kone',
    start: ([folder]) => likeKoa(new (kone('.'))(), new (kone('middleware/router'))(), {
      compress: kone('middleware/compress'),
      files: kone('middleware/static')(folder)
    })
  },

  node: { about: 'by hand; files by fs.stat and fs.createReadStream', start: ([folder]) => byHand(folder) },

  koa: {
    package: 'koa',
    about: 'with @koa/router, koa-compress, koa-static',
    start: ([folder]) => likeKoa(new (require('koa'))(), new (require('@koa/router'))(), {
      compress: require('koa-compress'),
      files: require('koa-static')(folder)
    })
  },

  fastify: {
    package: 'fastify',
    about: 'with @fastify/compress, @fastify/static',
    start ([folder]) {
      const app = require('fastify')({ bodyLimit: 2 ** 26 })
      app.get('/baseline', async ({ query }) => sum(query))
      app.get('/json', async () => items())
      app.addContentTypeParser('application/octet-stream', (request, payload, done) => done(null, payload))
      app.post('/upload', ({ body }) => sizeOf(body))
      app.register(async function (app) {
        await app.register(require('@fastify/compress'))
        app.get('/gzip', async () => TEXT)
      })
      app.register(require('@fastify/static'), { root: folder })
      return (port, host, backlog) => app.listen({ port, host, backlog }).then(() => app.server)
    }
  },

  hono: {
    package: 'hono',
    about: 'on @hono/node-server, with its own compress and serveStatic',
    start ([folder]) {
      const app = new (require('hono').Hono)()
      const { serve } = require('@hono/node-server')
      const { serveStatic } = require('@hono/node-server/serve-static')
      app.get('/baseline', c => c.text(sum(c.req.query())))
      app.get('/json', c => c.json(items()))
      app.post('/upload', async c => c.text(await sizeOf(c.req.raw.body)))
      app.get('/gzip', require('hono/compress').compress(), c => c.text(TEXT))
      app.get('/*', serveStatic({ root: folder }))
      return (port, hostname) => serve({ fetch: app.fetch, port, hostname })
    }
  }
}
