'use strict'

const { aims } = require('../../lib/report/report')
const { rowsOf } = require('../../lib/run/result')
const { spread } = require('../../lib/run/stats')

/** Rounds of a run. */
const LOOKS = exports.LOOKS = 10

const TARGET = 1.2 // times the memory after the first round

/**
 * @param {object} result of soak
 * @return {{ title: string, sections: object[] }}
 */
exports.view = function (result) {
  const each = result.derived.requestsPerRound
  const rows = rowsOf(result, 'soak', 'memory')
  const MB = bytes => (bytes / 1e6).toFixed(1)
  const lines = Array.from({ length: LOOKS }, (_, i) => [
    ((i + 1) * each).toLocaleString('en'), ...rows.map(({ rounds }) => MB(rounds[i]))
  ])
  return {
    title: `soak: memory over ${(each * LOOKS).toLocaleString('en')} requests`,
    sections: [
      aims(result, {
        heading: 'resident memory at the end ÷ after the first tenth',
        targets: rows.map(({ contender: what, rounds }) => {
          const later = rounds.slice(1).map(bytes => bytes / rounds[0])
          return { what, target: TARGET, spread: { ...spread(later), median: later.at(-1) } }
        })
      }),
      { heading: 'resident memory, MB', table: [['requests', ...rows.map(({ contender }) => contender)], ...lines] }
    ]
  }
}
