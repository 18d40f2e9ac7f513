'use strict'

const http = require('node:http')
const querystring = require('node:querystring')
const kone = require('../../lib/servers/kone')
const { send, sendJSON } = require('../../lib/servers/send')
const { 'node-cheapest': cheapest } = require('../battle/contenders')
const { inProcess } = require('./fetch')

/*
 * kone, Koa and node:http, each with what the workload of its argument does.
 */

const value = () => ({ id: 4711, name: 'kone', tags: ['web', 'framework'], fast: true })
const TEXT = 'text/plain; charset=utf-8'

// What kone and Koa respond with: the same functions, so that only the framework differs. The last is kone's alone.
const handlers = {
  hello: async ctx => { ctx.body = 'Hello World' },

  browser: async ctx => {
    ctx.set('X-Language', ctx.get('Accept-Language'))
    ctx.set('X-Page', ctx.query.page)
    ctx.body = 'Hello World'
  },

  json: async ctx => { ctx.body = value() },

  parser: async ctx => { ctx.body = ctx.request.body },

  post: async ctx => { ctx.body = JSON.parse(await ctx.request.readBody({ limit: 1024 * 1024 })) }
}

// The same responses with node:http alone.
const byHand = {
  hello: (req, res) => send(res, TEXT, 'Hello World'),

  browser (req, res) {
    const query = querystring.parse(req.url.slice(req.url.indexOf('?') + 1))
    res.setHeader('X-Language', req.headers['accept-language'])
    res.setHeader('X-Page', query.page)
    send(res, TEXT, 'Hello World')
  },

  json: (req, res) => sendJSON(res, value()),

  post (req, res) {
    const chunks = []
    req.on('data', chunk => chunks.push(chunk))
    req.on('end', () => sendJSON(res, JSON.parse(Buffer.concat(chunks))))
  }
}

function mounted (app, workload, bodyParser) {
  for (let i = 0; i < 5; i++) app.use(async (ctx, next) => { await next() })
  if (workload === 'parser') app.use(bodyParser())
  return app.use(handlers[workload])
}

const koneWith = (workload, options) => mounted(new (kone('.'))(options), workload, () => kone('middleware/bodyParser')())

const ours = { package: 'kone', start: ([workload]) => workload === 'fetch' ? inProcess(koneWith('hello')) : koneWith(workload) }

module.exports = {
  node: { start: ([workload]) => http.createServer(byHand[workload]) },

  'node-cheapest': { ...cheapest, start: () => cheapest.start([]) },

  kone: ours,

  koa: { package: 'koa', start: ([workload]) => mounted(new (require('koa'))(), workload, () => require('koa-bodyparser')()) },

  'kone-bodyParser': ours,

  'kone-node': {
    package: 'kone',
    about: 'kone on node:http, without the front',
    start: ([workload]) => koneWith(workload, { http1: false })
  },

  hono: {
    package: 'hono',
    about: 'app.fetch() alone, without a server',
    start () {
      const app = new (require('hono').Hono)()
      for (let i = 0; i < 5; i++) app.use(async (c, next) => { await next() })
      return inProcess(app.get('/', c => c.text('Hello World')))
    }
  }
}
