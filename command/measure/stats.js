'use strict'

/**
 * The value below which the share `p` of the figures lies, linear between neighbours.
 *
 *    quantile([1, 2, 3, 4], 0.25) // 1.75
 */
const quantile = exports.quantile = function (figures, p) {
  const sorted = Float64Array.from(figures).sort()
  const at = (sorted.length - 1) * p
  const low = Math.floor(at)
  const high = Math.ceil(at)
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low)
}

const median = exports.median = figures => quantile(figures, 0.5)

const spread = exports.spread = figures =>
  ({ median: median(figures), min: Math.min(...figures), max: Math.max(...figures) })

/**
 * The ratio of two contenders: that of their medians, which is what a reader gets who divides two figures of a
 * table. The lowest and the highest are of a round: what disturbed a round disturbed both, so that its ratio moves
 * less than either figure. The ratio of the medians is always between them.
 *
 *    pairedRatio([10, 20], [20, 40]) // { median: 0.5, min: 0.5, max: 0.5, rounds: [0.5, 0.5] }
 */
exports.pairedRatio = function (figures, reference) {
  const pairs = figures.map((figure, i) => [figure, reference[i]]).filter(pair => pair.every(one => one > 0))
  if (!pairs.length) return null
  const rounds = pairs.map(([figure, other]) => round(figure / other))
  const [ours, theirs] = [0, 1].map(i => median(pairs.map(pair => pair[i])))
  return { ...spread(rounds), median: round(ours / theirs), rounds }
}

/** The standard error of the mean of figures, relative to it. */
exports.standardError = function (figures) {
  const mean = figures.reduce((sum, one) => sum + one, 0) / figures.length
  const variance = figures.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (figures.length - 1)
  return Math.sqrt(variance / figures.length) / mean
}

/** The sample that stands for all: the one whose throughput is nearest to the median. */
exports.middle = function (samples) {
  const rate = median(samples.map(sample => sample.requestsPerSecond))
  const distance = sample => Math.abs(sample.requestsPerSecond - rate)
  return samples.reduce((best, one) => distance(one) < distance(best) ? one : best)
}

/**
 * Why a measurement cannot be believed. By Little's law requests in flight are rate × latency: a
 * closed loop cannot complete more than `connections × pipeline ÷ mean latency`; a fifth is left for
 * the coarse clocks of load generators.
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

/** Shuffled in place (Fisher and Yates), so that no contender always follows the same one. */
exports.shuffle = function (list, random = Math.random) {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[list[i], list[j]] = [list[j], list[i]]
  }
  return list
}

/** Five significant digits: the rest is noise, and files stay readable. */
const round = exports.round = figure => Number(figure.toPrecision(5))
