'use strict'

const { hello } = require('./koa')

exports.package = 'koa3'

exports.start = () => hello(new (require('koa3'))())
