'use strict'

var hello = require('./koa').hello

exports.package = 'kone'

exports.start = function (args) {
  var kone = require('../../../lib/servers/kone')
  return hello(new (kone('.'))(), args)
}
