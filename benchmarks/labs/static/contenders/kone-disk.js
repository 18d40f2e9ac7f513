'use strict'

const kone = require('../../../lib/servers/kone')

exports.package = 'kone'
exports.about = 'opens and reads the file for every response'

exports.start = ([root]) => new (kone('.'))().use(kone('middleware/static')(root, { cacheSize: 0 }))
