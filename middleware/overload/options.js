'use strict'

const { Options, each, integer, number, off, refused } = require('../../lib/shared/options')
const { LONGEST } = require('../../lib/shared/timers')
const { size } = require('../_shared/bytes')

module.exports = new Options('overload', {
  maxEventLoopDelay: number({ min: 1, unit: 'ms' }).or(off).says(
    'how long a request may have waited for the event loop; `false`: no limit', { default: 200 }),
  maxEventLoopUtilization: number({ min: 0.01, max: 1 }).says('share of its time that the event loop is busy, from 0.01 to 1'),
  maxHeapUsedBytes: size.says('memory of JavaScript'),
  maxRssBytes: size.says('memory of the process'),
  sampleInterval: integer({ min: 10, max: LONGEST, unit: 'ms' }).says(
    'time between two readings of utilization and memory', { default: 1000 }),
  retryAfter: integer({ min: 0, unit: 's' }).says('sent as `Retry-After`', { default: 10 }),
  // of @fastify/under-pressure
  ...each(refused('a middleware before overload() may change the response with the status 503'),
    'pressureHandler', 'message', 'customError'),
  healthCheck: refused('give it to health() as one of its checks'),
  healthCheckInterval: refused('health() runs its checks when it is probed'),
  exposeStatusRoute: refused('register health() before overload()')
})
