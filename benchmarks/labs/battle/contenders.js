'use strict'

const http = require('node:http')
const path = require('node:path')
const { installed } = require('../../lib/servers/binaries')
const { versionOf } = require('../../lib/servers/contenders')
const kone = require('../../lib/servers/kone')

const BUN = '1.4.5' // labs/fetch and test/helpers/runtimes.js have it, too

/*
 * Hello world behind five middleware, as each framework means them. A package is loaded when its contender starts.
 */

const five = use => { for (let i = 0; i < 5; i++) use() }

function hello (app) {
  five(() => app.use(async (ctx, next) => { await next() }))
  return app.use(async ctx => { ctx.body = 'Hello World' })
}

// A server of bun.mjs.
const underBun = ({ name, version, about }) => ({
  about,
  version,
  missing () {
    if (process.platform !== 'linux') return 'the CPU time of a process that is not Node is known on Linux only'
    try {
      bun()
      return null
    } catch {
      return `npm install bun@${BUN} failed`
    }
  },
  command: () => [bun(), path.join(__dirname, 'bun.mjs'), name],
  env: ({ host, port }) => ({ HOST: host, PORT: String(port), NODE_ENV: 'production' })
})

const bun = () => installed(`bun@${BUN}`, 'bun/bin/bun.exe')

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

  h3: {
    package: 'h3',
    start () {
      const { H3 } = require('h3')
      const { toNodeHandler } = require('h3/node')
      const app = new H3()
      five(() => app.use(async (event, next) => await next()))
      app.get('/', async event => {
        event.res.headers.set('Content-Type', 'text/plain; charset=utf-8')
        return 'Hello World'
      })
      return http.createServer(toNodeHandler(app))
    }
  },

  polka: {
    package: 'polka',
    start () {
      const app = require('polka')()
      five(() => app.use(async (req, res, next) => next()))
      app.get('/', async (req, res) => {
        res.setHeader('Content-Type', 'text/plain; charset=utf-8')
        res.setHeader('Content-Length', 11)
        res.end('Hello World')
      })
      return http.createServer(app.handler)
    }
  },

  // All middleware in pm2's cluster mode: pm2 starts the app.
  'kone-pm2': { package: 'kone', isPm2: true, start: () => require('./pm2-app') },

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
  },

  'bun-serve': underBun({ name: 'serve', version: () => BUN, about: 'Bun.serve without middleware, another runtime' }),

  'elysia-bun': underBun({ name: 'elysia', version: versionOf('elysia'), about: `under Bun ${BUN}, another runtime` })
}
