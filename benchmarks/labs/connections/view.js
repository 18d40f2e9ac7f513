'use strict'

const { finding } = require('../../lib/report/findings')
const { beside, matrix } = require('../../lib/report/tables')
const { short, whole } = require('../../lib/report/text')

/** Requests per second of the open loop, over all connections. */
exports.RATE = 1000

/** Before the names of their workloads. */
const SOCKETS = exports.SOCKETS = 'WebSockets, '

/** A workload: a table and a number of connections. */
const named = exports.named = (table, connections) => `${table}, ${whole(connections)} connections`

exports.claims = [1000, 10_000].flatMap(n => [
  [`memory of an idle connection, ${whole(n)} of them ÷ node:http`, named('idle', n), 'node', { metric: 'memory' }],
  [`${whole(n)} connections in a closed loop ÷ node:http`, named('closed loop', n), 'node']
])

const levelsOf = figures => [...new Set(figures.workloads.map(workload => /, ([\d,]+) connections$/.exec(workload)?.[1]).filter(Boolean)
  .map(text => Number(text.replaceAll(',', ''))))].sort((a, b) => a - b)

// Above 20,000 connections one process cannot hold them: a cluster stands in.
const present = (figures, workload, name) => figures.row(workload, name) ? name : `${name}-cluster`

exports.answer = figures => finding(figures, named('closed loop', 10_000), { what: '10,000 connections in a closed loop', to: ['koa', 'node', 'nginx'] })

exports.overview = figures => ({
  lines: levelsOf(figures).flatMap(n => ['open loop', 'closed loop'].map(table => {
    const workload = named(table, n)
    const [kone, node, koa] = ['kone', 'node', 'koa'].map(name => present(figures, workload, name))
    return [kone === 'kone' ? workload : `${workload}, clusters`, workload, { kone, node, koa }]
  }))
})

exports.sections = figures => [
  ...['', SOCKETS].flatMap(kind => levelsOf(figures).map(n => level(figures, n, kind))),
  report(figures)
]

function level (figures, connections, kind) {
  const [idle, open, closed] = ['idle', 'open loop', 'closed loop'].map(table => named(kind + table, connections))
  const { leftOut = [], openings = [] } = kind ? {} : figures.result.derived
  const here = one => one.connections === connections
  const reasons = [...new Set(leftOut.filter(here).map(({ reason }) => reason))]
  return matrix(figures, {
    isShown: kind === SOCKETS,
    heading: `${kind}${whole(connections)} connections`,
    columns: [
      ['closed loop, CPU µs', closed], ['requests/s', closed, 'throughput'], ['mean ms', closed, 'latency'],
      ['KiB per silent connection', idle, 'memory'], ['MB in all', idle, 'total'], [kind ? 'CPU µs per handshake' : 'CPU µs per accept', idle, 'accept'],
      ['open loop, CPU µs', open], ['p50 ms', open, 'p50'], ['p90 ms', open, 'p90'], ['p99 ms', open, 'p99']
    ],
    to: kind ? 'ws' : figures.row(closed, 'node') ? 'node' : 'node-cluster',
    notes: [
      ...openings.filter(here).map(({ openings, each }) => `All connections were opened ${openings} times, with ${each} rounds of each loop each time.`),
      ...reasons.map(reason => `Left out: ${leftOut.filter(one => here(one) && one.reason === reason).map(({ contender }) => contender).join(', ')}; ${reason}.`)
    ]
  })
}

// Of the report: requests per second at 10,000 and 100,000 connections, and KiB of memory of one more connection.
const REPORT = {
  fibjs: [17_705, 14_664, 7.1],
  nodejs: [8268, 1089, 9.7],
  go: [22_284, 19_386, 32.4],
  nginx: [19_393, 16_805, 0.4]
}
const HERE = { fibjs: ['fibjs'], nodejs: ['node-cluster', 'node'], go: ['go'], nginx: ['nginx'], kone: ['kone-cluster', 'kone'] }

function report (figures) {
  const levels = levelsOf(figures).filter(n => n >= 10_000)
  if (!levels.length) return null
  const [least, most] = [levels[0], levels.at(-1)].map(n => named('closed loop', n))
  const standIn = (name, workload) => HERE[name].find(one => figures.row(workload, one)) ?? name
  const rate = { metric: 'throughput' }
  const lines = Object.keys(HERE).map(name => {
    const [few, many, each] = REPORT[name] ?? []
    const at = workload => figures.ratio(workload, standIn(name, workload), 'nginx', rate)
    const kept = figures.ratio(most, standIn(name, most), standIn(name, most), { ...rate, toWorkload: least })
    const memory = figures.row(named('idle', levels[0]), standIn(name, least), 'memory')
    const [a, b, c] = few ? [few / REPORT.nginx[0], many / REPORT.nginx[1], many / few] : ['–', '–', '–']
    return [`${name}, here ${standIn(name, most)}`, a, at(least), b, at(most), c, kept, each ?? '–', memory ? short(memory.median / 1024) : '–']
  })
  const heads = [`÷ nginx, ${whole(levels[0])}`, `÷ nginx, ${whole(levels.at(-1))}`, 'left at the most', 'KiB of a connection']
  return {
    ...beside(['', ...heads.flatMap(head => [`report: ${head}`, 'here'])], lines),
    each: 4,
    text: 'Ratios of requests per second; *left at the most*: those with the most connections ÷ those with the fewest, of rounds that are not paired.'
  }
}
