'use strict'

const isolate = require('kone/middleware/isolate')

module.exports = { make: options => isolate(options), options: {} }
