'use strict'

const metrics = require('kone/middleware/metrics')
const { BOOLEANS, STRINGS } = require('./values')

module.exports = {
  make: options => metrics(options),
  options: {
    path: [5, 'metrics', true, null],
    prefix: STRINGS,
    buckets: [5, ['1'], [-1], null],
    defaults: BOOLEANS,
    client: [5, {}, null],
    register: [5, {}, null]
  }
}
