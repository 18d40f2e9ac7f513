'use strict'

const sse = require('kone/middleware/sse')

module.exports = {
  make: options => sse(options),
  options: { heartbeat: ['1s', -1, 0.5, 2 ** 31, null], limit: ['1kb', 0, 0.5, null] }
}
