'use strict'

const { compact, two } = require('./text')

/*
 * The charts that labs share, each with its finding as the title, as charts.js draws them; undefined where nothing was
 * measured. `name` is that of the file, if not that of the lab.
 */

const LABELS = { node: 'node:http', koa: 'Koa 2', grpc: 'gRPC' }
const CPU = 'server CPU per'

/**
 * What each contender of a workload costs, the cheapest first, with the raw socket as a line.
 *
 * @param {Figures} figures
 * @param {string} workload
 * @param {{ name?: string, what: string, to?: string[], unit?: string }} how to: whom the title names
 * @return {object|undefined} a chart
 */
exports.costs = function (figures, workload, { name, what, to = ['koa', 'node'], unit = 'request' }) {
  if (!figures.row(workload, 'kone')) return undefined
  const rows = figures.rows(workload).filter(({ contender }) => contender !== 'net')
  const ratios = to.map(other => [other, figures.ratio(workload, 'kone', other)]).filter(([, ratio]) => ratio)
  const socket = figures.socket(workload)
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
 * @param {{ name?: string, what: string, title?: string, unit: string, x: object, y?: object,
 *   series: [string, [number, object][]][], factor?: number }} how title: in place of how much it grows; x, y: as charts.js
 *   takes them; series: names, each with its points: x and a row; factor: that figures are multiplied with
 * @return {object|undefined} a chart
 */
exports.growth = function (figures, { what, series, factor = 1, ...chart }) {
  const times = ({ median, min, max }) => ({ median: median * factor, min: min * factor, max: max * factor })
  const drawn = series.map(([name, points]) => {
    const measured = points.filter(([, row]) => row)
    return { name, points: measured.map(([x, row]) => ({ x, ...times(row) })) }
  }).filter(({ points }) => points.length > 1)
  if (!drawn.length) return undefined
  const end = ({ x }) => chart.x.names ? chart.x.names[x] : compact(x)
  const [first, last] = [0, -1].map(i => end(drawn[0].points.at(i)))
  const change = ({ name, points }) => `${name} × ${two(points.at(-1).median / points[0].median)}`
  const named = drawn.filter(({ name }) => ['kone', 'koa', 'node', 'fastify'].includes(name)).slice(0, 3)
  return {
    ...chart,
    title: chart.title ?? `${what}, ${first} to ${last}: ${named.map(change).join(', ')} (Node ${figures.major})`,
    n: series[0][1].find(([, row]) => row)?.[1].rounds?.length,
    series: drawn
  }
}
