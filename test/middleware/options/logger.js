'use strict'

const logger = require('kone/middleware/logger')

module.exports = {
  make: options => logger(console, options),
  final: options => logger.final(console, options),
  options: {
    format: [5, {}, null],
    level: ['loud', 5, 'fatal'], // console has no fatal()
    nolog: [5, {}, [5], null],
    tokens: ['x', {}, [{}], [{ token: '' }], [{ token: 5 }]]
  }
}
