'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const here = name => path.join(__dirname, '../assets', name)
const LOCALES = { directory: here('locales'), extension: '.json', locales: ['en', 'zh-CN'], modes: ['query', 'cookie', 'header'] }

/*
 * The set as Koa has it: the packages that its users install, with their own defaults. Each function mounts one of them.
 */

const DEFAULTS = {
  jsonp: 'koa-jsonp',
  bodyParser: 'koa-bodyparser',
  session: 'koa-session-minimal',
  cors: '@koa/cors',
  helmet: 'koa-helmet',
  compress: 'koa-compress',
  conditionalGet: 'koa-conditional-get',
  requestId: 'koa-requestid'
}

for (const [name, id] of Object.entries(DEFAULTS)) exports[name] = app => app.use(require(id)())

Object.assign(exports, {
  logger (app) {
    const log4js = require('koa-log4')
    log4js.configure({ appenders: { out: { type: 'stdout' } }, categories: { default: { appenders: ['out'], level: 'info' } } })
    app.use(log4js.koaLogger(log4js.getLogger('http'), { level: 'auto' }))
  },

  static: app => app.use(require('koa-static')(here('public'))),
  staticAtOnce: app => exports.static(app), // it reads every file for every request

  i18n (app) {
    require('koa-locale')(app)
    app.use(require('koa-i18n')(app, LOCALES))
  },

  csrf: app => app.use(new (require('koa-csrf'))()),

  favicon: app => app.use(require('koa-favicon')(here('public/favicon.ico'))),

  template: app => app.use(require('koa-views')(here('views'), { map: { html: 'nunjucks' }, options: { cache: true } })),

  etag: app => app.use(require('koa-etag').default()),

  rateLimit: app =>
    app.use(require('koa-ratelimit')({ driver: 'memory', db: new Map(), duration: 3_600_000, max: Number.MAX_SAFE_INTEGER })),

  // multer leaves its files to the app: it removes them, as kone's does by itself.
  upload (app) {
    app.use(async (ctx, next) => {
      await next()
      await Promise.all(ctx.request.files.map(({ path }) => fs.promises.unlink(path)))
    })
    app.use(require('@koa/multer')({ dest: os.tmpdir() }).any())
  },

  Router: () => require('koa-router')
})
