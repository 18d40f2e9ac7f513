'use strict'

const path = require('node:path')
const kone = require('../../../lib/servers/kone')

const here = name => path.join(__dirname, '../assets', name)
const set = name => kone(`middleware/${name}`)
const LOCALES = {
  directory: here('locales'),
  extension: '.json',
  locales: ['en', 'zh-CN'],
  modes: ['query', 'cookie', 'header']
}

/*
 * The set as kone ships it, with its own defaults. What acts after the onion goes to app.final.
 */

exports.jsonp = app => app.final(set('jsonp').final())

exports.logger = app => app.final(set('logger').final())

exports.static = app => app.use(set('static')(here('public')))

exports.bodyParser = app => app.use(set('bodyParser')())

exports.session = app => app.use(set('session')())

exports.i18n = app => app.use(set('i18n')(app, LOCALES))

exports.cors = app => app.use(set('cors')())

exports.csrf = app => app.use(set('csrf')())

exports.helmet = app => app.use(set('helmet')())

exports.favicon = app => app.use(set('favicon')(here('public/favicon.ico')))

exports.template = app => app.use(set('template')(here('views'), { map: { html: 'nunjucks' } }))

exports.compress = app => app.use(set('compress')())

exports.conditionalGet = app => app.use(set('conditionalGet')())

exports.etag = app => app.use(set('etag')())

exports.health = app => app.use(set('health')())

exports.isolate = app => app.use(set('isolate')())

exports.metrics = app => app.use(set('metrics')())

exports.rateLimit = app => app.use(set('rateLimit')({ max: Number.MAX_SAFE_INTEGER }))

exports.requestId = app => app.use(set('requestId')())

exports.sse = app => app.use(set('sse')())

exports.timeout = app => app.use(set('timeout')(5000))

exports.upload = app => app.use(set('upload')())

exports.validate = app => {
  const { z } = require('zod')
  app.use(set('validate')({ query: z.object({ page: z.coerce.number().int() }) }))
}

exports.Router = () => set('router')
