'use strict'

// All middleware in pm2's cluster mode: pm2 starts the app.
exports.package = 'kone'
exports.isPm2 = true
exports.app = require.resolve('./_pm2-app')

exports.start = () => require('./_pm2-app')
