'use strict'

const { start } = require('../app')

exports.package = 'koa'

exports.start = args => start(args, () => require('koa'))
