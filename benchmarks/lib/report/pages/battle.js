'use strict'

const { figure, list, range, ratio, table, two, whole } = require('../markdown')
const { costs } = require('../drawn')

// Of the report: requests per second, mean latency in ms, bytes per second. The loads are autocannon's.
const MACHINES = [
  {
    name: 'laptop, 2 cores at 1.4 GHz, Node 6.9.0',
    rows: {
      node: [10178.4, 9.36, 1.5e6],
      kone: [12175.2, 7.74, 1.33e6],
      toa: [5625.2, 17.31, 969_930],
      'trek-engine': [10990.8, 8.64, 1.66e6],
      koa: [9002, 10.62, 1.35e6],
      express: [3987, 24.64, 842_140]
    }
  },
  {
    name: 'server, 8 cores, Node 7.6.0',
    rows: {
      node: [12000.8, 7.74, 1.78e6],
      kone: [9630, 9.86, 1.06e6],
      toa: [4832.61, 20.11, 829_030],
      'trek-engine': [9491.6, 10.02, 1.42e6],
      koa: [8422.8, 11.35, 1.27e6],
      express: [6004.4, 16.19, 1.3e6]
    }
  },
  {
    name: 'server, 6 cores, Node 7.6.0',
    rows: {
      node: [18884.8, 4.86, 2.79e6],
      kone: [21588.8, 4.12, 2.39e6],
      toa: [7732.4, 12.46, 1.33e6],
      'trek-engine': [18804, 4.88, 2.85e6],
      koa: [17583.2, 5.25, 2.63e6],
      express: [8417.21, 11.39, 1.82e6]
    }
  }
]
const RIVALS = ['node', 'koa', 'trek-engine', 'toa', 'express']
const PM2 = { workers: 6, rate: 4524.4, latency: 21.61, bytes: 1.63e6, connections: 100 }
const MW = 3467 // requests/s of one process with the same middleware, in another table of the report

const HELLO = 'hello'
const WRK = 'hello, wrk'
const UNDER_PM2 = 'pm2'
const WORKERS = 'cluster, wrk'
const ERA = 'hello, Node '

module.exports = {
  lab: 'battle',
  title: 'Hello world behind five middleware',
  what: 'Each framework responds with `Hello World` behind five middleware that do nothing but pass on. `node` is a ' +
    'bare `http.createServer` handler without any middleware, for scale. The lab goes back to kone’s first report, ' +
    'of 2017; it is set beside it below.',
  run: 'make battle',
  method: 'Every response is verified before a clock starts. All servers are up at once; each round visits every one ' +
    'of them in random order. What counts is the **server’s CPU time per request**: requests per second depend on ' +
    'the load generator and on neighbours. A ratio is paired round by round. Where both generators were used, claims, ' +
    'chart and trend take the rows of wrk, a program in C, which leaves the machine to the server more than a load ' +
    'generator in JavaScript does (the cost of each is in the last table). The rows of autocannon are beside them, ' +
    'because the original report is of autocannon.',

  trend: [
    { what: 'kone ÷ node', of: figures => figures.ratio(figures.judged(HELLO), 'kone', 'node') },
    { what: 'kone ÷ koa', of: figures => figures.ratio(figures.judged(HELLO), 'kone', 'koa') }
  ],

  charts: figures => [
    costs(figures, HELLO, { name: 'battle', title: 'Hello world behind five middleware' })
  ],

  sections: (figures, { others }) => [
    ranking(figures, WRK),
    ranking(figures, HELLO),
    versions([figures, ...others]),
    ...eras(figures),
    cluster(figures),
    report(figures),
    impossible(),
    reasons(figures)
  ],

  original: () => [{ heading: 'The original report', body: originals() }, impossible()]
}

function ranking (figures, workload) {
  const rows = figures.rows(workload)
  if (!rows.length) return null
  const references = ['node', 'koa'].filter(name => figures.row(workload, name))
  return {
    heading: `Measured: ${figures.load(workload)}`,
    body: table(
      ['', 'requests/s', 'CPU µs/request', 'lowest–highest', ...references.map(name => `CPU ÷ ${name}`)],
      rows.map(row => [
        figures.versioned(row.contender), whole(row.requestsPerSecond), figure(row), range(row),
        ...references.map(name => name === row.contender ? '1' : ratio(figures.ratio(workload, row.contender, name)))
      ]))
  }
}

function versions (all) {
  if (all.length < 2) return null
  return {
    heading: 'By version of Node',
    body: table(
      ['Node', 'load by', 'kone, CPU µs', 'koa, CPU µs', 'node, CPU µs', 'kone ÷ koa', 'kone ÷ node'],
      all.map(figures => {
        const workload = figures.judged(HELLO)
        return [
          figures.node,
          figures.load(workload),
          ...['kone', 'koa', 'node'].map(name => figure(figures.row(workload, name))),
          ...['koa', 'node'].map(name => ratio(figures.ratio(workload, 'kone', name)))
        ]
      }), { text: [1] })
  }
}

