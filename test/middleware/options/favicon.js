'use strict'

const favicon = require('kone/middleware/favicon')
const { TEXTS } = require('./values')

module.exports = {
  make: options => favicon(undefined, options),
  options: { maxAge: ['1d', -1, NaN], mime: TEXTS }
}
