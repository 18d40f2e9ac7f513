'use strict'

const hessian = require('hessian.js')

// Hessian 2 over HTTP, for every contender the same package.
module.exports = {
  type: 'application/x-hessian',
  decode: buffer => hessian.decode(buffer, '2.0'),
  encode: value => hessian.encode(value, '2.0')
}
