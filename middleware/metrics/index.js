'use strict'

const { now } = require('../../lib/shared/timers')
const whenFinished = require('../_shared/finished')
const overloadState = require('../_shared/overload-state')
const { counts } = require('../_shared/sockets')
const stateless = require('../_shared/stateless')
const { manual, misuse } = require('../_shared/usage-error')
const OwnLabels = require('./labels')
const OPTIONS = require('./options')
const Series = require('./series')
const isToken = require('./token')

/**
 * Count requests for Prometheus, by prom-client, and serve the metrics: durations by method, route
 * and status, requests in flight, and prom-client's own of the process (event-loop lag, heap, CPU).
 *
 *    app.use(metrics())
 *
 * The route is the pattern that a router matched (`/users/:id`), never the path.
 *
 * @param {object} [options] see options.js
 * @return {Function} middleware
 * @throws {TypeError} for an unknown option or a wrong value
 * @throws {Error} if prom-client is not installed
 * @api public
 */
module.exports = function metrics (options) {
  const { path, prefix, buckets, defaults, labels, exclude, token, ...given } = OPTIONS.check(options)
  const client = given.client || promClient()
  const { register = client.register } = given

  if (defaults && !register.getSingleMetric(`${prefix}process_cpu_seconds_total`)) {
    client.collectDefaultMetrics({ register, prefix })
  }
  const inFlight = once(register, client.Gauge, {
    name: `${prefix}http_requests_in_flight`,
    help: 'Requests without a whole response'
  })
  const own = new OwnLabels(labels)
  const excluded = exclude.map(one => typeof one === 'string' ? one : stateless(one))
  const seconds = new Series(once(register, client.Histogram, {
    name: `${prefix}http_request_duration_seconds`,
    help: 'From the headers of a request to the end of its response',
    labelNames: ['method', 'route', 'status', ...own.names],
    buckets
  }))
  ofOverload(register, client, prefix)
  ofSockets(register, client, prefix)

  return function metrics (ctx, next) {
    if (ctx.path === path && (ctx.method === 'GET' || ctx.method === 'HEAD')) return serve(ctx)
    if (excluded.length > 0 && isExcluded(ctx.path)) return next()
    const start = now()
    const { method } = ctx
    inFlight.inc()
    whenFinished(ctx, err => {
      inFlight.dec()
      const status = err ? 'lost' : ctx.status
      const route = ctx._matchedRoute === undefined ? 'none' : String(ctx._matchedRoute)
      seconds.of(method, route, status, own.valuesOf(ctx)).observe((now() - start) / 1000)
    })
    return next()
  }

  function isExcluded (path) {
    return excluded.some(one => typeof one === 'string' ? one === path : one.test(path))
  }

  async function serve (ctx) {
    if (token !== undefined && !isToken(ctx, token)) ctx.throw(401, { headers: { 'WWW-Authenticate': 'Bearer' } })
    const text = await register.metrics()
    ctx.set('Content-Type', register.contentType)
    ctx.set('Cache-Control', 'no-store')
    ctx.body = text
  }
}

function promClient () {
  try {
    return require('prom-client')
  } catch (cause) {
    throw new Error(`metrics: the package prom-client is missing: npm install prom-client (${manual('metrics')})`, { cause })
  }
}

// Two apps of one process may use one registry, which refuses a second metric of the same name.
function once (register, Metric, configuration) {
  const { name, labelNames = [] } = configuration
  const found = register.getSingleMetric(name)
  if (found === undefined) return new Metric({ ...configuration, registers: [register] })
  if (String(found.labelNames) === String(labelNames)) return found
  throw misuse('metrics', `the registry has ${name} with other labels, ${found.labelNames.join(', ')}: ` +
    'give each app its own `prefix` or `register`')
}

/** What overload() does in this process. */
function ofOverload (register, { Counter, Gauge }, prefix) {
  once(register, Counter, {
    name: `${prefix}http_requests_refused_total`,
    help: 'Requests that overload() refused, by what exceeded its limit',
    labelNames: ['reason'],
    collect () {
      this.reset()
      for (const [reason, count] of Object.entries(overloadState.state()?.refused ?? {})) this.inc({ reason }, count)
    }
  })
  once(register, Gauge, {
    name: `${prefix}http_overloaded`,
    help: '1 while overload() refuses requests',
    collect () { this.set(overloadState.state()?.isOverloaded ? 1 : 0) }
  })
}

/** What websocket() does in this process. */
function ofSockets (register, { Counter, Gauge }, prefix) {
  once(register, Gauge, {
    name: `${prefix}websockets_open`,
    help: 'Open connections of websocket()',
    collect () { this.set(counts.open) }
  })
  once(register, Counter, {
    name: `${prefix}websocket_messages_total`,
    help: 'Messages of websocket(), received and sent',
    labelNames: ['direction'],
    collect () {
      this.reset()
      for (const direction of ['received', 'sent']) this.inc({ direction }, counts[direction])
    }
  })
}
