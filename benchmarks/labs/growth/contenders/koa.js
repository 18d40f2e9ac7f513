'use strict'

const { read } = require('../../../lib/servers/send')
const mount = require('./_koa')

exports.package = 'koa'
exports.about = 'with koa-router, koa-session-minimal, koa-views'

exports.start = args => mount(new (require('koa'))(), {
  Router: () => require('koa-router'),
  session: () => require('koa-session-minimal')(),
  template: () => require('koa-views'),
  read: ctx => read(ctx.req)
}, ...args)
