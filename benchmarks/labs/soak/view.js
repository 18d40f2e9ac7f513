'use strict'

const { growth } = require('../../lib/report/findings')
const { ratio, whole } = require('../../lib/report/text')
const { pairedRatio } = require('../../lib/run/stats')

exports.sections = function (figures) {
  const rows = figures.rows('soak', 'memory')
  const tenths = rows[0]?.rounds.map((_, i) => i) ?? []
  const each = figures.result.derived.requestsPerRound
  const grown = ({ rounds: [first, ...later] }) =>
    ratio({ ...pairedRatio(later, later.map(() => first)), median: later.at(-1) / first })
  const point = bytes => ({ median: bytes, min: bytes, max: bytes })
  return rows.length
    ? [{
        heading: `Resident memory, MB, over ${whole(tenths.length * each)} requests`,
        chart: growth(figures, {
          what: 'Resident memory by tenths of the requests',
          unit: 'resident memory, MB',
          factor: 1e-6,
          x: { label: 'tenths of the requests', names: tenths.map(i => String(i + 1)) },
          series: rows.map(({ contender, rounds }) => [contender, rounds.map((bytes, i) => [i, point(bytes)])])
        }),
        table: [
          ['', ...tenths.map(i => `${i + 1}/10`), 'end ÷ first tenth'],
          ...rows.map(row => [figures.versioned(row.contender), ...row.rounds.map(bytes => (bytes / 1e6).toFixed(0)), grown(row)])
        ]
      }]
    : []
}
