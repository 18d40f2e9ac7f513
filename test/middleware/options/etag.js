'use strict'

const etag = require('kone/middleware/etag')
const { BOOLEANS } = require('./values')

module.exports = {
  make: options => etag(options),
  final: options => etag.final(options),
  options: { weak: BOOLEANS }
}
