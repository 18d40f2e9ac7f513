'use strict'

const { tracingChannel } = require('node:diagnostics_channel')

const channel = tracingChannel('kone:request')
const kThrown = Symbol('kone.thrown')

/**
 * Whether the channel `kone:request` has a subscriber. Without one, this check is the only cost.
 *
 * @return {boolean}
 * @api private
 */
exports.isTraced = function () {
  return channel.start.hasSubscribers || channel.end.hasSubscribers ||
    channel.asyncStart.hasSubscribers || channel.asyncEnd.hasSubscribers ||
    channel.error.hasSubscribers
}

/**
 * Run one request and publish it on `kone:request`, a tracingChannel whose message is
 * `{ ctx, app }`. `error` is published if a middleware or a final threw (see `threw`), `asyncEnd`
 * when the response was decided; `ctx.status` is known at both.
 *
 *    return trace({ ctx, app }, () => app.handleRequest(ctx, fn))
 *
 * @param {{ctx: object, app: Application}} message
 * @param {Function} run `() => Promise`
 * @return {Promise} fulfilled, whatever was thrown
 * @api private
 */
exports.trace = function (message, run) {
  const { ctx } = message
  ctx[kThrown] = null
  const traced = () => run().then(() => {
    if (ctx[kThrown] !== null) throw ctx[kThrown]
  })
  return channel.tracePromise(traced, message).catch(() => {})
}

/**
 * Note the first error that a traced request threw. The app has responded to it already.
 *
 * @param {object} ctx
 * @param {Error} err
 * @api private
 */
exports.threw = function (ctx, err) {
  if (ctx[kThrown] === null) ctx[kThrown] = err
}
