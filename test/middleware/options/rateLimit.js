'use strict'

const rateLimit = require('kone/middleware/rateLimit')
const { STRINGS, TEXTS, BOOLEANS, FUNCTIONS } = require('./values')

module.exports = {
  make: options => rateLimit(options),
  options: {
    driver: [5, 'mongo', null],
    db: [5, {}, null],
    duration: ['1m', 0, Infinity, NaN],
    max: ['5', -1, NaN],
    id: FUNCTIONS,
    ipv6Subnet: ['64', 0, 129, 63.5],
    namespace: STRINGS,
    headers: [5, 'x', []],
    'headers.remaining': TEXTS,
    'headers.reset': TEXTS,
    'headers.total': TEXTS,
    disableHeader: BOOLEANS,
    standardHeaders: [true, 'draft-7', null, 5],
    errorMessage: [5, true, null],
    status: ['429', 200, 600],
    throw: BOOLEANS,
    onLimited: FUNCTIONS,
    whitelist: FUNCTIONS,
    blacklist: FUNCTIONS,
    failOpen: BOOLEANS
  }
}
