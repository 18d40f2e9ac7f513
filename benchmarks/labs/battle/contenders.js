'use strict'

const http = require('node:http')
const https = require('node:https')
const path = require('node:path')
const { installed } = require('../../lib/servers/binaries')
const { certificate } = require('../../lib/servers/certificate')
const { versionOf } = require('../../lib/servers/contenders')
const kone = require('../../lib/servers/kone')

const BUN = '1.4.5' // test/helpers/runtimes.js has it, too

/*
 * Hello world behind five middleware, as each framework means them. A package is loaded when its contender starts.
 */

const TEXT = 'text/plain; charset=utf-8'
const HELLO = 'Hello World'
const five = use => { for (let i = 0; i < 5; i++) use() }

// A contender of a package.
const entry = (of, start, about) => ({ package: of, about, start: ([folder]) => start(folder) })

// Over TLS, if there is the folder of a certificate.
const served = (app, folder) => {
  if (folder === undefined) return app.callback ? app : http.createServer(app)
  const given = certificate(folder)
  return app.attach ? app.attach(https.createServer(given)) : https.createServer(given, app.callback?.() ?? app)
}

// One with Koa's API.
const koa = (of, load) => entry(of, folder => {
  const app = new (load())()
  five(() => app.use(async (ctx, next) => { await next() }))
  return served(app.use(async ctx => { ctx.body = HELLO }), folder)
})

// node:http without middleware, with the response that `respond` writes.
const node = (respond, about) => entry(undefined, folder => served((req, res) => respond(res), folder), about)

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
  // No middleware: the floor.
  node: node(res => {
    res.setHeader('Content-Type', TEXT)
    res.setHeader('Content-Length', 11)
    res.end(HELLO)
  }),

  'node-cheapest': node(res => {
    res.writeHead(200, ['Content-Type', TEXT, 'Content-Length', '11'])
    res.end(HELLO)
  }, 'writeHead() with an array, the form that costs node:http least'),

  kone: koa('kone', () => kone('.')),

  'kone-bluebird': koa('kone', () => kone('lib/bluebird')),

  koa: koa('koa', () => require('koa')),

  koa3: koa('koa3', () => require('koa3')),

  express: entry('express', () => {
    const app = require('express')()
    five(() => app.use((req, res, next) => next()))
    return app.use((req, res) => res.type('text').send(HELLO))
  }),

  fastify: entry('fastify', folder => {
    const app = require('fastify')(folder === undefined ? {} : { https: certificate(folder) })
    five(() => app.addHook('onRequest', async () => {}))
    app.get('/', async () => HELLO)
    return (port, host, backlog) => app.listen({ port, host, backlog }).then(() => app.server)
  }),

  hono: entry('hono', () => {
    const { Hono } = require('hono')
    const { serve } = require('@hono/node-server')
    const app = new Hono()
    five(() => app.use(async (c, next) => { await next() }))
    app.get('/', async c => c.text(HELLO))
    return (port, hostname) => serve({ fetch: app.fetch, port, hostname })
  }),

  h3: entry('h3', () => {
    const { H3 } = require('h3')
    const { toNodeHandler } = require('h3/node')
    const app = new H3()
    five(() => app.use(async (event, next) => await next()))
    app.get('/', async event => {
      event.res.headers.set('Content-Type', TEXT)
      return HELLO
    })
    return http.createServer(toNodeHandler(app))
  }),

  polka: entry('polka', () => {
    const app = require('polka')()
    five(() => app.use(async (req, res, next) => next()))
    app.get('/', async (req, res) => {
      res.setHeader('Content-Type', TEXT)
      res.setHeader('Content-Length', 11)
      res.end(HELLO)
    })
    return http.createServer(app.handler)
  }),

  // All middleware in pm2's cluster mode: pm2 starts the app.
  'kone-pm2': {
    package: 'kone',
    isPm2: true,
    start () {
      const { SIGNED_OUT, mount } = require('../mw/workloads')
      return mount(new (kone('.'))(), require('../mw/sets/kone'), SIGNED_OUT)
    }
  },

  restana: entry('restana', () => {
    const app = require('restana')()
    five(() => app.use(async (req, res, next) => next()))
    app.get('/', async (req, res) => {
      res.setHeader('Content-Type', TEXT)
      res.send(HELLO)
    })
    return (port, host) => app.start(port, host)
  }),

  toa: entry('toa', () => {
    const app = new (require('toa'))()
    five(() => app.use(async function () {}))
    app.use(async function () { this.body = HELLO })
    return app
  }, 'its middleware run in sequence, not as an onion'),

  'trek-engine': entry('trek-engine', () => {
    const app = new (require('trek-engine'))()
    five(() => app.use(async (ctx, next) => { await next() }))
    app.use(async ctx => {
      ctx.res.type = TEXT
      ctx.res.body = HELLO
    })
    return (port, host) => app.run(port, host)
  }),

  'bun-serve': underBun({ name: 'serve', version: () => BUN, about: 'Bun.serve without middleware, another runtime' }),

  'elysia-bun': underBun({ name: 'elysia', version: versionOf('elysia'), about: `under Bun ${BUN}, another runtime` })
}
