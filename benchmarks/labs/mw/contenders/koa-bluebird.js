'use strict'

const koa = require('./koa')

exports.package = 'koa'

// Koa has no option for bluebird; the first report, as everybody then, put it in place of the global.
exports.start = function (args) {
  global.Promise = require('bluebird')
  return koa.start(args)
}
