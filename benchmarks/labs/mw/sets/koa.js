'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const here = name => path.join(__dirname, '../assets', name)
const LOCALES = {
  directory: here('locales'),
  extension: '.json',
  locales: ['en', 'zh-CN'],
  modes: ['query', 'cookie', 'header']
}

/*
 * The set as Koa has it: the packages that its users install, with their own defaults. Each function
 * mounts one of them.
 */

exports.jsonp = app => app.use(require('koa-jsonp')())

exports.logger = app => {
  const log4js = require('koa-log4')
  log4js.configure({
    appenders: { out: { type: 'stdout' } },
    categories: { default: { appenders: ['out'], level: 'info' } }
  })
  app.use(log4js.koaLogger(log4js.getLogger('http'), { level: 'auto' }))
}

exports.static = app => app.use(require('koa-static')(here('public')))

exports.bodyParser = app => app.use(require('koa-bodyparser')())

exports.session = app => app.use(require('koa-session-minimal')())

exports.i18n = app => {
  require('koa-locale')(app)
  app.use(require('koa-i18n')(app, LOCALES))
}

exports.cors = app => app.use(require('@koa/cors')())

exports.csrf = app => app.use(new (require('koa-csrf'))())

exports.helmet = app => app.use(require('koa-helmet')())

exports.favicon = app => app.use(require('koa-favicon')(here('public/favicon.ico')))

exports.template = app => app.use(require('koa-views')(here('views'), { map: { html: 'nunjucks' } }))

exports.compress = app => app.use(require('koa-compress')())

exports.conditionalGet = app => app.use(require('koa-conditional-get')())

exports.etag = app => app.use(require('koa-etag').default())

exports.rateLimit = app =>
  app.use(require('koa-ratelimit')({ driver: 'memory', db: new Map(), duration: 3_600_000, max: Number.MAX_SAFE_INTEGER }))

exports.requestId = app => app.use(require('koa-requestid')())

// multer leaves its files to the app: it removes them, as kone's does by itself.
exports.upload = app => {
  const multer = require('@koa/multer')
  app.use(async (ctx, next) => {
    await next()
    await Promise.all(ctx.request.files.map(({ path }) => fs.promises.unlink(path)))
  })
  app.use(multer({ dest: os.tmpdir() }).any())
}

exports.Router = () => require('koa-router')
