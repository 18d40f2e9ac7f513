'use strict'

const prom = require('prom-client')

const inFlight = new prom.Gauge({ name: 'http_requests_in_flight', help: 'Requests being answered' })
const seconds = new prom.Histogram({
  name: 'http_request_duration_seconds',
  help: 'From the head of a request to the end of its answer',
  labelNames: ['method', 'route', 'status']
})

/** Durations by route, never by path (those are without number), and how many are in flight. */
module.exports = function metrics (ctx, next) {
  const end = seconds.startTimer({ method: ctx.method })
  inFlight.inc()
  ctx.onFinished(() => {
    inFlight.dec()
    end({ route: ctx._matchedRoute || 'none', status: ctx.status })
  })
  return next()
}
