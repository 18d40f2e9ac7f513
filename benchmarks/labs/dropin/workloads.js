'use strict'

const fs = require('node:fs')
const https = require('node:https')
const path = require('node:path')
const { Readable } = require('node:stream')
const { certificate, makeCertificate } = require('../../lib/servers/certificate')
const { send, sendJSON } = require('../../lib/servers/send')
const { AGENTS } = require('./agents')
const { APPLICATIONS } = require('./applications')

/*
 * The rows of the lab, with published packages as npm gives them. An app is the same code for kone and for Koa: only the
 * framework differs. By hand it is the same response by node:http, and by the packages that were written for it. What
 * kone ÷ koa shall be at most is in lib/report/claims.json. The request is sent by wrk over 50 connections.
 */

const TEXT = 'text/plain; charset=utf-8'
const CHUNKS = ['a', 'b', 'c', 'd'].map(letter => letter.repeat(4096))
const USER = { id: 4711, name: 'ada', tags: ['web', 'framework'], active: true }
const PAGE = `<!doctype html>\n<title>Articles</title>\n${'<p>A page of two kilobytes, as a template makes it.</p>\n'.repeat(40)}`.slice(0, 2048)
const BODY = JSON.stringify({
  id: 4711,
  name: 'a guest of the house',
  tags: ['web', 'framework', 'http', 'server'],
  note: 'Two hundred bytes are what a small form or an everyday call to an API weighs.'.padEnd(106, '.')
})

// The content of a file.
const text = bytes => 'A file as it lies on a disk.\n'.repeat(Math.ceil(bytes / 29)).slice(0, bytes)

const hello = { status: 200, type: TEXT, body: 'Hello World' }
const json = body => ({ status: 200, type: 'application/json; charset=utf-8', body })
const sendHello = (req, res) => send(res, TEXT, 'Hello World')
const sendUser = (req, res) => sendJSON(res, USER)

const api = {
  mount: mountAPI,
  // helmet is what koa-helmet wraps; the others are a line each.
  byHand () {
    const helmet = require('helmet')()
    return (req, res) => helmet(req, res, () => {
      res.setHeader('Vary', 'Origin')
      res.setHeader('Access-Control-Allow-Origin', '*')
      if (req.method === 'GET') return sendJSON(res, { ...USER, id: Number(req.url.slice('/users/'.length)) })
      const chunks = []
      req.on('data', chunk => chunks.push(chunk))
      req.on('end', () => sendJSON(res, JSON.parse(Buffer.concat(chunks))))
    })
  },
  request: { path: '/users/4711' },
  expected: json(JSON.stringify(USER))
}

const file = (name, bytes) => ({
  mount: (app, folder) => { app.use(require('koa-static')(path.join(folder, 'public'))) },
  // What koa-static does for a file, without its ranges, indexes and refusals.
  byHand (folder) {
    const root = path.join(folder, 'public')
    return (req, res) => {
      const file = path.join(root, req.url)
      fs.stat(file, (err, stats) => {
        res.statusCode = err ? 404 : 200
        if (err) return res.end()
        res.setHeader('Content-Length', stats.size)
        res.setHeader('Last-Modified', stats.mtime.toUTCString())
        res.setHeader('Cache-Control', 'max-age=0')
        res.setHeader('Content-Type', 'text/html; charset=utf-8')
        fs.createReadStream(file).pipe(res)
      })
    }
  },
  request: { path: `/${name}` },
  expected: { status: 200, type: 'text/html; charset=utf-8', body: text(bytes) },
  floor: { file: name }
})

