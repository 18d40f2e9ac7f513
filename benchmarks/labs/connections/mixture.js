'use strict'

const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const querystring = require('node:querystring')
const { pipeline } = require('node:stream')
const zlib = require('node:zlib')
const kone = require('../../lib/servers/kone')
const { send, sendJSON } = require('../../lib/servers/send')
const { TEXT, items } = require('./soak')

/*
 * The same app in each framework, as its users write it: its router, its packages for compression and files.
 */

const sum = ({ a, b }) => String(Number(a) + Number(b))

function likeKoa (app, router, { compress, files }) {
  app.use(router.routes())
  router.get('/baseline', ctx => { ctx.body = sum(ctx.query) })
  router.get('/json', ctx => { ctx.body = items() })
  router.get('/gzip', compress(), ctx => { ctx.body = TEXT })
  return app.use(files)
}

function byHand (folder) {
  const PLAIN = 'text/plain; charset=utf-8'
  const TYPES = { '.html': 'text/html; charset=utf-8', '.css': 'text/css; charset=utf-8' }
  const routes = {
    '/baseline': (res, query) => send(res, PLAIN, sum(querystring.parse(query))),
    '/json': res => sendJSON(res, items()),
    '/gzip' (res) {
      zlib.gzip(TEXT, (err, body) => {
        if (err) return res.destroy(err)
        res.writeHead(200, { 'Content-Type': PLAIN, 'Content-Encoding': 'gzip', 'Content-Length': body.length, Vary: 'Accept-Encoding' })
        res.end(body)
      })
    }
  }

  return http.createServer((req, res) => {
    const [target, query] = req.url.split('?')
    if (routes[target]) return routes[target](res, query)
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

  node: { start: ([folder]) => byHand(folder) },

  koa: {
    package: 'koa',
    start: ([folder]) => likeKoa(new (require('koa'))(), new (require('@koa/router'))(), {
      compress: require('koa-compress'),
      files: require('koa-static')(folder)
    })
  },

  fastify: {
    package: 'fastify',
    start ([folder]) {
      const app = require('fastify')()
      app.get('/baseline', async ({ query }) => sum(query))
      app.get('/json', async () => items())
      app.register(async function (app) {
        await app.register(require('@fastify/compress'))
        app.get('/gzip', async () => TEXT)
      })
      app.register(require('@fastify/static'), { root: folder })
      return (port, host, backlog) => app.listen({ port, host, backlog }).then(() => app.server)
    }
  }
}
