'use strict'

const kone = require('../../../lib/servers/kone')

exports.package = 'kone'

exports.start = () => new (kone('.'))().use(ctx => { ctx.body = 'Hello World' })
