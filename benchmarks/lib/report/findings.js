'use strict'

const { compact, two } = require('./text')

/*
 * The charts that labs share, each with its finding as the title. What draws them is charts.js.
 */

const LABELS = { node: 'node:http', koa: 'Koa 2', grpc: 'gRPC' }
const CPU = 'server CPU per'

/**
 * What each contender of a workload costs, the cheapest first, with the raw socket as a line.
 *
 * @param {Figures} figures
 * @param {string} workload
 * @param {{ name?: string, what: string, to?: string[], unit?: string, ours?: RegExp, metric?: string }} how name: of the
 *   file, if not that of the lab; to: whom the title names
 * @return {object|undefined} a chart
 */
exports.costs = function (figures, workload, { name, what, to = ['koa', 'node'], unit = 'request', metric = 'cpu' }) {
  const rows = figures.rows(workload, metric).filter(({ contender }) => contender !== 'net')
  const ratios = to.map(other => [other, figures.ratio(workload, 'kone', other, { metric })]).filter(([, ratio]) => ratio)
  if (!rows.length || !figures.row(workload, 'kone', metric)) return undefined
  const socket = metric === 'cpu' && figures.socket(workload)
  const over = ratios.map(([other, { median }]) => `${two(median)} of ${LABELS[other] ?? other}’s`).join(', ')
  return {
    name,
    title: `${what}: kone takes ${over ? `${over} CPU time` : 'what is shown'} (Node ${figures.major})`,
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
 * @param {{ name?: string, what: string, to: string, nameOf?: (workload: string) => string }} how
 * @return {object|undefined} a chart
 */
exports.ratios = function (figures, workloads, { name, what, to, nameOf = workload => workload }) {
  const bars = workloads.map(workload => ({ label: nameOf(workload), isOurs: true, ...figures.ratio(workload, 'kone', to) }))
    .filter(({ median }) => median).sort((a, b) => a.median - b.median)
  if (!bars.length) return undefined
  const label = LABELS[to] ?? to
  const [least, most] = [bars[0], bars.at(-1)].map(({ median }) => two(median))
  return {
    name,
    title: `${what}: ${least} to ${most} of ${label}’s time (Node ${figures.major})`,
    unit: `kone ÷ ${label}, ${CPU} request; below 1 kone takes less`,
    n: bars[0].rounds.length,
    mark: { value: 1, label },
    show: two,
    bars
  }
}

/**
 * Lines over an amount of work.
 *
 * @param {Figures} figures
 * @param {object} how
 * @param {string} [how.name] of the file
 * @param {string} how.what
 * @param {string} [how.title] in place of how much it grows
 * @param {string} how.unit
 * @param {object} how.x as charts.js takes it
 * @param {object} [how.y]
 * @param {[string, [number, object][]][]} how.series a name, and its points: x and a row
 * @param {number} [how.factor] that figures are multiplied with
 * @return {object|undefined} a chart
 */
exports.growth = function (figures, { name, what, title, unit, x, y, series, factor = 1 }) {
  const drawn = series.map(([name, points]) => ({
    name,
    points: points.filter(([, row]) => row)
      .map(([x, { median, min, max }]) => ({ x, median: median * factor, min: min * factor, max: max * factor }))
  })).filter(({ points }) => points.length > 1)
  if (!drawn.length) return undefined
  const change = ({ name, points }) => `${name} × ${two(points.at(-1).median / points[0].median)}`
  const named = drawn.filter(({ name }) => ['kone', 'koa', 'node', 'fastify'].includes(name)).slice(0, 3)
  const ends = [drawn[0].points[0].x, drawn[0].points.at(-1).x].map(value => x.names ? x.names[value] : compact(value))
  return {
    name,
    title: title ?? `${what}, ${ends.join(' to ')}: ${named.map(change).join(', ')} (Node ${figures.major})`,
    unit,
    n: series[0][1].find(([, row]) => row)?.[1].rounds?.length,
    x,
    y,
    series: drawn
  }
}
