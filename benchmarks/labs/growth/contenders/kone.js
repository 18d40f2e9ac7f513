'use strict'

const kone = require('../../../lib/servers/kone')
const mount = require('./_koa')
const { LIMIT } = require('./_work')

exports.package = 'kone'

exports.start = args => mount(new (kone('.'))(), {
  Router: () => kone('middleware/router'),
  session: () => kone('middleware/session')(),
  template: () => kone('middleware/template'),
  read: ctx => ctx.request.readBody({ limit: LIMIT })
}, ...args)
