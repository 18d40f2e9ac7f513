'use strict'

const { now } = require('../../lib/shared/timers')
const { sizeOf } = require('../_shared/bytes')
const overloadState = require('../_shared/overload-state')
const { needsNode } = require('../_shared/runtime')
const Monitor = require('./monitor')
const OPTIONS = require('./options')

/**
 * Respond 503 at once while the process has more to do than it can, so that the requests that it accepts are not slow.
 *
 *    app.use(overload({ maxEventLoopDelay: 100, maxRssBytes: '1gb' })) // first, but after health and metrics
 *
 * @param {object} [options] see options.js
 * @return {Function} middleware
 * @throws {TypeError} for an option of the wrong type; on Bun and Deno for `maxEventLoopUtilization`
 * @api public
 */
module.exports = function overload (options) {
  const {
    maxEventLoopDelay, maxEventLoopUtilization = Infinity, maxHeapUsedBytes = Infinity, maxRssBytes = Infinity,
    sampleInterval, retryAfter
  } = OPTIONS.check(options)
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
  overloadState.use(() => monitor.state())

  return function overload (ctx, next) {
    const time = now()
    const reason = monitor.check(time)
    if (reason !== undefined) return refuse(ctx, reason, time)
    if (!monitor.needsQueue(time)) return next()
    return monitor.queue.wait(time).then(mayStart => mayStart ? next() : refuse(ctx, 'eventLoopDelay', now()))
  }

  function refuse (ctx, reason, time) {
    monitor.onRefused(time)
    overloadState.refused(reason)
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
module.exports.state = () => overloadState.state()

function bytesOf (value) {
  return value === Infinity ? value : sizeOf(value)
}
