'use strict'

const kone = require('../../../lib/servers/kone')
const mount = require('../app')

exports.package = 'kone'

exports.start = ([workload]) => mount(new (kone('.'))(), require('../sets/kone'), workload)
