'use strict'

const requestId = require('kone/middleware/requestId')

module.exports = {
  make: options => requestId(options),
  options: { header: [5, '', 'a b', true, null], query: [5, '', null], expose: [5, 'a\nb', null] }
}
