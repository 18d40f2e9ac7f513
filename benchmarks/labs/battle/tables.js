'use strict'

const { ranking } = require('../../lib/report/report')
const { rowOf, rowsOf } = require('../../lib/run/result')
const { short } = require('../../lib/report/text')

/**
 * @param {object} result of battle
 * @return {{ title: string, sections: object[] }}
 */
module.exports = function view (result) {
  const references = ['node', 'koa']
  const eras = [...new Set(result.rows.map(({ workload }) => workload))].filter(name => name.startsWith('hello, Node '))
  return {
    title: 'battle: hello world behind five middleware',
    sections: [
      ranking(result, 'hello', { heading: 'autocannon, 100 connections', references }),
      ranking(result, 'hello, wrk', { heading: 'wrk, 50 connections', references, question: 'hello' }),
      ...eras.map(workload => {
        const version = workload.replace('hello, Node ', '')
        return ranking(result, workload, {
          heading: `2017, Node ${version}: autocannon, 100 connections`,
          references: [`node-${version}`, 'koa-2.0.1']
        })
      }),
      cluster(result),
      pm2(result)
    ]
  }
}

// What a request costs in a cluster, beside what it costs in one process.
function cluster (result) {
  const workload = 'cluster, wrk'
  const section = ranking(result, workload, {
    heading: `node:cluster with ${result.derived.workers} workers, one for each core: wrk, 50 connections`,
    references: ['node', 'koa']
  })
  if (!section) return null
  const single = rowsOf(result, workload).flatMap(({ contender, median }) => {
    const one = rowOf(result, 'hello, wrk', contender)
    return one ? [`${contender}: ${short(median)} µs in the cluster, ${short(one.median)} µs in one process`] : []
  })
  const shared = 'CPU is that of all workers and the primary; the load shares the cores with them, so that requests/s say little'
  return { ...section, notes: [shared, ...single, ...section.notes] }
}

function pm2 (result) {
  const { pm2 } = result.derived
  const [cost, rate, memory, latency] = ['cpu', 'throughput', 'memory', 'latency'].map(metric => rowOf(result, 'pm2', 'kone-pm2', metric))
  if (!pm2?.workers) return null
  const MB = value => `${(value / 1e6).toFixed(1)} MB`
  return {
    heading: `every middleware on, in a cluster by pm2${rate ? `: ${rate.generator}, ${rate.connections} connections` : ''}`,
    table: [
      ['id', 'mode', 'pid', 'status', 'restarts', 'memory'],
      ...pm2.workers.map(({ memory, ...worker }) => [...Object.values(worker).map(String), MB(memory)])
    ],
    notes: [
      cost && `${short(cost.median)} µs of CPU per request (${short(cost.min)}–${short(cost.max)}), pm2's daemon included`,
      rate && `${Math.round(rate.median).toLocaleString('en')} requests/s, ${short(latency.median)} ms, ` +
        `${MB(memory.median)} per worker (${MB(memory.min)}–${MB(memory.max)}), ${pm2.bytes} bytes per response`,
      'as in the first report; the workers share the cores with the load, which slows both'
    ].filter(Boolean)
  }
}
