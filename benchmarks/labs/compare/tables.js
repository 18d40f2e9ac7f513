'use strict'

const { ranking, ratio } = require('../../lib/report/report')
const { short } = require('../../lib/report/text')
const { conclusion, verdict } = require('../../lib/report/verdict')
const { rowOf } = require('../../lib/run/result')

/**
 * @param {object} result of compare
 * @return {{ title: string, sections: object[] }}
 */
exports.view = function (result) {
  const { before, after, workloads } = result.derived
  return {
    title: `compare: kone at ${after} beside ${before}`,
    sections: [
      verdicts(result),
      ...workloads.map(workload => ranking(result, workload, { heading: workload, references: ['kone-before', 'node'] }))
    ]
  }
}

function verdicts (result) {
  const { workloads, otherDependencies } = result.derived
  const ratios = workloads.map(workload => result.derived.ratios.find(one =>
    one.workload === workload && one.contender === 'kone-after' && one.to === 'kone-before') ?? null)
  const lines = workloads.map((workload, i) => {
    const figures = ['kone-before', 'kone-after'].map(name => rowOf(result, workload, name))
    const of = { workload, contender: 'kone-after', to: 'kone-before' }
    return [workload, ...figures.map(row => row ? short(row.median) : '–'), ratio(result, of), verdict(ratios[i])]
  })
  result.derived.verdict = conclusion(ratios)
  return {
    heading: result.derived.verdict,
    table: [['server CPU per request, µs', 'before', 'after', 'after ÷ before', 'verdict'], ...lines],
    notes: [
      'better or worse: in every round; anything else lies inside the spread',
      otherDependencies && 'their dependencies differ in package.json; both ran with those of the checkout'
    ].filter(Boolean)
  }
}
