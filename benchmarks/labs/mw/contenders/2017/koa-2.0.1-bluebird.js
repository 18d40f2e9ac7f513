'use strict'

const koa = require('./koa-2.0.1')
const take = require('../../../../lib/servers/take-2017')

exports.package = 'koa'

exports.start = function (args) {
  global.Promise = take('bluebird')
  return koa.start(args)
}
