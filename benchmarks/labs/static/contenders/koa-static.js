'use strict'

exports.package = 'koa-static'

exports.descriptorsEach = 2 // one for the connection, one for the file while it is sent

exports.start = ([root]) => new (require('koa'))().use(require('koa-static')(root))
