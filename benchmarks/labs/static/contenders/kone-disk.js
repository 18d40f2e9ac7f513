'use strict'

const kone = require('../../../lib/servers/kone')

exports.package = 'kone'
exports.about = 'opens and reads the file for every response'

exports.descriptorsEach = 2 // one for the connection, one for the file while it is sent

exports.start = ([root]) => new (kone('.'))().use(kone('middleware/static')(root, { cacheSize: 0 }))
