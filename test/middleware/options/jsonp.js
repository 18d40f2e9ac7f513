'use strict'

const jsonp = require('kone/middleware/jsonp')
const { TEXTS } = require('./values')

module.exports = {
  make: options => jsonp(options),
  final: options => jsonp.final(options),
  options: { callbackName: TEXTS, domain: ['example.com'] }
}