// The packages of 2017 on the Node of 2017, where the run had --era.
function eras (figures) {
  return figures.workloads.filter(workload => workload.startsWith(ERA)).map(workload => ({
    heading: `The packages of 2017 on ${workload.slice('hello, '.length)}`,
    body: table(['', 'requests/s', 'CPU µs/request', 'lowest–highest'], figures.rows(workload).map(row =>
      [row.contender, whole(row.requestsPerSecond), figure(row), range(row)]))
  }))
}

// Hello world in as many workers as cores, beside the same in one process; then the app under pm2.
function cluster (figures) {
  const rows = figures.rows(WORKERS)
  const { workers } = figures.result.derived
  const references = ['node', 'koa'].filter(name => figures.row(WORKERS, name))
  const body = rows.length > 0 && [
    `Hello world in ${workers ?? 'several'} workers of \`node:cluster\`, one for each core, by ${figures.load(WORKERS)}. CPU is that of all ` +
    'workers and the primary, for one request, so that it can be compared with one process: the difference is the ' +
    'price of the cluster, and of cores that workers and load generator share. For the same reason requests per ' +
    'second say little here, and are not shown.',
    table(
      ['', 'CPU µs/request', 'lowest–highest', ...references.map(name => `CPU ÷ ${name}`), 'one process, CPU µs', 'medians: cluster ÷ one process'],
      rows.map(row => {
        const one = figures.row(WRK, row.contender)
        return [
          figures.versioned(row.contender), figure(row), range(row),
          ...references.map(name => name === row.contender ? '1' : ratio(figures.ratio(WORKERS, row.contender, name))),
          figure(one), one ? two(row.median / one.median) : '–'
        ]
      }))
  ]
  const set = underPm2(figures)
  return body || set ? { heading: 'In a cluster', body: [...body || [], ...set || []] } : null
}

// The fourth table of the report.
function underPm2 (figures) {
  const rows = figures.rows(UNDER_PM2)
  if (!rows.length) return null
  const { instances, bytes } = figures.result.derived.pm2 ?? {}
  return [
    `The report’s fourth table is of ${PM2.workers} processes under pm2 with every middleware on. Here are ${instances ?? 'as many as cores'} of ` +
    `today, with an HTML page${bytes ? ` of ${whole(bytes)} bytes, headers included` : ''}, by ${figures.load(UNDER_PM2)}. It is another app than above, so both tables ` +
    'do not compare; CPU includes pm2’s daemon. [Unmodified packages](./dropin.md) has hello world under pm2 beside Koa.',
    table(['', 'CPU µs/request', 'lowest–highest', 'MB of a worker', 'mean ms'], rows.map(row => {
      const memory = figures.row(UNDER_PM2, row.contender, 'memory')
      return [figures.versioned(row.contender), figure(row), range(row), memory ? whole(memory.median / 1e6) : '–', two(row.latencyMeanMs)]
    }))
  ]
}

function report (figures) {
  const judged = figures.judged(HELLO)
  const lines = RIVALS.filter(name => figures.row(HELLO, name)).map(name => {
    const [kone, other] = [figures.row(HELLO, 'kone', 'throughput'), figures.row(HELLO, name, 'throughput')]
    return [
      `kone ÷ ${name}`,
      ...MACHINES.map(({ rows }) => two(rows.kone[0] / rows[name][0])),
      kone && other ? ratio(figures.ratio(HELLO, 'kone', name, { metric: 'throughput' })) : '–',
      ratio(figures.ratio(judged, name, 'kone'))
    ]
  })
  return {
    heading: 'Beside the original report',
    body: [
      originals(),
      'Ratio by ratio; above 1, kone is better. The first four columns are ratios of requests per second, ours by ' +
      `${figures.load(HELLO)}, as the report’s; the last is the CPU time per request of the other, divided by kone’s, ` +
      `by ${figures.load(judged)}. The report’s frameworks are those of 2017, ours are today’s.`,
      lines.length > 0 && table(['', ...MACHINES.map(({ name }) => name), 'here, requests/s', 'here, CPU: other ÷ kone'], lines),
      ...amongOthers(figures)
    ]
  }
}

