'use strict'

exports.package = 'koa'

exports.start = function (args) {
  return exports.hello(new (require('koa'))(), args)
}

exports.hello = function (app, args) {
  var body = require('./node').text(args[0])
  return app.use(function (ctx) {
    ctx.set('Content-Type', 'text/plain')
    ctx.body = body
  })
}
