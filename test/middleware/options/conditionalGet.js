'use strict'

const conditionalGet = require('kone/middleware/conditionalGet')

module.exports = {
  make: options => conditionalGet(options),
  final: options => conditionalGet.final(options),
  options: {}
}
