'use strict'

const { growth } = require('../../lib/report/findings')
const { compact, ratio, short } = require('../../lib/report/text')
const { slope } = require('./slope')
const SUBJECTS = require('./subjects')

/** The workload of a subject and an amount of work. */
const named = exports.named = (subject, n) => `${subject}: ${n}`

exports.claims = Object.entries(SUBJECTS).flatMap(([subject, { unit, at }]) =>
  ['koa', 'fastify'].map(to => [`${unit}: ${compact(at.at(-1))} ÷ ${to}`, named(subject, at.at(-1)), to]))

exports.overview = () => ({
  lines: Object.entries(SUBJECTS).flatMap(([subject, { unit, at }]) =>
    [at[0], at.at(-1)].map(n => [`${unit}: ${compact(n)}`, named(subject, n)]))
})

exports.sections = figures => [...Object.keys(SUBJECTS).map(subject => section(figures, subject, 'cpu')), section(figures, 'body', 'memory')]

function section (figures, subject, metric) {
  const { unit, log, logY } = SUBJECTS[subject]
  const amounts = figures.workloads.filter(workload => workload.startsWith(`${subject}: `)).map(workload => Number(workload.split(': ')[1])).sort((a, b) => a - b)
  const points = name => amounts.map(n => [n, figures.row(named(subject, n), name, metric)]).filter(([, row]) => row)
  const series = figures.names.map(name => [name, points(name)])
    .filter(([, points]) => points.length)
  if (!series.length) return null
  const about = metric === 'cpu' ? 'server CPU per request, µs' : 'peak of resident memory, MB'
  const factor = metric === 'cpu' ? 1 : 1e-6
  const isLog = log && amounts[0] > 0
  return {
    heading: metric === 'cpu' ? unit : 'memory while bodies are read',
    chart: growth(figures, {
      name: metric === 'cpu' ? subject : `${subject}-memory`,
      what: metric === 'cpu' ? `CPU by ${unit}` : 'Memory by bytes of body',
      unit: about,
      x: { label: unit, log: isLog },
      y: { log: logY },
      factor,
      series
    }),
    table: [
      [about, ...amounts.map(compact), 'one more costs', 'most ÷ least', 'exponent'],
      ...series.map(([name, points]) => [
        name, ...amounts.map(n => short(points.find(([x]) => x === n)?.[1].median * factor)), ...grown(points, factor)
      ])
    ],
    notes: figures.notes(amounts.map(n => named(subject, n)))
  }
}

function grown (points, factor) {
  if (points.length < 2) return ['–', '–', '–']
  const { perUnit, times, exponent } = slope(points.map(([x, { rounds }]) => ({ x, rounds })))
  return [(perUnit.median * factor).toPrecision(2), ratio(times), exponent?.toFixed(2) ?? '–']
}
