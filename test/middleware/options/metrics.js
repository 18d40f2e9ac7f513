'use strict'

const metrics = require('kone/middleware/metrics')
const { BOOLEANS, STRINGS, TEXTS } = require('./values')

module.exports = {
  make: options => metrics(options),
  options: {
    path: [5, 'metrics', true, null],
    prefix: STRINGS,
    buckets: [5, ['1'], [-1], null],
    labels: [5, [], null, { a: 'x' }, { status: () => 'x' }, { 'a-b': () => 'x' }],
    exclude: ['/x', [5], null],
    token: TEXTS,
    defaults: BOOLEANS,
    client: [5, {}, null],
    register: [5, {}, null]
  },
  open: ['labels'] // their names
}
