'use strict'

const overload = require('kone/middleware/overload')
const { SIZES } = require('./values')

module.exports = {
  make: options => overload(options),
  options: {
    maxEventLoopDelay: ['1s', 0, NaN, Infinity, true, null],
    maxEventLoopUtilization: ['0.9', 0, 1.1, 98, null],
    maxHeapUsedBytes: SIZES,
    maxRssBytes: SIZES,
    sampleInterval: ['1s', 9, 2 ** 31, 10.5, null],
    retryAfter: ['10', -1, 0.5, null],
    pressureHandler: [() => {}],
    message: ['busy'],
    customError: [Error],
    healthCheck: [() => true],
    healthCheckInterval: [1000],
    exposeStatusRoute: ['/status']
  }
}
