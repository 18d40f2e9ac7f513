'use strict'

const { growth } = require('../../lib/report/findings')
const { ratio, whole } = require('../../lib/report/text')
const { pairedRatio } = require('../../lib/run/stats')

const WORKLOADS = { soak: '', mixed: ' of the mixed profile' }
const MB = row => row ? (row.median / 1e6).toFixed(0) : '–'

/** Resident memory over the requests of a workload, for each lab that soaks servers. */
const memory = exports.memory = function (figures, workload, { name } = {}) {
  const rows = figures.rows(workload, 'memory')
  if (!rows.length) return null
  const tenths = rows[0].rounds.map((_, i) => i)
  const requests = whole(tenths.length * figures.result.derived.requestsPerRound)
  const start = figures.rows(workload, 'start').length ? ['after start'] : []
  const grown = ({ rounds: [first, ...later] }) =>
    ratio({ ...pairedRatio(later, later.map(() => first)), median: later.at(-1) / first })
  const point = bytes => ({ median: bytes, min: bytes, max: bytes })
  return {
    heading: `Resident memory, MB, over ${requests} requests${WORKLOADS[workload]}`,
    chart: growth(figures, {
      name,
      what: 'Resident memory by tenths of the requests',
      unit: 'resident memory, MB',
      factor: 1e-6,
      x: { label: 'tenths of the requests', names: tenths.map(i => String(i + 1)) },
      series: rows.map(({ contender, rounds }) => [contender, rounds.map((bytes, i) => [i, point(bytes)])])
    }),
    table: [
      ['', ...start, ...tenths.map(i => `${i + 1}/10`), 'end ÷ first tenth'],
      ...rows.map(row => [
        figures.versioned(row.contender), ...start.map(() => MB(figures.row(workload, row.contender, 'start'))),
        ...row.rounds.map(bytes => MB(point(bytes))), grown(row)
      ])
    ],
    notes: figures.notes([workload])
  }
}

exports.sections = figures => [memory(figures, 'soak'), memory(figures, 'mixed', { name: 'mixed' })].filter(Boolean)
