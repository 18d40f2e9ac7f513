'use strict'

const { ratio } = require('../../lib/report/report')
const { compact, ratio: spread, short } = require('../../lib/report/text')
const { notes } = require('../../lib/report/view')
const { slope } = require('./slope')
const SUBJECTS = require('./subjects')

/** The workload of a subject and an amount of work. */
const named = exports.named = (subject, n) => `${subject}: ${n}`

/**
 * @param {object} result of growth
 * @return {{ title: string, sections: object[] }}
 */
exports.view = function (result) {
  result.derived.slopes = []
  return {
    title: 'growth: how cost grows as work grows',
    sections: [...Object.keys(SUBJECTS).map(subject => section(result, subject, 'cpu')), section(result, 'body', 'memory')]
  }
}

function section (result, subject, metric) {
  const { unit, log, logY } = SUBJECTS[subject]
  const rows = result.rows.filter(row => row.workload.startsWith(`${subject}: `) && row.metric === metric)
  if (!rows.length) return null
  const at = [...new Set(rows.map(row => row.at))].sort((a, b) => a - b)
  const series = result.contenders.map(({ name }) => ({
    name,
    points: rows.filter(row => row.contender === name).map(row => ({ x: row.at, row }))
  })).filter(({ points }) => points.length)
  const about = metric === 'cpu' ? 'server CPU per request, µs' : 'peak of resident memory, bytes'
  const shown = metric === 'cpu' ? short : compact

  return {
    heading: metric === 'cpu' ? subject : `${subject}: memory`,
    chart: { caption: `${about}: medians, with the lowest and highest round`, x: { label: unit, log }, y: { log: logY }, series },
    table: [
      [about, ...at.map(compact), 'one more costs', 'most ÷ least', 'exponent'],
      ...series.map(({ name, points }) => [
        name,
        ...at.map(n => points.find(({ x }) => x === n)).map(point => point ? shown(point.row.median) : '–'),
        ...grown(result, { subject, metric, contender: name, unit }, points)
      ])
    ],
    notes: [
      ...metric === 'cpu' ? ratios(result, subject, at.at(-1)) : [],
      ...at.flatMap(n => notes({ ...result, derived: {} }, named(subject, n)))
    ]
  }
}

// The slope, also kept in derived.slopes.
function grown ({ derived }, of, points) {
  if (points.length < 2) return ['–', '–', '–']
  const { perUnit, times, exponent } = slope(points.map(({ x, row }) => ({ x, rounds: row.rounds })))
  derived.slopes.push({ ...of, perUnit, times, exponent })
  return [perUnit.median.toPrecision(2), spread(times), exponent?.toFixed(2) ?? '–']
}

function ratios (result, subject, most) {
  const workload = named(subject, most)
  const found = ['koa', 'fastify'].map(to => [to, ratio(result, { workload, contender: 'kone', to })]).filter(([, text]) => text !== '–')
  return found.length ? [`at ${compact(most)}: kone ÷ ${found.map(([to, text]) => `${to} ${text}`).join(', ÷ ')}`] : []
}
