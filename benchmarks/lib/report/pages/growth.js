'use strict'

const { figure, picture, ratio, table } = require('../markdown')
const { lines } = require('../svg')
const { compact } = require('../text')

const SUBJECTS = {
  middleware: { title: 'middleware', x: 'middleware' },
  routes: { title: 'routes, the last one requested', x: 'routes', log: true, logY: true },
  headers: { title: 'request headers', x: 'request headers' },
  body: { title: 'bytes of request body', x: 'bytes of request body', log: true, logY: true },
  connections: { title: 'connections', x: 'connections', log: true },
  response: { title: 'bytes of response', x: 'bytes of response', log: true, logY: true },
  session: { title: 'bytes in the session', x: 'bytes in the session, in memory', log: true },
  template: { title: 'list items in a template', x: 'list items in a nunjucks template', log: true, logY: true }
}

module.exports = {
  lab: 'growth',
  title: 'How cost grows as work grows',
  what: 'One subject after the other: more middleware, more routes, more headers, larger bodies, more connections. ' +
    'kone beside Koa with the packages that its users install, and Fastify with its plugins. What is looked for is a ' +
    'line that bends upwards.',
  run: 'make bench-growth',
  method: 'Each amount of work has a server of its own, so that nothing large is left over from the step before. ' +
    'What counts is the server’s CPU time per request; for bodies also the peak of resident memory while they are ' +
    'read. *Exponent* is the slope in a logarithmic chart: 1 is linear, 0 is constant.',

  trend: [
    { what: 'a hundred middleware ÷ koa', of: figures => figures.ratio('middleware: 100', 'kone', 'koa') },
    { what: '1,000 routes ÷ koa', of: figures => figures.ratio('routes: 1000', 'kone', 'koa') }
  ],

  charts: figures => subjectsOf(figures).flatMap(subject => [chart(figures, subject, 'cpu'), subject === 'body' && chart(figures, subject, 'memory')]),

  sections: figures => subjectsOf(figures).map(subject => section(figures, subject))
}

const amount = workload => Number(workload.slice(workload.indexOf(': ') + 2))
const workloadsOf = (figures, subject) => figures.workloads.filter(workload => workload.startsWith(`${subject}: `)).sort((a, b) => amount(a) - amount(b))
const subjectsOf = figures => Object.keys(SUBJECTS).filter(subject => workloadsOf(figures, subject).length)
const namesOf = (figures, workloads, metric) => ['kone', 'koa', 'fastify'].filter(name => workloads.some(workload => figures.row(workload, name, metric)))

function chart (figures, subject, metric) {
  const { title, x, log, logY } = SUBJECTS[subject]
  const workloads = workloadsOf(figures, subject)
  const isMemory = metric === 'memory'
  const factor = isMemory ? 1e6 : 1
  const series = namesOf(figures, workloads, metric).map(name => ({
    name,
    points: workloads.map(workload => [amount(workload), figures.row(workload, name, metric)]).filter(([, row]) => row)
      .map(([x, { median, min, max }]) => ({ x, median: median / factor, min: min / factor, max: max / factor }))
  })).filter(({ points }) => points.length > 1)
  if (!series.length) return null
  const unit = isMemory ? 'MB' : 'µs per request'
  return {
    name: `growth-${subject}${isMemory ? '-memory' : ''}`,
    subject,
    alt: `Line chart: ${isMemory ? 'peak of memory' : 'server CPU per request'} by ${title}, for ` +
      `${series.map(({ name }) => name).join(', ')}`,
    ...lines({
      title: `${isMemory ? 'Memory' : 'CPU per request'} by ${title}, Node ${figures.major}`,
      subtitle: isMemory
        ? 'peak of resident memory, MB: lower is better'
        : 'server CPU per request, µs: lower is better. Bands are the lowest and the highest round.',
      unit,
      x: { label: x, log: log && workloads.every(workload => amount(workload) > 0) },
      y: { log: logY },
      series
    })
  }
}

function section (figures, subject) {
  const workloads = workloadsOf(figures, subject)
  const last = workloads.at(-1)
  const slopes = figures.result.derived?.slopes ?? []
  const grown = (name, metric) => slopes.find(one => one.subject === subject && one.metric === metric && one.contender === name)
  const rows = metric => namesOf(figures, workloads, metric).map(name => {
    const slope = grown(name, metric)
    return [
      name,
      ...workloads.map(workload => {
        const row = figures.row(workload, name, metric)
        return metric === 'memory' ? (row ? compact(row.median / 1e6) : '–') : figure(row)
      }),
      ratio(slope?.times),
      slope?.exponent === undefined || slope.exponent === null ? '–' : slope.exponent.toFixed(2)
    ]
  })
  const heads = workloads.map(workload => compact(amount(workload)))
  const memory = rows('memory')
  const over = ['koa', 'fastify'].map(to => [to, figures.ratio(last, 'kone', to)]).filter(([, spread]) => spread)
  const pictures = ['cpu', 'memory'].map(metric => chart(figures, subject, metric)).filter(Boolean)
  return {
    heading: SUBJECTS[subject].title[0].toUpperCase() + SUBJECTS[subject].title.slice(1),
    body: [
      ...pictures.map(picture),
      table(['CPU µs/request', ...heads, 'most ÷ least', 'exponent'], rows('cpu')),
      memory.length > 0 && table(['peak of memory, MB', ...heads, 'most ÷ least', 'exponent'], memory),
      over.length > 0 && `At ${compact(amount(last))}: ${over.map(([to, spread]) => `kone ÷ ${to} ${ratio(spread)}`).join(', ')}.`
    ]
  }
}
