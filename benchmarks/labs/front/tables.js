'use strict'

const { aims, ranking } = require('../../lib/report/report')
const { rowOf, rowsOf } = require('../../lib/run/result')
const { pairedRatio } = require('../../lib/run/stats')
const workloads = require('./workloads')

// [what, workload, contender, to, target on Node 20, target on Node 26]
const TARGETS = [
  ['hello ÷ node:http', 'hello', 'kone', 'node', 0.65, 0.78],
  ['hello ÷ node:http, autocannon', 'hello, autocannon', 'kone', 'node'],
  ['hello ÷ koa', 'hello', 'kone', 'koa', 0.47, 0.57],
  ['hello ÷ koa, autocannon', 'hello, autocannon', 'kone', 'koa'],
  ['hello ÷ raw net', 'hello', 'kone', 'net', 1.25, 1.25],
  ['browser\'s twelve headers ÷ node:http', 'browser', 'kone', 'node', 0.55, 0.68],
  ['the same, another Cookie each ÷ node:http', 'browser, other cookies', 'kone', 'node', 0.60, 0.74],
  ['JSON response ÷ node:http', 'json', 'kone', 'node', 0.68, 0.80],
  ['POST in one read ÷ node:http', 'post', 'kone', 'node', 0.55, 0.62],
  ['POST in one read ÷ koa + koa-bodyparser', 'post', 'kone', 'koa', 0.30, 0.30],
  ['POST in one read, bodyParser ÷ node:http', 'post', 'kone-bodyParser', 'node', 0.55, 0.62],
  ['POST in one read, bodyParser ÷ koa + koa-bodyparser', 'post', 'kone-bodyParser', 'koa', 0.30, 0.30],
  ['POST in two reads ÷ node:http', 'post, two reads', 'kone', 'node', 0.70, 0.78],
  ['POST in two reads ÷ koa + koa-bodyparser', 'post, two reads', 'kone', 'koa', 0.45, 0.45],
  ['POST in two reads, bodyParser ÷ node:http', 'post, two reads', 'kone-bodyParser', 'node', 0.70, 0.78],
  ['POST in two reads, bodyParser ÷ koa + koa-bodyparser', 'post, two reads', 'kone-bodyParser', 'koa', 0.45, 0.45],
  ['pipelined 16 deep ÷ node:http', 'pipelined 16', 'kone', 'node', 0.20, 0.20],
  ['JSON over TLS ÷ node:https', 'json, TLS', 'kone', 'node'],
  ['JSON over TLS ÷ koa', 'json, TLS', 'kone', 'koa', 0.48, 0.45],
  ['ctx.res touched ÷ kone on node:http', 'ctx.res touched', 'kone', 'kone-node', 1.00, 1.00],
  ['idle connection, resident memory ÷ node:http', 'idle', 'kone', 'node', 0.65, 0.50]
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
  const latest = parseInt(result.node.slice(1)) >= 26
  const rounds = (workload, contender) =>
    (rowOf(result, workload, contender) ?? rowOf(result, workload, contender, 'memory'))?.rounds ?? []
  return aims(result, {
    heading: `targets on Node ${latest ? 26 : 20}, server CPU per request unless it says memory`,
    targets: TARGETS.map(([what, workload, contender, to, twenty, newest]) => ({
      what,
      target: latest ? newest : twenty,
      spread: pairedRatio(rounds(workload, contender), rounds(workload, to))
    }))
  })
}
