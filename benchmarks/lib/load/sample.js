'use strict'

const { quantile } = require('../../../command/measure/stats')

/** What a generator reports of a run, latencies in ms. */
const sample = exports.sample = ({ mean, ...counts }) =>
  ({ ...counts, requestsPerSecond: counts.requests / counts.seconds, latencyMeanMs: mean })

/** Counts of a loop. */
exports.Tally = class {
  requests = 0
  errors = 0
  reconnects = 0
  bytes = 0
  latencies = [] // ms, of all good responses

  add (isGood, size, ms) {
    this.bytes += size
    if (isGood) {
      this.requests++
      this.latencies.push(ms)
    } else this.errors++
  }
}

/** The sample of tallies, each with its seconds: what several processes measured at the same time. */
exports.merge = function (parts) {
  const sum = name => parts.reduce((total, part) => total + part[name], 0)
  const latencies = Float64Array.from(parts.flatMap(part => part.latencies)).sort()
  const total = latencies.reduce((all, ms) => all + ms, 0)
  const at = p => latencies.length ? quantile(latencies, p) : NaN
  const [requests, bytes, errors, reconnects] = ['requests', 'bytes', 'errors', 'reconnects'].map(sum)
  const seconds = Math.max(...parts.map(part => part.seconds))
  return {
    ...sample({ requests, seconds, bytes, errors, reconnects, mean: total / latencies.length }),
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99),
    p999: at(0.999)
  }
}
