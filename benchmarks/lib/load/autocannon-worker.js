'use strict'

const autocannon = require('autocannon')
const { serve } = require('./worker')

serve(shoot)

const STATS = ['average', 'stddev', 'max']

async function shoot ({ port, protocol = 'http', method = 'GET', path = '/', paths, headers, body, connections, seconds, pipeline = 1 }) {
  const interval = Math.min(1000, seconds * 200) // ms; five per run at least, as the deviation needs them
  const result = await autocannon({
    url: `${protocol}://127.0.0.1:${port}${path}`,
    method,
    headers,
    body,
    requests: paths?.map(path => ({ path })),
    connections,
    pipelining: pipeline,
    duration: seconds,
    sampleInt: interval
  })
  const requests = result['2xx']
  return {
    requests,
    seconds: result.duration,
    bytes: result.throughput.total,
    errors: result.errors + result.timeouts + result.non2xx,
    requestsPerSecond: requests / result.duration,
    latencyMeanMs: result.latency.average,
    latency: pick(result.latency, 1),
    perSecond: {
      requests: pick(result.requests, 1000 / interval),
      bytes: pick(result.throughput, 1000 / interval)
    }
  }
}

function pick (stats, factor) {
  return Object.fromEntries(STATS.map(name => [name, stats[name] * factor]))
}
