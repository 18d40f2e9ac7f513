'use strict'

/**
 * The value below which the share `p` of the figures lies, linear between neighbours.
 *
 *    quantile([1, 2, 3, 4], 0.25) // 1.75
 *
 * @param {number[]} figures at least one
 * @param {number} p 0…1
 * @return {number}
 */
const quantile = exports.quantile = function (figures, p) {
  const sorted = Float64Array.from(figures).sort()
  const at = (sorted.length - 1) * p
  const low = Math.floor(at)
  const high = Math.ceil(at)
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low)
}

/**
 * @param {number[]} figures
 * @return {number}
 */
const median = exports.median = figures => quantile(figures, 0.5)

/**
 * Median and spread.
 *
 * @param {number[]} figures
 * @return {{ median: number, min: number, p25: number, p75: number, max: number }}
 */
const spread = exports.spread = function (figures) {
  return {
    median: median(figures),
    min: Math.min(...figures),
    p25: quantile(figures, 0.25),
    p75: quantile(figures, 0.75),
    max: Math.max(...figures)
  }
}

/**
 * The ratio of two contenders, paired round by round: what disturbed a round disturbed both, so a
 * ratio moves less than either figure.
 *
 *    pairedRatio([10, 20], [20, 40]).median // 0.5
 *
 * @param {number[]} figures
 * @param {number[]} reference of the same rounds
 * @return {{ median: number, min: number, p25: number, p75: number, max: number, rounds: number[] }|null}
 *   null where there is nothing to pair
 */
exports.pairedRatio = function (figures, reference) {
  const rounds = []
  for (let i = 0; i < figures.length && i < reference.length; i++) {
    if (figures[i] > 0 && reference[i] > 0) rounds.push(round(figures[i] / reference[i]))
  }
  return rounds.length ? { ...spread(rounds), rounds } : null
}

/**
 * The sample that stands for all: the one whose throughput is nearest to the median.
 *
 * @param {{ requestsPerSecond: number }[]} samples
 * @return {object}
 */
exports.middle = function (samples) {
  const rate = median(samples.map(sample => sample.requestsPerSecond))
  const distance = sample => Math.abs(sample.requestsPerSecond - rate)
  return samples.reduce((best, one) => distance(one) < distance(best) ? one : best)
}

/**
 * Why a measurement cannot be believed. By Little's law requests in flight are rate × latency: a
 * closed loop cannot complete more than `connections × pipeline ÷ mean latency`; a fifth is left for
 * the coarse clocks of load generators.
 *
 * @param {{ requests: number, errors: number, requestsPerSecond: number, latencyMeanMs: number,
 *   connections: number, pipeline?: number }} sample
 * @return {string|null}
 */
exports.disbelief = function (sample) {
  if (sample.errors) return `${sample.errors} errors in ${sample.requests + sample.errors} requests`
  if (!(sample.requests > 0)) return 'no request got a response'
  const { requestsPerSecond, latencyMeanMs, connections, pipeline = 1 } = sample
  if (!(latencyMeanMs > 0)) return `its mean latency is ${latencyMeanMs} ms`
  const possible = connections * pipeline / (latencyMeanMs / 1000)
  if (requestsPerSecond > 1.2 * possible) {
    return `${Math.round(requestsPerSecond)} requests/s is above 1.2 × ${connections * pipeline} in flight ÷ ` +
      `${latencyMeanMs.toFixed(3)} ms (Little's law)`
  }
  return null
}

/**
 * Shuffled in place (Fisher and Yates), so that no contender always follows the same one.
 *
 * @param {Array} list
 * @param {() => number} [random] 0…1
 * @return {Array} the same list
 */
exports.shuffle = function (list, random = Math.random) {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[list[i], list[j]] = [list[j], list[i]]
  }
  return list
}

/**
 * Five significant digits: the rest is noise, and files stay readable.
 *
 * @param {number} figure
 * @return {number}
 */
const round = exports.round = figure => Number(figure.toPrecision(5))
