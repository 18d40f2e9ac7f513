'use strict'

const { short, two, whole } = require('../../lib/report/text')
const { median } = require('../../../command/measure/stats')

const BELOW = exports.BELOW = 0.8 // of the capacity
const ABOVE = exports.ABOVE = [2, 5]
const CONNECTIONS = exports.CONNECTIONS = ['new', 'kept']
const PROXIED = exports.PROXIED = 'behind nginx'

const LIMIT = 200 // ms, the default of overload()
const GOODPUT = { new: 75, kept: 85, [PROXIED]: 75 } // % of the capacity
const SERVED = 99.5 // % of the requests below the capacity
const SLOWER = 1.2 // times the latency without overload()

const goodput = times => `goodput at ${times}×`
const p99 = times => `p99 at ${times}×`

/** Metric, unit, and what it is of a sample. The first three: only beside the same app without overload(). */
exports.FIGURES = [
  ['served', '%', ({ loads: { below } }) => 100 * below.good / below.sent],
  [p99(BELOW), 'ms', ({ loads: { below } }) => below.p99],
  ['slower', 'times', ({ loads: { below, without } }) => below.p99 / without.p99],
  ['capacity', 'requests/s', ({ capacity }) => capacity],
  ...ABOVE.flatMap(times => [
    [goodput(times), '%', ({ capacity, loads }) => 100 * loads[times].perSecond / capacity],
    [p99(times), 'ms', ({ loads }) => loads[times].p99]
  ])
]

exports.sections = figures => [...CONNECTIONS, PROXIED].map(workload => {
  const names = figures.names.filter(name => figures.row(workload, name, 'capacity'))
  const cell = (name, metric, show = short) => show(figures.row(workload, name, metric)?.median ?? NaN)
  return names.length && {
    heading: workload === PROXIED ? 'behind nginx with its defaults' : `${workload} connections`,
    table: [
      ['', 'capacity, requests/s', `served at ${BELOW}×, %`, 'p99, ms', 'p99 ÷ without', ...ABOVE.flatMap(times => [`${goodput(times)}, %`, 'p99, ms'])],
      ...names.map(name => [
        figures.versioned(name), cell(name, 'capacity', whole), cell(name, 'served'), cell(name, p99(BELOW)), cell(name, 'slower'),
        ...ABOVE.flatMap(times => [cell(name, goodput(times)), cell(name, p99(times))])
      ])
    ],
    notes: ['goodput: responses with the status 200 within a second, in % of the capacity']
  }
}).filter(Boolean)

/** @return {string[]} where kone is below its goal, by the medians of the rounds */
exports.missed = ({ rows }) => rows.flatMap(({ workload, contender, metric, rounds }) => {
  const figure = contender.startsWith('kone') ? median(rounds) : NaN
  const atLeast = metric === 'served' ? SERVED : metric.startsWith('goodput') ? GOODPUT[workload] : -Infinity
  const atMost = metric === 'slower' ? SLOWER : ABOVE.map(p99).includes(metric) ? 3 * LIMIT : Infinity
  if (!(figure < atLeast || figure > atMost)) return []
  return [`${contender}, ${workload}: ${metric} is ${two(figure)}, not ${figure < atLeast ? `${atLeast} or more` : `${atMost} or less`}`]
})
