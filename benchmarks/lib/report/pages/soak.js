'use strict'

const { ratio, table } = require('../markdown')
const { lines } = require('../svg')
const { pairedRatio, spread } = require('../../run/stats')

const SOAK = 'soak'

module.exports = {
  lab: 'soak',
  title: 'A million requests',
  what: 'Whether memory grows with the number of requests: hello world, a million times, and the resident memory ' +
    'after each tenth, without asking for a garbage collection.',
  run: 'make bench-soak',
  method: 'One server after the other, 50 connections. A ratio is the memory at the end divided by that after the ' +
    'first tenth.',

  trend: [{ what: 'end ÷ first tenth', of: figures => grown(figures.row(SOAK, 'kone', 'memory')) }],

  charts: figures => {
    const rows = figures.rows(SOAK, 'memory')
    if (!rows.length) return []
    return [{
      name: 'soak',
      above: true,
      alt: `Line chart: resident memory over the requests, for ${rows.map(({ contender }) => contender).join(', ')}`,
      ...lines({
        title: `Memory over a million requests, Node ${figures.major}`,
        subtitle: 'resident memory, MB, after each tenth',
        unit: 'MB',
        x: { label: 'tenths of the requests', names: rows[0].rounds.map((_, i) => String(i + 1)) },
        series: rows.map(({ contender, rounds }) => ({
          name: contender,
          points: rounds.map((bytes, x) => ({ x, median: bytes / 1e6, min: bytes / 1e6, max: bytes / 1e6 }))
        }))
      })
    }]
  },

  sections: figures => {
    const rows = figures.rows(SOAK, 'memory')
    if (!rows.length) return []
    return [{
      heading: 'Measured',
      body: table(['', ...rows[0].rounds.map((_, i) => `${i + 1}/10`), 'end ÷ first tenth'], rows.map(row =>
        [figures.versioned(row.contender), ...row.rounds.map(bytes => (bytes / 1e6).toFixed(0)), ratio(grown(row))]))
    }]
  }
}

// The median is that of the end; lowest and highest are of all tenths but the first.
function grown (row) {
  if (!row) return null
  const [first, ...later] = row.rounds
  const { rounds } = pairedRatio(later, later.map(() => first))
  return { ...spread(rounds), median: rounds.at(-1), rounds }
}
