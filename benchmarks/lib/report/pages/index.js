'use strict'

const { list, ratio, table, threshold } = require('../markdown')
const { STALE, commit } = require('../page')

/**
 * The index of the reports: what is not supported first, then the pages.
 *
 * @param {{ templates: object[], labs: Map<string, Figures[]>, claims: object[], isStale: Function }} of
 * @return {string} markdown
 */
exports.index = function ({ templates, labs, claims, isStale }) {
  const of = verdict => claims.filter(claim => claim.verdict === verdict)
  const not = [...of('not supported'), ...of('by the median')]
  const absent = of('not measured')
  const stale = [...labs.values()].flat().some(({ result }) => isStale(result))
  return `${[
    '# Reports',
    'What kone costs, measured by the lab in `benchmarks/` and committed with it. Every table and chart is made from ' +
    '`benchmarks/results/` by `make report`, and a test compares them. A figure is the median of the rounds; the ' +
    'lowest and the highest round are beside it. Six pages set our figures beside five reports of other years ' +
    'and machines, and say where those cannot be true.',
    stale && `${STALE[0]}\n> **Warning:** \`lib/\` has changed since some of these results were measured; their pages ` +
      `say which.\n${STALE[1]}`,
    '## Not supported',
    not.length
      ? list(not.map(({ says, on, atMost, spread, lab, verdict }) =>
        `[${lab}](./${lab}.md), Node ${on}: ${says}: claimed at most ${threshold(atMost)}, measured ${ratio(spread)}` +
        `${verdict === 'by the median' ? '; true by the median, not in every round' : ''}.`))
      : `Nothing of what was measured: ${of('supported').length} of ${claims.length} claims are supported in every ` +
        'round.',
    absent.length > 0 && `Not measured: ${grouped(absent)}.`,
    '## Pages',
    table(['', 'Node', 'claims supported', 'commit', 'measured'], templates.map(({ lab, title, hasManyNodes }) => {
      const all = labs.get(lab) ?? []
      const measured = claims.filter(claim => claim.lab === lab && claim.verdict !== 'not measured')
      const good = measured.filter(({ verdict }) => verdict === 'supported').length
      return [
        `[${title}](./${lab}.md)`,
        all.length ? (hasManyNodes ? 'many' : all.map(({ major }) => major).join(', ')) : 'no result',
        measured.length ? `${good} of ${measured.length}` : '–',
        all.length ? commit(all[0].result) : '–',
        all.length ? all[0].result.date.slice(0, 10) : '–'
      ]
    }), { text: [1, 3, 4] }),
    '## Claims',
    'A claim is *supported* when it is true in every round. It is a ratio of server CPU per request, unless it says ' +
    'otherwise: below 1, kone costs less.',
    table(['', 'Node', 'at most', 'measured', 'load by', ''], claims.filter(({ verdict }) => verdict !== 'not measured').map(one =>
      [one.says, String(one.on), threshold(one.atMost), ratio(one.spread), one.row.generator ?? '–', one.verdict]), { text: [4, 5] }),
    '## Read on',
    'How to run the lab, and how to read its figures, is in `benchmarks/README.md` of the repository.'
  ].filter(Boolean).join('\n\n')}\n`
}

function grouped (claims) {
  const groups = new Map()
  for (const { lab, on } of claims) {
    const name = `${lab} on Node ${on}`
    groups.set(name, (groups.get(name) ?? 0) + 1)
  }
  return [...groups].map(([name, count]) => `${name} (${count} claim${count > 1 ? 's' : ''})`).join(', ')
}
