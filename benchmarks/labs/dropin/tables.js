'use strict'

const { aims, cpu } = require('../../lib/report/report')
const { short } = require('../../lib/report/text')
const { pairedRatio } = require('../../lib/run/stats')

/**
 * The table of the lab, one row per workload, and a bar for each.
 *
 * @param {{ result: object, nodeVersion: string }} lab
 * @param {object[]} workloads of workloads.js
 * @return {object} a section for `finish`
 */
exports.table = function ({ result, nodeVersion }, workloads) {
  const newest = parseInt(nodeVersion.slice(1)) >= 26
  const rounds = (workload, name) => cpu(result, workload, name)?.rounds ?? []
  const targets = workloads.map(({ workload, about, to, goal }) => ({
    workload,
    to,
    what: about,
    target: newest ? goal[26] : goal[20],
    spread: pairedRatio(rounds(workload, 'kone'), rounds(workload, to))
  }))
  aims(result, { heading: '', targets })

  const figure = (workload, name) => short(cpu(result, workload, name)?.median ?? NaN).replace('NaN', '–')
  const bars = targets.filter(({ spread }) => spread)
  return {
    heading: `server CPU per request, µs; goals on Node ${newest ? 26 : 20}`,
    table: [
      ['', 'node', 'koa', 'kone', 'kone ÷ koa', 'spread', 'goal', ''],
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
    chart: bars.length
      ? {
          rows: bars.map(({ workload, spread }) => ({ contender: workload, ...spread })),
          caption: 'CPU of kone ÷ CPU of koa: shorter is better; bars are medians, whiskers the lowest and highest round'
        }
      : undefined,
    notes: ['the last row is divided by kone on node:http (http1: false)']
  }
}
