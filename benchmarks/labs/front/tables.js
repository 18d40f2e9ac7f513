'use strict'

const { targets } = require('../../lib/report/claims')
const { aims, ranking } = require('../../lib/report/report')
const { rowOf, rowsOf } = require('../../lib/run/result')
const { pairedRatio } = require('../../lib/run/stats')
const workloads = require('./workloads')

// Shown without a claim: [what, workload, to]
const SHOWN = [
  ['hello world, autocannon ÷ node:http', 'hello, autocannon', 'node'],
  ['hello world, autocannon ÷ Koa 2', 'hello, autocannon', 'koa'],
  ['JSON over TLS ÷ node:https', 'json, TLS', 'node']
]

/**
 * @param {object} result of front
 * @return {{ title: string, sections: object[] }}
 */
exports.view = function (result) {
  return {
    title: 'front: what kone\'s HTTP/1.1 costs beside node:http',
    sections: [
      reached(result),
      ...workloads.flatMap(({ loads }) => Object.keys(loads).map(workload => measured(result, workload, Object.keys(loads)[0]))),
      idle(result)
    ]
  }
}

function measured (result, workload, question) {
  const [row] = rowsOf(result, workload)
  if (!row) return null
  const heading = `${workload}: ${row.generator}, ${row.connections} connections`
  return ranking(result, workload, { heading, references: ['node', 'koa'], question })
}

function idle (result) {
  const rows = rowsOf(result, 'idle', 'memory')
  if (!rows.length) return null
  const kB = bytes => (bytes / 1024).toFixed(1)
  return {
    heading: 'idle: 10,000 silent keep-alive connections',
    table: [
      ['', 'KiB per connection', 'min', 'max'],
      ...rows.map(({ contender, median, min, max }) => [contender, kB(median), kB(min), kB(max)])
    ],
    chart: { rows, caption: 'resident memory per connection, bytes: shorter is better' }
  }
}

function reached (result) {
  const rounds = (workload, contender) => rowOf(result, workload, contender)?.rounds ?? []
  return aims(result, {
    heading: `claimed on Node ${parseInt(result.node.slice(1))}, server CPU per request unless it says memory`,
    targets: [
      ...targets('front', result),
      ...SHOWN.map(([what, workload, to]) => ({ what, spread: pairedRatio(rounds(workload, 'kone'), rounds(workload, to)) }))
    ]
  })
}
