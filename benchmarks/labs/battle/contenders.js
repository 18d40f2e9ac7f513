'use strict'

const http = require('node:http')
const kone = require('../../lib/servers/kone')

/*
 * Hello world behind five middleware, as each framework means them. A package is loaded when its contender starts.
 */

const five = use => { for (let i = 0; i < 5; i++) use() }

function hello (app) {
  five(() => app.use(async (ctx, next) => { await next() }))
  return app.use(async ctx => { ctx.body = 'Hello World' })
}

module.exports = {
  net: { about: 'parses nothing, writes the same bytes for every read', start: () => require('../../lib/servers/fixed').start() },

  // No middleware: the floor.
  node: {
    start: () => http.createServer((req, res) => {
      res.setHeader('Content-Type', 'text/plain; charset=utf-8')
      res.setHeader('Content-Length', 11)
      res.end('Hello World')
    })
  },

  'node-cheapest': {
    about: 'writeHead() with an array, the form that costs node:http least',
    start: () => http.createServer((req, res) => {
      res.writeHead(200, ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', '11'])
      res.end('Hello World')
    })
  },

  kone: { package: 'kone', start: () => hello(new (kone('.'))()) },

  'kone-bluebird': { package: 'kone', start: () => hello(new (kone('lib/bluebird'))()) },

  koa: { package: 'koa', start: () => hello(new (require('koa'))()) },

  koa3: { package: 'koa3', start: () => hello(new (require('koa3'))()) },

  express: {
    package: 'express',
    start () {
      const app = require('express')()
      five(() => app.use((req, res, next) => next()))
      return app.use((req, res) => res.type('text').send('Hello World'))
    }
  },

  fastify: {
    package: 'fastify',
    start () {
      const app = require('fastify')()
      five(() => app.addHook('onRequest', async () => {}))
      app.get('/', async () => 'Hello World')
      return (port, host, backlog) => app.listen({ port, host, backlog }).then(() => app.server)
    }
  },

  hono: {
    package: 'hono',
    start () {
      const { Hono } = require('hono')
      const { serve } = require('@hono/node-server')
      const app = new Hono()
      five(() => app.use(async (c, next) => { await next() }))
      app.get('/', async c => c.text('Hello World'))
      return (port, hostname) => serve({ fetch: app.fetch, port, hostname })
    }
  },

  // All middleware in pm2's cluster mode: pm2 starts the app.
  'kone-pm2': { package: 'kone', isPm2: true, app: require.resolve('./pm2-app'), start: () => require('./pm2-app') },

  restana: {
    package: 'restana',
    start () {
      const app = require('restana')()
      five(() => app.use(async (req, res, next) => next()))
      app.get('/', async (req, res) => {
        res.setHeader('Content-Type', 'text/plain; charset=utf-8')
        res.send('Hello World')
      })
      return (port, host) => app.start(port, host)
    }
  },

  toa: {
    package: 'toa',
    about: 'its middleware run in sequence, not as an onion',
    start () {
      const app = new (require('toa'))()
      five(() => app.use(async function () {}))
      app.use(async function () { this.body = 'Hello World' })
      return app
    }
  },

  'trek-engine': {
    package: 'trek-engine',
    start () {
      const app = new (require('trek-engine'))()
      five(() => app.use(async (ctx, next) => { await next() }))
      app.use(async ctx => {
        ctx.res.type = 'text/plain; charset=utf-8'
        ctx.res.body = 'Hello World'
      })
      return (port, host) => app.run(port, host)
    }
  }
}
