'use strict'

const { aims } = require('../../lib/report/report')
const { short } = require('../../lib/report/text')
const { rowOf, rowsOf } = require('../../lib/run/result')
const { pairedRatio } = require('../../lib/run/stats')

/** Requests per second of the open loop, over all connections. */
const RATE = exports.RATE = 1000

/** A workload: a table and a number of connections. */
const named = exports.named = (table, connections) => `${table}, ${connections.toLocaleString('en')} connections`

/**
 * @param {object} result of connections
 * @return {{ title: string, sections: object[] }}
 */
exports.view = function (result) {
  return {
    title: 'connections: thousands of them, silent and busy',
    sections: [
      reached(result),
      ...result.derived.levels.flatMap(connections => [idle, paced, closed].map(show => show(result, connections))),
      byConnections(result, 'closed loop', 'throughput', 'requests per second in a closed loop'),
      byConnections(result, 'idle', 'total', 'resident memory of all processes, MB')
    ]
  }
}

const spread = ({ min, max }, show = short) => `${show(min)}–${show(max)}`

function idle (result, connections) {
  const workload = named('idle', connections)
  const rows = rowsOf(result, workload, 'memory')
  if (!rows.length) return null
  const kB = bytes => (bytes / 1024).toFixed(1)
  return {
    heading: `idle: ${connections.toLocaleString('en')} silent connections`,
    table: [
      ['', 'KB per connection', 'spread', 'MB in all', 'CPU µs per accept', 'spread'],
      ...rows.map(memory => {
        const { contender } = memory
        const accept = rowOf(result, workload, contender, 'accept')
        const total = rowOf(result, workload, contender, 'total')
        return [contender, kB(memory.median), spread(memory, kB), short(total.median), short(accept.median), spread(accept)]
      })
    ],
    chart: { rows, caption: 'resident memory per connection, bytes: shorter is better' },
    notes: [...opened(result, connections), ...leftOut(result, connections), ...rejections(result, workload)]
  }
}

function paced (result, connections) {
  const workload = named('open loop', connections)
  const rows = rowsOf(result, workload)
  if (!rows.length) return null
  return {
    heading: `open loop: ${RATE.toLocaleString('en')} requests a second over ${connections.toLocaleString('en')} connections, ` +
      'timed from when each was due',
    table: [
      ['', 'p50 ms', 'p90 ms', 'p99 ms', 'spread', 'CPU µs/request', 'spread'],
      ...rows.map(row => {
        const at = name => rowOf(result, workload, row.contender, name)
        const [p50, p90, p99] = ['p50', 'p90', 'p99'].map(at)
        return [row.contender, ...[p50, p90, p99].map(one => short(one.median)), spread(p99), short(row.median), spread(row)]
      })
    ],
    notes: rejections(result, workload)
  }
}

function closed (result, connections) {
  const workload = named('closed loop', connections)
  const rows = rowsOf(result, workload)
  if (!rows.length) return null
  // one process of node cannot hold the largest numbers: its cluster stands in
  const floor = rowOf(result, workload, 'node') ?? rowOf(result, workload, 'node-cluster')
  return {
    heading: `closed loop: ${connections.toLocaleString('en')} connections that always send`,
    table: [
      ['', 'requests/s', 'spread', 'CPU µs/request', 'spread', floor ? `÷ ${floor.contender}` : '÷ node', 'mean ms'],
      ...rows.map(row => {
        const rate = rowOf(result, workload, row.contender, 'throughput')
        const over = pairedRatio(row.rounds, floor?.rounds ?? [])
        return [
          row.contender,
          Math.round(rate.median).toLocaleString('en'),
          spread(rate, n => Math.round(n).toLocaleString('en')),
          short(row.median),
          spread(row),
          over ? over.median.toFixed(2) : '–',
          short(row.latencyMeanMs)
        ]
      })
    ],
    chart: { rows, caption: 'server CPU per request, µs: shorter is better' },
    notes: [...remarks(result, workload), ...rejections(result, workload)]
  }
}

const rejections = ({ rejected }, workload) => rejected
  .filter(one => one.workload === workload)
  .map(({ contender, reason }) => `${contender} was rejected: ${reason}`)

const remarks = ({ derived }, workload) => derived.remarks
  .filter(one => one.workload === workload)
  .map(({ contender, remark }) => `${contender}: ${remark}`)

const opened = ({ derived: { openings = [] } }, connections) => openings
  .filter(one => one.connections === connections)
  .map(({ openings, each }) => `the connections were opened ${openings} times, with ${each} rounds of each loop: what is ` +
    'above is a figure for each opening')

function leftOut ({ derived }, connections) {
  return derived.leftOut
    .filter(one => one.connections === connections)
    .map(({ contender, reason }) => `${contender} is not here: ${reason}`)
}

// As the report draws it: a line for each contender over the number of connections.
function byConnections (result, table, metric, caption) {
  const names = [...new Set(result.rows.map(({ contender }) => contender))]
  const series = names.map(name => ({
    name,
    points: result.derived.levels
      .map(connections => ({ x: connections, row: rowOf(result, named(table, connections), name, metric) }))
      .filter(({ row }) => row)
  }))
  if (!series.some(({ points }) => points.length > 1)) return null
  return { heading: caption, chart: { caption, x: { label: 'connections', log: true }, series } }
}

function reached (result) {
  const over = (table, connections, metric) => {
    const rounds = name => rowOf(result, named(table, connections), name, metric)?.rounds ?? []
    return pairedRatio(rounds('kone'), rounds('node'))
  }
  const measured = result.derived.levels.filter(connections => rowOf(result, named('idle', connections), 'kone', 'memory'))
  const targets = measured.filter(connections => connections <= 10_000).flatMap(connections => {
    const at = `at ${connections.toLocaleString('en')}`
    return [
      { what: `memory of an idle connection ÷ node:http, ${at}`, spread: over('idle', connections, 'memory') },
      { what: `CPU per accept ÷ node:http, ${at}`, spread: over('idle', connections, 'accept') },
      { what: `CPU per request in the open loop ÷ node:http, ${at}`, spread: over('open loop', connections, 'cpu') },
      { what: `CPU per request in the closed loop ÷ node:http, ${at}`, spread: over('closed loop', connections, 'cpu') }
    ]
  })
  return aims(result, { heading: 'kone beside node:http, both in one process', targets })
}
