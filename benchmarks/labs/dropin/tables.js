'use strict'

const { targets: claimed } = require('../../lib/report/claims')
const { aims, ranking } = require('../../lib/report/report')
const { short } = require('../../lib/report/text')
const { rowOf } = require('../../lib/run/result')
const workloads = require('./workloads')

/**
 * What the lab shows of its result.
 *
 * @param {object} result
 * @return {{ title: string, sections: object[] }}
 */
module.exports = result => ({
  title: 'dropin: unmodified apps and packages, on kone and on Koa',
  sections: [
    table(result),
    ...workloads.map(({ workload, about, to }) => ranking(result, workload, { heading: about, references: [to, 'node'] }))
  ]
})

// One row per workload, and a bar for each.
function table (result) {
  const claims = claimed('dropin', result)
  const targets = workloads.map(({ workload, about, to }) =>
    ({ ...claims.find(one => one.workload === workload && one.to === to), what: about }))
  aims(result, { heading: '', targets })

  const figure = (workload, name) => short(rowOf(result, workload, name)?.median ?? NaN).replace('NaN', '–')
  const drawn = workloads.filter(({ workload }) => rowOf(result, workload, 'kone', 'ratio'))
  return {
    heading: `server CPU per request, µs; what is claimed on Node ${parseInt(result.node.slice(1))}`,
    table: [
      ['', 'node', 'koa', 'kone', 'kone ÷ koa', 'spread', 'at most', ''],
      ...targets.map(({ workload, to, what, target, spread }) => [
        what,
        figure(workload, 'node'),
        figure(workload, to),
        figure(workload, 'kone'),
        spread ? spread.median.toFixed(2) : '–',
        spread ? `${spread.min.toFixed(2)}–${spread.max.toFixed(2)}` : '–',
        target.toFixed(2),
        spread ? spread.median <= target ? 'reached' : 'missed' : 'not measured'
      ])
    ],
    chart: drawn.length
      ? {
          rows: drawn.map(({ workload }) => rowOf(result, workload, 'kone', 'ratio')),
          labels: drawn.map(({ about }) => about),
          caption: 'CPU of kone ÷ CPU of koa: shorter is better; bars are medians, whiskers the lowest and highest round'
        }
      : undefined,
    notes: ['the last row is divided by kone on node:http (http1: false)']
  }
}
