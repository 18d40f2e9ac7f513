'use strict'

const fs = require('node:fs')
const https = require('node:https')
const path = require('node:path')
const { Readable } = require('node:stream')
const { certificate, makeCertificate } = require('../../lib/servers/certificate')
const { AGENTS, underAgent } = require('./agents')

/*
 * The apps of the lab, with published packages as npm gives them. They are the same code for kone and for Koa: only the
 * class that they are made of differs.
 */

const CHUNK = 'four chunks of 4 KB are what a small report weighs when it is streamed\n'.repeat(59).slice(0, 4096)
const CHUNKS = exports.CHUNKS = [CHUNK, CHUNK, CHUNK, CHUNK]
const USER = exports.USER = { id: 4711, name: 'ada', tags: ['web', 'framework'], active: true }
const PAGE = exports.PAGE = `<!doctype html>\n<title>Articles</title>\n${'<p>A page of two kilobytes, as a template makes it.</p>\n'.repeat(40)}`.slice(0, 2048)

/**
 * The app of a workload.
 *
 *    start(['API', '/tmp/dropin'], () => require('koa'), 'koa').listen(3000)
 */
exports.start = function ([workload, folder], framework, name) {
  if (AGENTS.includes(workload)) {
    const make = require => {
      const app = new (require('koa'))()
      api(app, folder, require)
      return app
    }
    return (...where) => underAgent(workload, folder, name, make).then(app => app.listen(...where))
  }
  load(workload)
  const Framework = framework()
  const app = new Framework()
  return apps[workload](app, folder) ?? app
}

/** Load the agent of a workload, if it has one; before the framework, as its manual wants it. */
const load = exports.load = function (workload) {
  if (workload === 'OpenTelemetry') require('./tracing')
}

const apps = {
  'ctx.res.setHeader' (app) {
    app.use(ctx => {
      ctx.res.setHeader('X-Response-Id', '4711')
      ctx.body = 'Hello World'
    })
  },

  "ctx.res.once('finish')" (app) {
    let finished = 0
    app.use(ctx => {
      ctx.res.once('finish', () => { finished++ })
      ctx.state.before = finished
      ctx.body = 'Hello World'
    })
  },

  API: api,

  'API, POST': api,

  'pino-http' (app, folder) {
    const log = logger(folder)
    app.use((ctx, next) => {
      log(ctx.req, ctx.res)
      return next()
    })
    app.use(ctx => { ctx.body = USER })
  },

  page (app, folder) {
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

  'koa-static, 1 KB': files,

  'koa-static, 64 KB': files,

  'Readable.from' (app) {
    app.use(ctx => {
      ctx.type = 'text/plain'
      ctx.body = Readable.from(CHUNKS)
    })
  },

  OpenTelemetry: api,

  pm2 (app) {
    app.use(ctx => { ctx.body = 'Hello World' })
  },

  https (app, folder) {
    app.use(ctx => { ctx.body = USER })
    if (app.attach) return app.attach(https.createServer(certificate(folder)))
    return https.createServer(certificate(folder), app.callback())
  },

  'ctx.res touched' (app) {
    app.use(ctx => {
      ctx.state.res = ctx.res
      ctx.body = 'Hello World'
    })
  }
}

function api (app, folder, require = module.require.bind(module)) {
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

function files (app, folder) {
  app.use(require('koa-static')(path.join(folder, 'public')))
}

/**
 * pino-http writing to a file, as a service without a log collector does. The file is emptied every second: it would
 * grow by gigabytes.
 */
const logger = exports.logger = function (folder) {
  const pino = require('pino')
  const file = path.join(folder, `${process.pid}.log`)
  setInterval(() => fs.truncate(file, () => {}), 1000).unref()
  return require('pino-http')({}, pino.destination(file))
}

/** The files that the apps read: two to serve, a certificate. */
exports.prepare = async function (folder) {
  fs.mkdirSync(path.join(folder, 'public'))
  for (const [name, bytes] of [['1k.html', 1024], ['64k.html', 65_536]]) {
    fs.writeFileSync(path.join(folder, 'public', name), text(bytes))
  }
  await makeCertificate(folder)
}

/** The content of a file. */
const text = exports.text = bytes => 'A file as it lies on a disk.\n'.repeat(Math.ceil(bytes / 29)).slice(0, bytes)