// kone needs Node 20; the others of the report also run on the Node of the report, where the run had --era.
function amongOthers (figures) {
  const eras = figures.workloads.filter(workload => workload.startsWith(ERA))
  const ofEra = (workload, name) => figures.rows(workload).find(({ contender }) => new RegExp(`^${name}-[\\d.]+$`).test(contender))?.contender
  const over = (workload, koa, other) => koa && other ? ratio(figures.ratio(workload, koa, other)) : '–'
  const lines = RIVALS.filter(name => name !== 'koa').map(name => [
    `${name} ÷ koa`,
    ...MACHINES.map(({ rows }) => two(rows[name][0] / rows.koa[0])),
    ...eras.map(workload => over(workload, ofEra(workload, 'koa'), ofEra(workload, name))),
    over(figures.judged(HELLO), 'koa', name)
  ])
  return [
    'The others beside Koa, above 1 better than Koa; the report’s by requests per second, ours by CPU time per ' +
    'request. ' +
    (eras.length
      ? 'Here with the packages of 2017 on the Node of 2017, and with today’s on today’s.'
      : 'Here with today’s packages; `make battle ARGS=--era` also measures those of 2017 on the Node of 2017.'),
    table(['', ...MACHINES.map(({ name }) => name), ...eras.map(workload => `here, 2017 on ${workload.slice('hello, '.length)}`), 'here, today'], lines)
  ]
}

function originals () {
  const names = Object.keys(MACHINES[0].rows)
  return [
    'kone’s first report measured by autocannon, 100 connections for five seconds, one run for each framework, on ' +
    'three machines. Its requests per second, and the mean latency in ms:',
    table(['', ...MACHINES.map(({ name }) => name)], names.map(name =>
      [name, ...MACHINES.map(({ rows }) => `${whole(rows[name][0])} (${rows[name][1]} ms)`)])),
    `A fourth table is of ${PM2.workers} processes under pm2 with the whole middleware set: ${whole(PM2.rate)} ` +
    `requests/s, ${PM2.latency} ms, ${PM2.connections} connections.`
  ].join('\n\n')
}

function impossible () {
  const [laptop, eight, six] = MACHINES.map(({ rows }) => rows)
  const bytes = ([rate, , perSecond]) => Math.round(perSecond / rate)
  const over = rows => two(rows.kone[0] / rows.node[0])
  const flight = MACHINES.flatMap(({ rows }) => Object.values(rows).map(([rate, ms]) => rate * ms / 1000))
  return {
    heading: 'Where the report cannot be true',
    body: list([
      '**kone sent a shorter response.** Bytes per second ÷ requests per second is the size of a response: ' +
      `${bytes(laptop.kone)} bytes from kone, ${bytes(laptop.koa)} from koa, ${bytes(laptop['trek-engine'])} from ` +
      'trek-engine, all with the same body. The difference to koa is the size of `Content-Type: text/plain; ' +
      'charset=utf-8` with its line end, 41 bytes. So kone left out a header that the others sent. Here every ' +
      'response is compared first, headers included.',
      '**“node” responded with something else**: the body `okay`, where all others sent `Hello World`.',
      '**A framework on `node:http` cannot need less than `node:http`** for the same response, and the kone of 2017 ' +
      `was one. Yet kone ÷ node is ${over(laptop)} on the first machine, ${over(eight)} on the second and ` +
      `${over(six)} on the third: three machines, and they do not agree on the direction. One run of five seconds ` +
      'for each, always in the same order, cannot tell such differences from noise. (Today’s kone can be below bare ' +
      '`node:http`, because it has an HTTP/1.1 front of its own.)',
      '**“Twice the performance because of a newer operating system”** (the third machine beside the second) does ' +
      'not follow: one process of Node uses one core, so eight cores beside six say nothing, and the clock rates are ' +
      'not given.',
      `**Six processes under pm2 sent ${whole(PM2.rate)} responses a second, ${whole(PM2.rate / PM2.workers)} ` +
      `each**, where one process with the same middleware sent ${whole(MW)} in another table. The load came over a ` +
      `network, at ${two(PM2.bytes * 8 / 1e6)} Mbit/s; it, and not the six processes, can have been the limit. The ` +
      'table cannot tell.',
      `**What does fit**: requests per second × latency is ${two(Math.min(...flight))} to ` +
      `${two(Math.max(...flight))} in flight over 100 connections in every row, as a closed loop must have (Little’s ` +
      'law).'
    ])
  }
}

function reasons (figures) {
  const bluebird = figures.ratio(figures.judged(HELLO), 'kone-bluebird', 'kone')
  return {
    heading: 'Its reasons, today',
    body: [
      'The report gives four reasons for kone’s speed: no `delegates`, an iterative compose, bluebird instead of ' +
      'native promises, and a flat last stage behind the onion (`app.final`). All four are still in kone, bluebird ' +
      'as an option.' +
      (bluebird ? ` Here kone with bluebird ÷ kone with native promises is ${ratio(bluebird)} by CPU.` : ''),
      'What the promises of Node 6 cost is on the page [every middleware on](./mw.md). What makes most of the ' +
      'difference today is not among the four: `app.listen()` parses and writes plain HTTP/1.1 itself ([kone’s own ' +
      'HTTP/1.1](./front.md)).'
    ]
  }
}
