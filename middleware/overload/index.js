'use strict'

const { check, each, integer, number, off, refused, size } = require('../_shared/options')
const sizeOf = require('../_shared/bytes')
const load = require('../_shared/load')
const { needsNode } = require('../_shared/runtime')
const Monitor = require('./monitor')

const OPTIONS = {
  maxEventLoopDelay: number({ min: 1, of: 'milliseconds' }).or(off),
  maxEventLoopUtilization: number({ min: 0.01, max: 1 }),
  maxHeapUsedBytes: size,
  maxRssBytes: size,
  sampleInterval: integer({ min: 10, max: 2 ** 31 - 1, of: 'milliseconds' }),
  retryAfter: integer({ min: 0, of: 'seconds' }),
  // of @fastify/under-pressure
  ...each(refused('a middleware before overload() may change the response with the status 503'),
    'pressureHandler', 'message', 'customError'),
  healthCheck: refused('give it to health() as one of its checks'),
  healthCheckInterval: refused('health() runs its checks when it is probed'),
  exposeStatusRoute: refused('register health() before overload()')
}

/**
 * Respond 503 at once while the process has more to do than it can, so that the requests that it accepts are not slow.
 *
 *    app.use(overload({ maxEventLoopDelay: 100, maxRssBytes: '1gb' })) // first, but after health and metrics
 *
 * @param {object} [options]
 * @param {number | false} [options.maxEventLoopDelay=200] ms that an event, such as a request, may have waited for the
 *   event loop
 * @param {number} [options.maxEventLoopUtilization] from 0.01 to 1: the share of its time that the event loop is busy
 * @param {number | string} [options.maxHeapUsedBytes] bytes, or a string such as '500mb'
 * @param {number | string} [options.maxRssBytes] the same, of the whole process
 * @param {number} [options.sampleInterval=1000] ms between two readings of utilization and memory
 * @param {number} [options.retryAfter=10] seconds, sent as Retry-After
 * @return {Function} middleware
 * @throws {TypeError} for an option of the wrong type; on Bun and Deno for `maxEventLoopUtilization`
 * @api public
 */
module.exports = function overload (options) {
  const {
    maxEventLoopDelay = 200, maxEventLoopUtilization = Infinity, maxHeapUsedBytes = Infinity, maxRssBytes = Infinity,
    sampleInterval = 1000, retryAfter = 10
  } = check('overload', options, OPTIONS)
  if (maxEventLoopUtilization !== Infinity) {
    needsNode('overload.maxEventLoopUtilization', 'Bun and Deno do not measure the utilization of the event loop')
  }
  const monitor = new Monitor({
    maxEventLoopDelay: maxEventLoopDelay || Infinity,
    maxEventLoopUtilization,
    maxHeapUsedBytes: bytesOf(maxHeapUsedBytes),
    maxRssBytes: bytesOf(maxRssBytes),
    sampleInterval
  })
  const seconds = String(retryAfter)
  load.use(() => monitor.state())

  return function overload (ctx, next) {
    const reason = monitor.check()
    if (reason === undefined) return next()
    load.refused(reason)
    ctx.status = 503
    ctx.set('Retry-After', seconds)
    ctx.set('Cache-Control', 'no-store')
    ctx.body = 'Service Unavailable'
  }
}

/**
 * What health shows, for a check of one's own.
 *
 *    health({ checks: { load: () => !overload.state().isOverloaded } })
 *
 * @return {object|null} null while the process has no overload()
 * @api public
 */
module.exports.state = () => load.state()

function bytesOf (value) {
  return value === Infinity ? value : sizeOf(value)
}