// mount(app, folder): the app, or what listens in its place; byHand(folder): a handler, if node takes part; app: a whole
// application, in place of these; contenders: if not those three; to: who kone is compared with, if not koa
const WORKLOADS = {
  'ctx.res.setHeader': {
    about: 'ctx.res.setHeader(), a string body',
    mount (app) {
      app.use(ctx => {
        ctx.res.setHeader('X-Response-Id', '4711')
        ctx.body = 'Hello World'
      })
    },
    byHand: () => (req, res) => {
      res.setHeader('X-Response-Id', '4711')
      sendHello(req, res)
    },
    expected: { ...hello, headers: { 'x-response-id': '4711' } }
  },
  "ctx.res.once('finish')": {
    about: "ctx.res.once('finish'), a string body",
    mount (app) {
      let finished = 0
      app.use(ctx => {
        ctx.res.once('finish', () => { finished++ })
        ctx.state.before = finished
        ctx.body = 'Hello World'
      })
    },
    byHand () {
      let finished = 0
      return (req, res) => {
        res.once('finish', () => { finished++ })
        res.before = finished
        sendHello(req, res)
      }
    },
    expected: hello
  },
  API: { ...api, about: 'API: koa-helmet, @koa/cors, koa-bodyparser, @koa/router, JSON' },
  'API, POST': {
    ...api,
    about: 'API, POST of 200 bytes of JSON',
    request: { method: 'POST', path: '/users', headers: { 'content-type': 'application/json' }, body: BODY },
    expected: json(BODY)
  },
  'pino-http': {
    about: 'pino-http to a file, JSON',
    mount (app, folder) {
      const log = logger(folder)
      app.use((ctx, next) => {
        log(ctx.req, ctx.res)
        return next()
      })
      app.use(ctx => { ctx.body = USER })
    },
    byHand (folder) {
      const log = logger(folder)
      return (req, res) => {
        log(req, res)
        sendUser(req, res)
      }
    },
    expected: json(JSON.stringify(USER))
  },
  page: {
    about: 'page: koa-helmet, koa-conditional-get, koa-etag, koa-session, koa-static, 2 KB of HTML',
    mount (app, folder) {
      app.keys = ['a key that signs']
      app.use(require('koa-helmet')())
      app.use(require('koa-conditional-get')())
      app.use(require('koa-etag').default())
      app.use(require('koa-session').createSession({}, app))
      app.use(require('koa-static')(path.join(folder, 'public')))
      app.use(ctx => {
        ctx.state.user = ctx.session.user ?? 'guest'
        ctx.type = 'html'
        ctx.body = PAGE
      })
    },
    request: { path: '/articles' },
    expected: { status: 200, type: 'text/html; charset=utf-8', body: PAGE },
    contenders: ['kone', 'koa']
  },
  'koa-static, 1 KB': { ...file('1k.html', 1024), about: 'koa-static, a file of 1 KB' },
  'koa-static, 64 KB': { ...file('64k.html', 65_536), about: 'koa-static, a file of 64 KB' },
  'Readable.from': {
    about: 'ctx.body = Readable.from(), four chunks of 4 KB',
    mount (app) {
      app.use(ctx => {
        ctx.type = 'text/plain'
        ctx.body = Readable.from(CHUNKS)
      })
    },
    byHand: () => (req, res) => {
      res.setHeader('Content-Type', TEXT)
      Readable.from(CHUNKS).pipe(res)
    },
    expected: { ...hello, body: CHUNKS.join('') }
  },
  OpenTelemetry: { ...api, about: 'the API under OpenTelemetry (instrumentation-http)', load: './tracing' },
  ...Object.fromEntries(AGENTS.map(agent => [agent, { ...api, about: `the API under ${agent}`, agent, contenders: ['kone', 'koa'] }])),
  pm2: {
    about: 'pm2 start app.js -i 1, a string body',
    mount: app => { app.use(ctx => { ctx.body = 'Hello World' }) },
    byHand: () => sendHello,
    expected: hello
  },
  https: {
    about: 'https, JSON',
    mount (app, folder) {
      app.use(ctx => { ctx.body = USER })
      if (app.attach) return app.attach(https.createServer(certificate(folder)))
      return https.createServer(certificate(folder), app.callback())
    },
    byHand: () => sendUser,
    request: { protocol: 'https' },
    expected: json(JSON.stringify(USER))
  },
  ...APPLICATIONS,
  'ctx.res touched': {
    about: 'ctx.res read, a string body: kone ÷ kone on node:http',
    mount (app) {
      app.use(ctx => {
        ctx.state.res = ctx.res
        ctx.body = 'Hello World'
      })
    },
    expected: hello,
    contenders: ['kone', 'kone-node'],
    to: 'kone-node'
  }
}

exports.workloads = Object.entries(WORKLOADS).map(([workload, how]) =>
  ({ workload, request: {}, contenders: ['kone', 'koa', 'node'], to: 'koa', ...how }))

// `require`: of the app, where an agent has its modules in a folder of their own.
function mountAPI (app, folder, require = module.require.bind(module)) {
  const Router = require('@koa/router')
  const router = new Router()
  router.get('/users/:id', ctx => { ctx.body = { ...USER, id: Number(ctx.params.id) } })
  router.post('/users', ctx => { ctx.body = ctx.request.body })

  app.use(require('koa-helmet')())
  app.use(require('@koa/cors')())
  app.use(require('koa-bodyparser')())
  app.use(router.routes())
  app.use(router.allowedMethods())
}

// pino-http writing to a file, as a service without a log collector does. The file is emptied every second: it would
// grow by gigabytes.
function logger (folder) {
  const pino = require('pino')
  const file = path.join(folder, `${process.pid}.log`)
  setInterval(() => fs.truncate(file, () => {}), 1000).unref()
  return require('pino-http')({}, pino.destination(file))
}

/** Write the files that the apps read: two to serve, a certificate. */
exports.prepare = async function (folder) {
  fs.mkdirSync(path.join(folder, 'public'))
  for (const [name, bytes] of [['1k.html', 1024], ['64k.html', 65_536]]) {
    fs.writeFileSync(path.join(folder, 'public', name), text(bytes))
  }
  await makeCertificate(folder)
}
