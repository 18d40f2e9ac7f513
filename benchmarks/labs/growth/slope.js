'use strict'

const { round, spread } = require('../../lib/run/stats')

/**
 * How cost grows with work: what one more unit costs, round by round, between the least and the most work; and the
 * exponent, the steepness of the line on logarithmic axes (0: not at all, 1: in proportion).
 *
 *    slope([{ x: 0, rounds: [10] }, { x: 100, rounds: [30] }]) // { perUnit: { median: 0.2, … }, times: { median: 3, … } }
 */
exports.slope = function (points) {
  const sorted = [...points].sort((a, b) => a.x - b.x)
  const [first, last] = [sorted[0], sorted.at(-1)]
  const paired = compare => spread(last.rounds.map((figure, i) => round(compare(figure, first.rounds[i]))))
  return {
    perUnit: paired((most, least) => (most - least) / (last.x - first.x)),
    times: paired((most, least) => most / least),
    exponent: exponent(sorted.filter(({ x }) => x > 0))
  }
}

// Least squares through the medians.
function exponent (points) {
  if (points.length < 2) return null
  const xs = points.map(({ x }) => Math.log(x))
  const ys = points.map(({ rounds }) => Math.log(spread(rounds).median))
  const mean = figures => figures.reduce((sum, n) => sum + n, 0) / figures.length
  const [x, y] = [mean(xs), mean(ys)]
  const above = xs.reduce((sum, value, i) => sum + (value - x) * (ys[i] - y), 0)
  return round(above / xs.reduce((sum, value) => sum + (value - x) ** 2, 0))
}
