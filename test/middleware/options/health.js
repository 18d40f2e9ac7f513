'use strict'

const health = require('kone/middleware/health')
const { FUNCTIONS } = require('./values')

module.exports = {
  make: options => health(options),
  options: {
    live: [5, 'healthz', true, null],
    ready: [5, 'readyz', true, null],
    checks: [5, [], { redis: 'ping' }],
    timeout: ['1s', 0, 2 ** 31, NaN],
    details: ['yes', 1, null, {}],
    beforeShutdown: FUNCTIONS,
    afterShutdown: FUNCTIONS
  },
  open: ['checks'] // their names
}
