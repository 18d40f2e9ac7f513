'use strict'

const router = require('kone/middleware/router')
const { STRINGS, BOOLEANS } = require('./values')

module.exports = {
  make: options => router(options),
  options: {
    prefix: STRINGS,
    host: [...STRINGS, [], [5], [['a']]],
    methods: ['GET', [5], null],
    routerPath: STRINGS,
    exclusive: BOOLEANS,
    sensitive: BOOLEANS,
    strict: BOOLEANS,
    syntax: ['8', 7, null]
  }
}
