'use strict'

const kone = require('../../../lib/servers/kone')

const MB = 2 ** 20

exports.package = 'kone'
exports.about = 'from memory'

exports.start = ([root]) => new (kone('.'))().use(kone('middleware/static')(root, { cacheFileSize: 2 * MB }))
