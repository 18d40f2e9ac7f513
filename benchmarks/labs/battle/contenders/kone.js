'use strict'

const kone = require('../../../lib/servers/kone')
const { hello } = require('./koa')

exports.package = 'kone'

exports.start = () => hello(new (kone('.'))())
