'use strict'

exports.package = 'koa-static'

exports.start = ([root]) => new (require('koa'))().use(require('koa-static')(root))
