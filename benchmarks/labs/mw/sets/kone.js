'use strict'

const path = require('node:path')
const kone = require('../../../lib/servers/kone')

const here = name => path.join(__dirname, '../assets', name)
const set = name => kone(`middleware/${name}`)
const LOCALES = { directory: here('locales'), extension: '.json', locales: ['en', 'zh-CN'], modes: ['query', 'cookie', 'header'] }

/*
 * The set as kone ships it, with its own defaults. What acts after the onion goes to app.final.
 */

const DEFAULTS = ['bodyParser', 'session', 'cors', 'csrf', 'helmet', 'compress', 'conditionalGet', 'etag', 'health', 'isolate',
  'metrics', 'requestId', 'sse', 'upload']

for (const name of DEFAULTS) exports[name] = app => app.use(set(name)())

for (const name of ['jsonp', 'logger']) exports[name] = app => app.final(set(name).final())

Object.assign(exports, {
  static: app => app.use(set('static')(here('public'))),
  staticAtOnce: app => app.use(set('static')(here('public'), { dev: true })),
  i18n: app => app.use(set('i18n')(app, LOCALES)),
  favicon: app => app.use(set('favicon')(here('public/favicon.ico'))),
  template: app => app.use(set('template')(here('views'), { map: { html: 'nunjucks' } })),
  rateLimit: app => app.use(set('rateLimit')({ max: Number.MAX_SAFE_INTEGER })),
  overload: app => app.use(set('overload')({ maxEventLoopDelay: 60_000 })),
  rpc: app => app.use(set('rpc')({ add: (a, b) => a + b })),
  timeout: app => app.use(set('timeout')(5000)),
  validate (app) {
    const { z } = require('zod')
    app.use(set('validate')({ query: z.object({ page: z.coerce.number().int() }) }))
  },
  Router: () => set('router')
})
