'use strict'

exports.package = 'koa'

exports.start = () => new (require('koa'))().use(ctx => { ctx.body = 'Hello World' })
