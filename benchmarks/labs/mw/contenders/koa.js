'use strict'

const mount = require('../app')

exports.package = 'koa'

exports.start = ([workload]) => mount(new (require('koa'))(), require('../sets/koa'), workload)
