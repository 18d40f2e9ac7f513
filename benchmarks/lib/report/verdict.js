'use strict'

const ENOUGH = 6 // rounds: of as many coins all fall on one side in 3 of 100 tries

/**
 * What the paired ratios after ÷ before of one workload say: a difference only where every round has it.
 *
 *    verdict({ min: 0.91, max: 0.97, rounds: [...] }) // 'better'
 *
 * @param {{ min: number, max: number, rounds: number[] }|null} ratio of costs
 * @return {'better'|'worse'|'no difference'|'too few rounds'|'not measured'}
 */
const verdict = exports.verdict = function (ratio) {
  if (!ratio) return 'not measured'
  if (ratio.rounds.length < ENOUGH) return 'too few rounds'
  if (ratio.max < 1) return 'better'
  return ratio.min > 1 ? 'worse' : 'no difference'
}

/**
 * Whether a change is to be taken: what is worse anywhere is not, nor what is better nowhere.
 *
 * @param {(object|null)[]} ratios of all workloads
 * @return {string} a sentence
 */
exports.conclusion = function (ratios) {
  const verdicts = ratios.map(verdict)
  const of = what => verdicts.filter(one => one === what).length
  if (of('worse')) return `reject: worse in ${of('worse')} of ${verdicts.length} workloads`
  if (of('better')) return `accept: better in ${of('better')} of ${verdicts.length} workloads, worse in none`
  if (of('too few rounds')) return `no verdict: it takes ${ENOUGH} rounds at least`
  return 'no difference: neither accepted nor rejected, whatever there is lies inside the spread'
}
