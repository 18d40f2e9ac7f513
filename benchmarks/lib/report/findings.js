'use strict'

const { two } = require('./text')

/*
 * The charts that labs share, each with its finding as the title, as charts.js draws them; undefined where nothing was
 * measured. A page has one at most.
 */

const LABELS = { node: 'node:http', koa: 'Koa 2' }
const CPU = 'server CPU per'

/**
 * How much of the CPU time of others kone takes, in one sentence without its point; undefined where it was not measured.
 *
 * @param {Figures} figures
 * @param {string} workload
 * @param {{ what: string, to?: string[], on?: string }} how to: whom the sentence names; on: the suffix of contenders that run
 *   on another Node
 * @return {string|undefined}
 */
const finding = exports.finding = function (figures, workload, { what, to = ['koa', 'node'], on = '' }) {
  if (!figures.row(workload, `kone${on}`)) return undefined
  const ratios = to.map(other => [other, figures.ratio(workload, `kone${on}`, other + on)]).filter(([, ratio]) => ratio)
  const over = ratios.map(([other, { median }]) => `${two(median)} of ${LABELS[other] ?? other}’s`).join(', ')
  return `${what}: kone takes ${over ? `${over} CPU time` : 'what is shown'} (Node ${on.slice(1) || figures.major})`
}

/**
 * What each contender of a workload costs, the cheapest first, with the raw socket as a line.
 *
 * @param {Figures} figures
 * @param {string} workload
 * @param {{ what: string, to?: string[], unit?: string }} how to: whom the title names
 * @return {object|undefined} a chart
 */
exports.costs = function (figures, workload, { unit = 'request', ...how }) {
  const title = finding(figures, workload, how)
  if (!title) return undefined
  const rows = figures.rows(workload).filter(({ contender }) => contender !== 'net')
  const socket = figures.row(workload, 'net')
  return {
    title,
    unit: `${figures.load(workload)}; ${CPU} ${unit}, µs`,
    n: rows[0].rounds.length,
    mark: socket ? { value: socket.median, label: `raw socket ${socket.median.toPrecision(3)}` } : undefined,
    bars: rows.map(({ contender: label, median, min, max }) => ({ label, median, min, max, isOurs: /^kone/.test(label) }))
  }
}

/**
 * kone ÷ another contender, workload by workload, with a line at 1.
 *
 * @param {Figures} figures
 * @param {string[]} workloads
 * @param {{ what: string, to: string, nameOf?: (workload: string) => string }} how
 * @return {object|undefined} a chart
 */
exports.ratios = function (figures, workloads, { what, to, nameOf = workload => workload }) {
  const bars = workloads.map(workload => ({ label: nameOf(workload), isOurs: true, ...figures.ratio(workload, 'kone', to) }))
    .filter(({ median }) => median).sort((a, b) => a.median - b.median)
  if (!bars.length) return undefined
  const label = LABELS[to] ?? to
  const [least, most] = [bars[0], bars.at(-1)].map(({ median }) => two(median))
  return {
    title: `${what}: ${least} to ${most} of ${label}’s time (Node ${figures.major})`,
    unit: `kone ÷ ${label}, ${CPU} request; below 1 kone takes less`,
    n: bars[0].rounds.length,
    mark: { value: 1, label },
    show: two,
    bars
  }
}
