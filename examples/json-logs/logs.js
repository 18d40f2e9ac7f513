'use strict'

const pino = require('pino')

const log = pino()

/** Sets `ctx.state.log`, whose lines have the ids of the request and the trace, and logs each request. */
module.exports = function logs (ctx, next) {
  const start = performance.now()
  // W3C: version, trace id, parent id, flags
  const [, traceId] = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/.exec(ctx.get('traceparent')) || []
  ctx.state.log = log.child({ requestId: ctx.state.id, traceId })
  ctx.onFinished(err => ctx.state.log.info({
    method: ctx.method,
    url: ctx.originalUrl,
    status: ctx.status,
    ms: Math.round((performance.now() - start) * 10) / 10,
    err: err || undefined
  }, 'request'))
  return next()
}

/** For `app.on('error')`. */
module.exports.error = (err, ctx) => (ctx?.state.log || log).error(err)
