'use strict'

const rpc = require('kone/middleware/rpc')
const { SIZES } = require('./values')

module.exports = {
  make: options => rpc({}, options),
  options: {
    prefix: [5, 'rpc', '/a?b', null],
    codecs: [{}, [5], [{ type: 'x/y' }], [{ type: 'x', decode () {}, encode () {} }]],
    limit: SIZES,
    decoderMemory: SIZES
  }
}
