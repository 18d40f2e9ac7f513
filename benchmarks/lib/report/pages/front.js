'use strict'

const { DASH, figure, range, ratio, table } = require('../markdown')
const { ratios } = require('../drawn')
const { short } = require('../text')

const IDLE = 'idle'

module.exports = {
  lab: 'front',
  title: 'kone’s own HTTP/1.1',
  what: '`app.listen()` parses and writes plain HTTP/1.1 itself and gives everything else to `node:http` ' +
    '([how](../api/front.md)). This lab measures it workload by workload beside `node:http` doing the same by hand, ' +
    'Koa, and `net`, a socket that writes fixed bytes and parses nothing.',
  run: 'make bench-front',
  method: 'Every response is verified before a clock starts; all servers are up at once, and every round visits each ' +
    'in random order. What counts is the server’s CPU time per request. `kone-node` is kone on `node:http`; ' +
    '`kone-bodyParser` reads the body by the middleware instead of by hand.',

  trend: [
    { what: 'hello ÷ node', of: figures => figures.ratio('hello', 'kone', 'node') },
    { what: 'POST ÷ node', of: figures => figures.ratio('post', 'kone', 'node') },
    { what: 'idle memory ÷ node', of: figures => figures.ratio(IDLE, 'kone', 'node', { metric: 'memory' }) }
  ],

  charts: figures => [ratios(figures, compared(figures), {
    name: 'front',
    title: 'kone ÷ node:http doing the same by hand',
    to: 'node',
    label: 'node:http'
  })],

  sections: (figures, { others }) => [
    versions([figures, ...others]),
    ...figures.workloads.filter(workload => workload !== IDLE).map(workload => ranking(figures, workload)),
    idle(figures)
  ]
}

const compared = figures => figures.workloads.filter(workload => figures.ratio(workload, 'kone', 'node'))

function versions (all) {
  const [figures] = all
  const workloads = figures.workloads.filter(workload => workload !== IDLE)
  return {
    heading: 'Measured: kone ÷ the others',
    body: [
      table(
        ['', ...all.flatMap(({ major }) => [`÷ node:http, Node ${major}`, `÷ Koa, Node ${major}`])],
        workloads.map(workload => [workload, ...all.flatMap(one => ['node', 'koa'].map(to => ratio(one.ratio(workload, 'kone', to))))])),
      'Server CPU per request; below 1 kone costs less.'
    ]
  }
}

function ranking (figures, workload) {
  const rows = figures.rows(workload)
  if (!rows.length) return null
  const [{ generator, connections }] = rows
  return {
    heading: `Measured: ${workload}`,
    body: [
      generator && `By ${generator}, ${connections} connections.`,
      table(['', 'CPU µs/request', 'lowest–highest', '÷ node', '÷ koa'], rows.map(row => [
        figures.versioned(row.contender), figure(row), range(row),
        ...['node', 'koa'].map(to => row.contender === to ? '1' : ratio(figures.ratio(workload, row.contender, to)))
      ]))
    ]
  }
}

function idle (figures) {
  const rows = figures.rows(IDLE, 'memory')
  if (!rows.length) return null
  return {
    heading: 'Measured: 10,000 silent connections',
    body: table(['', 'KiB per connection', 'lowest–highest', '÷ node'], rows.map(row => [
      figures.versioned(row.contender), short(row.median / 1024), `${short(row.min / 1024)}${DASH}${short(row.max / 1024)}`,
      row.contender === 'node' ? '1' : ratio(figures.ratio(IDLE, row.contender, 'node', { metric: 'memory' }))
    ]))
  }
}
