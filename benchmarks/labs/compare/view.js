'use strict'

const { ranking } = require('../../lib/report/tables')
const { ratio, short, two } = require('../../lib/report/text')
const { ROUNDS } = require('../../lib/run/options')

/*
 * Which of two revisions of kone takes less time; or where kone takes more than Koa.
 */

exports.sections = figures => figures.result.derived.isBesideKoa
  ? [besideKoa(figures)]
  : [verdicts(figures), ...figures.workloads.includes('hello') ? [ranking(figures, 'hello', { to: ['kone-before', 'node'] })] : []]

function verdicts (figures) {
  const { before, after, workloads, otherDependencies } = figures.result.derived
  const ratios = workloads.map(workload => figures.ratio(workload, 'kone-after', 'kone-before'))
  return {
    heading: `${after} beside ${before}: ${conclusion(ratios)}`,
    table: [
      ['server CPU per request, µs', 'before', 'after', 'after ÷ before', 'verdict'],
      ...workloads.map((workload, i) => [
        workload, ...['kone-before', 'kone-after'].map(name => short(figures.row(workload, name)?.median)), ratio(ratios[i]), verdict(ratios[i])
      ])
    ],
    notes: [
      'better or worse: in every round; anything else is inside the spread',
      ...otherDependencies ? ['their dependencies differ in package.json; both ran with those of the checkout'] : [],
      ...figures.notes(workloads)
    ]
  }
}

/** Rows above 1 come first; each round is of another process on both sides. */
function besideKoa (figures) {
  const all = figures.result.derived.workloads.map(workload => ({ workload, is: figures.ratio(workload, 'kone-after', 'koa') }))
  const measured = all.filter(({ is }) => is).sort((a, b) => b.is.median - a.is.median)
  const above = measured.filter(({ is }) => is.median > 1)
  return {
    heading: `kone beside Koa: ${above.length} of ${measured.length} shapes above 1`,
    table: [
      ['server CPU per request, µs', 'kone', 'Koa', 'kone ÷ Koa', 'each process'],
      ...measured.map(({ workload, is }) => [
        workload, ...['kone-after', 'koa'].map(name => short(figures.row(workload, name).median)), two(is.median), is.rounds.map(two).join(', ')
      ])
    ],
    notes: [
      ...all.filter(({ is }) => !is).map(({ workload }) => `not measured: ${workload}`),
      ...figures.notes(measured.map(({ workload }) => workload))
    ]
  }
}

/** What the paired ratios after ÷ before of one workload say: a difference only where every round has it. */
const verdict = exports.verdict = function (ratio) {
  if (!ratio) return 'not measured'
  if (ratio.rounds.length < ROUNDS) return 'too few rounds'
  return ratio.max < 1 ? 'better' : ratio.min > 1 ? 'worse' : 'no difference'
}

/** Whether a change is to be taken: what is worse anywhere is not, nor what is better nowhere. */
const conclusion = exports.conclusion = function (ratios) {
  const verdicts = ratios.map(verdict)
  const of = what => verdicts.filter(one => one === what).length
  if (of('worse')) return `reject: worse in ${of('worse')} of ${verdicts.length} workloads`
  if (of('better')) return `accept: better in ${of('better')} of ${verdicts.length} workloads, worse in none`
  if (of('too few rounds')) return `no verdict: it takes ${ROUNDS} rounds at least`
  return 'no difference: neither accepted nor rejected, whatever there is is inside the spread'
}
