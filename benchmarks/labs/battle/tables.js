'use strict'

const { ranking } = require('../../lib/report/report')
const { rowOf } = require('../../lib/run/result')
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
      cluster(result)
    ]
  }
}

function cluster (result) {
  const { pm2 } = result.derived
  const [rate, memory, latency] = ['throughput', 'memory', 'latency'].map(metric => rowOf(result, 'cluster', 'kone-pm2', metric))
  if (!pm2?.workers) return null
  const MB = value => `${(value / 1e6).toFixed(1)} MB`
  return {
    heading: 'every middleware on, in a cluster by pm2: autocannon, 100 connections',
    table: [
      ['id', 'mode', 'pid', 'status', 'restarts', 'memory'],
      ...pm2.workers.map(({ memory, ...worker }) => [...Object.values(worker).map(String), MB(memory)])
    ],
    notes: [
      rate && `${Math.round(rate.median).toLocaleString('en')} requests/s, ${short(latency.median)} ms, ` +
        `${MB(memory.median)} per worker (${MB(memory.min)}–${MB(memory.max)}), ${pm2.bytes} bytes per response`,
      'the workers have all cores and share them with the load; CPU includes the daemon, which writes the log'
    ].filter(Boolean)
  }
}
