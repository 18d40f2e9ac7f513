'use strict'

/**
 * What a generator reports of one run.
 *
 *    sample({ requests: 20, seconds: 2, bytes: 4000, errors: 0, mean: 1.2, max: 8 }).requestsPerSecond // 10
 *
 * @param {{ requests: number, seconds: number, bytes: number, errors: number, mean: number, max: number }} counts
 *   mean, max: latency in ms
 * @return {object}
 */
module.exports = function sample ({ requests, seconds, bytes, errors, mean, max }) {
  return {
    requests,
    seconds,
    bytes,
    errors,
    requestsPerSecond: requests / seconds,
    latencyMeanMs: mean,
    latency: { average: mean, max }
  }
}
