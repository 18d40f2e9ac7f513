'use strict'

const kone = require('../../../lib/servers/kone')
const { start } = require('../app')

exports.package = 'kone'

exports.start = args => start(args, () => kone('.'))
