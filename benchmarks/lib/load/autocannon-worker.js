'use strict'

const autocannon = require('autocannon')
const { serve } = require('./worker')

serve(shoot)

async function shoot ({ port, protocol = 'http', method = 'GET', path = '/', headers, body, connections, seconds, pipeline = 1 }) {
  const result = await autocannon({
    url: `${protocol}://127.0.0.1:${port}${path}`,
    method,
    headers,
    body,
    connections,
    pipelining: pipeline,
    duration: seconds
  })
  const requests = result['2xx']
  return {
    requests,
    seconds: result.duration,
    bytes: result.throughput.total,
    errors: result.errors + result.timeouts + result.non2xx,
    requestsPerSecond: requests / result.duration,
    latencyMeanMs: result.latency.average
  }
}
