'use strict'

const { costs } = require('../../lib/report/findings')
const { beside, matrix, ranking } = require('../../lib/report/tables')
const { short, two, whole } = require('../../lib/report/text')
const { WORKLOADS } = require('./deployed')

/** Requests a second of the open loop, and what is shown of its latencies. */
exports.RATES = [2000, 10_000, 30_000]
const paced = exports.paced = rate => `hello, ${whole(rate)} requests/s`
exports.PERCENTILES = ['p50', 'p99', 'p999']

const WRK = 'hello, wrk'

exports.claims = [
  ['hello world behind five middleware ÷ a bare node:http handler', WRK, 'node'],
  ['hello world behind five middleware ÷ node:http in its cheapest form', WRK, 'node-cheapest'],
  ['hello world behind five middleware ÷ Koa 2', WRK, 'koa'],
  ['hello world behind five middleware ÷ the cheapest other framework on Node', WRK, 'others'],
  ...exports.RATES.map(rate => [`at ${whole(rate)} requests a second ÷ Koa 2`, paced(rate), 'koa']),
  ...exports.RATES.map(rate => [`at ${whole(rate)} requests a second ÷ a bare node:http handler`, paced(rate), 'node']),
  ...WORKLOADS.map(workload => [`${workload} ÷ Koa 2`, workload, 'koa'])
]

function deployed (figures) {
  const section = matrix(figures, { heading: 'as it is deployed, CPU µs/request', columns: WORKLOADS.map(name => [name, name]), to: 'koa' })
  const rate = figures.rows(WORKLOADS[0])[0]?.rate
  const text = 'Behind nginx the Node process alone is counted, and nginx has the cores of the load; the defaults of nginx before ' +
    `1.29.7 are HTTP/1.0 with a connection for each request, and two lines keep them.${rate
      ? ` All get ${whole(rate)} requests a second there, as from independent clients: a closed loop through nginx does not saturate a ` +
        'server, and the faster one pays for more turns of its event loop.'
      : ''}`
  return section && { ...section, text }
}

exports.chart = figures => costs(figures, WRK, { what: 'Hello world, five middleware' })

exports.overview = () => ({
  lines: [
    ...exports.RATES.map(rate => [`${whole(rate)} requests a second`, paced(rate)]),
    ['saturated by wrk', WRK],
    ['saturated by autocannon', 'hello'],
    ...WORKLOADS.map(workload => [workload, workload, { net: null }]),
    ['in a cluster, one worker for each core', 'cluster, wrk', { net: null }]
  ]
})

exports.sections = figures => [
  ranking(figures, WRK, { heading: 'saturated', verified: 'hello', columns: resident(figures) }),
  rates(figures),
  latencies(figures),
  deployed(figures),
  ranking(figures, 'hello', { heading: 'as the original report measured' }),
  ranking(figures, 'cluster, wrk', {
    heading: 'in a cluster',
    text: `\`node:cluster\` with ${figures.result.derived.workers ?? 'several'} workers. CPU is that of all workers and the primary; load and workers share the cores, so that requests per second say little.`,
    columns: { 'one process, CPU µs': ({ contender }) => short(figures.row(WRK, contender)?.median) }
  }),
  pm2(figures),
  report(figures)
]

// MB, of those whose memory was measured.
function resident (figures) {
  const of = metric => ({ contender }) => short(figures.row('memory', contender, metric)?.median / 1e6)
  const after = `MB after ${whole(figures.result.derived.memoryAfter)} requests or more`
  return figures.rows('memory', 'memory').length ? { 'MB after the start': of('start'), [after]: of('memory') } : {}
}

function rates (figures) {
  const names = [...new Set(exports.RATES.flatMap(rate => figures.rows(paced(rate)).map(({ contender }) => contender)))]
  if (!names.length) return null
  return matrix(figures, {
    heading: 'at a fixed rate, CPU µs/request',
    columns: [...exports.RATES.map(rate => [`${whole(rate)}/s`, paced(rate)]), ['saturated', WRK]],
    names,
    to: 'koa'
  })
}

function latencies (figures) {
  const section = matrix(figures, {
    heading: 'latency at a fixed rate, ms',
    columns: exports.RATES.flatMap(rate =>
      exports.PERCENTILES.map(metric => [`${metric.replace('p999', 'p99.9')}, ${whole(rate)}/s`, paced(rate), metric]))
  })
  const text = 'An open loop over 100 connections: a latency counts from when a request was due, also while it waits for a connection.'
  return section && { ...section, text, notes: [], each: exports.PERCENTILES.length }
}

function pm2 (figures) {
  const section = ranking(figures, 'pm2', {
    heading: 'every middleware on, under pm2',
    columns: { 'MB of a worker': ({ contender }) => short(figures.row('pm2', contender, 'memory')?.median / 1e6), 'mean ms': row => two(row.latencyMeanMs) }
  })
  const { workers, bytes } = figures.result.derived.pm2 ?? {}
  const text = `The report’s fourth table is of such a cluster. ${workers?.length ?? 'As many as cores'} processes, a response of ${bytes ?? 'some'} bytes; pm2’s daemon is included.`
  return section && { ...section, text }
}

/** Of the original report, requests per second on its three machines: a laptop with Node 6.9, two servers with Node 7.6. */
const REPORT = exports.REPORT = {
  kone: [12175.2, 9630, 21588.8],
  node: [10178.4, 12000.8, 18884.8],
  koa: [9002, 8422.8, 17583.2],
  'trek-engine': [10990.8, 9491.6, 18804],
  toa: [5625.2, 4832.61, 7732.4],
  express: [3987, 6004.4, 8417.21]
}

function report (figures) {
  const others = Object.keys(REPORT).filter(name => name !== 'kone')
  const line = (one, other) => [`${one} ÷ ${other}`, ...REPORT[one].map((rate, i) => rate / REPORT[other][i]),
    figures.ratio('hello', one, other, { metric: 'throughput' }), figures.ratio(WRK, other, one)]
  return {
    ...beside(['requests per second', 'laptop', '8 cores', '6 cores', 'here, by autocannon', 'here, CPU by wrk'],
      [...others.map(name => line('kone', name)), ...others.filter(name => name !== 'koa').map(name => line(name, 'koa'))]),
    text: 'Ratio by ratio; above 1, the first is better. The report’s frameworks are those of 2017, ours are today’s.'
  }
}
