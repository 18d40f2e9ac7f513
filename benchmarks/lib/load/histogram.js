'use strict'

/** Upper bounds in ms of the response times that the first report of RPC printed. */
const BOUNDS = exports.BOUNDS = [5, 10, 20, 30, 40, 50, 80, 100, 200, 300, 500, Infinity]

/**
 * How many figures lie in each range: below 5, from 5 to below 10, and so on.
 *
 *    histogram([1, 7]) // [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
 *
 * @param {number[]} figures ms
 * @return {number[]} one for each of BOUNDS
 */
exports.histogram = function (figures) {
  const counts = BOUNDS.map(() => 0)
  for (const ms of figures) counts[BOUNDS.findIndex(bound => ms < bound)]++
  return counts
}

/**
 * Histograms as a table: a column per contender, shares of all its calls.
 *
 *    table({ kone: [90, 10, 0, …] })
 *
 * @param {object} counts by contender
 * @return {string[][]} without the ranges that nobody is in
 */
exports.table = function (counts) {
  const names = Object.keys(counts)
  const totals = names.map(name => counts[name].reduce((sum, n) => sum + n, 0))
  const lines = BOUNDS.map((bound, i) => [
    bound === Infinity ? `${BOUNDS[i - 1]} and more` : `${BOUNDS[i - 1] ?? 0} ~ ${bound}`,
    ...names.map((name, j) => `${(counts[name][i] / totals[j] * 100).toFixed(2)} %`)
  ])
  return [['ms', ...names], ...lines.filter((_, i) => names.some(name => counts[name][i] > 0))]
}
