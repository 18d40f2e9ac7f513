'use strict'

const { figure, list, range, ratio, table, two, whole } = require('../markdown')
const { costs } = require('../drawn')
const { short } = require('../text')

// Of the report: requests per second, mean latency in ms, connections, depth of the pipeline, threads of wrk, requests
// per second of one thread, cores of the server, bytes per second
const TESTS = [
  ['1: 6,000 connections', { rate: 839_989.75, latency: 13.22, connections: 6000, threads: 80, each: 10_630, cores: 4, bytes: 107.34 }],
  ['2: 60,000 connections', { rate: 2_288_798.42, latency: 80.76, connections: 60_000, threads: 800, each: 1140, cores: 4, bytes: 292.49 }],
  ['3: 60,000, pipelined', { rate: 4_186_395.22, latency: 387.41, connections: 60_000, depth: 16, threads: 500, each: 6090, cores: 4, bytes: 534.99 }],
  ['4: 60,000, “limit”', { rate: 6_708_969.51, latency: 399.51, connections: 60_000, threads: 1000, each: 1270, cores: 5, bytes: 857.36 }],
  ['5: the same command again', { rate: 3_249_100.74, latency: 278.93, connections: 60_000, threads: 1000, each: 1590, cores: 5, bytes: 415.21 }],
  ['6: 60,000, pipelined', { rate: 1_221_969.24, latency: 130.51, connections: 60_000, depth: 16, threads: 1000, each: 492.52, cores: 5, bytes: 156.16 }]
]
const PEAK = 8_550_000
const BYTES = { requests: 50_523_429, read: 6.31 * 2 ** 30 } // of test 1: wrk's GB are of 1024³ bytes

const SMALL = '13 B, 64 connections'
const MANY = '13 B, 6,000 connections'
const DEEP = '13 B, pipelined 16'
const CROWDED = '13 B, 60,000 connections'
const HPHS = 'hphs'

module.exports = {
  lab: 'static',
  title: 'Static files',
  what: 'A file of 13 bytes and larger ones, from kone’s memory and from the disk, beside nginx, h2o, lighttpd and a ' +
    'Go server, the static middleware of Node, and two floors: `node:http` responding from a buffer, and `net`, a ' +
    'socket that writes fixed bytes and parses nothing. The lab goes back to the report on HPHS, a web server in C++.',
  run: 'make bench-static ARGS=--all',
  method: 'Every server sends every file, which is compared, before a clock starts. All have one core, but for the ' +
    'table of 60,000 connections, where each is a cluster because one process cannot open so many sockets here. What ' +
    'counts is the server’s CPU time per request. The pipelined table sends 16 requests at once and is not to be ' +
    'compared with the others.',

  trend: [
    { what: 'kone ÷ node', of: figures => figures.ratio(SMALL, 'kone', 'node') },
    { what: 'kone ÷ nginx', of: figures => figures.ratio(SMALL, 'kone', 'nginx') }
  ],

  charts: figures => [
    costs(figures, SMALL, { name: 'static', title: 'A file of 13 bytes over 64 connections' }),
    costs(figures, DEEP, { name: 'static-pipelined', title: 'A file of 13 bytes, 16 requests deep pipelined' })
  ],

  sections: figures => [
    small(figures),
    ...larger(figures),
    ...large(figures),
    crowded(figures),
    report(figures),
    impossible(figures),
    hphs(figures)
  ],

  original: () => [{ heading: 'The original report', body: originals() }, impossible()]
}

function small (figures) {
  const names = figures.rows(SMALL).map(({ contender }) => contender)
  if (!names.length) return null
  const cell = (workload, name) => figure(figures.row(workload, name))
  return {
    heading: 'Measured: 13 bytes',
    body: table(
      ['server CPU per request, µs', '64 connections', 'lowest–highest', '÷ node', '6,000 connections', '6,000 ÷ 64', '16 deep', '16 deep ÷ node'],
      names.map(name => [
        figures.versioned(name),
        cell(SMALL, name),
        range(figures.row(SMALL, name)),
        name === 'node' ? '1' : ratio(figures.ratio(SMALL, name, 'node')),
        cell(MANY, name),
        ratio(figures.ratio(MANY, name, name, { toWorkload: SMALL })),
        cell(DEEP, name),
        name === 'node' ? '1' : ratio(figures.ratio(DEEP, name, 'node'))
      ]))
  }
}

// Every other size, as the result has them.
function larger (figures) {
  const sizes = new Map()
  for (const workload of figures.workloads) {
    const [size, load] = workload.split(/, (?=\d[\d,]* connections)/)
    if (!load || size === '13 B' || isLarge(figures, workload)) continue
    sizes.set(size, [...sizes.get(size) ?? [], [load, workload]])
  }
  return [...sizes].map(([size, loads]) => {
    const names = [...new Set(loads.flatMap(([, workload]) => figures.rows(workload).map(({ contender }) => contender)))]
    return {
      heading: `Measured: ${size}`,
      body: table(
        ['', ...loads.flatMap(([load]) => [`${load}, CPU µs`, '÷ node', 'requests/s'])],
        names.map(name => [figures.versioned(name), ...loads.flatMap(([, workload]) => [
          figure(figures.row(workload, name)),
          name === 'node' ? '1' : ratio(figures.ratio(workload, name, 'node')),
          whole(figures.row(workload, name)?.requestsPerSecond)
        ])]))
    }
  })
}

const isLarge = ({ result }, workload) => result.rows.some(row => row.workload === workload && row.metric === 'perMB')

// Files that are only worth their bytes.
function large (figures) {
  return figures.workloads.filter(workload => isLarge(figures, workload)).map(workload => ({
    heading: `Measured: ${workload}`,
    body: table(
      ['', 'MB/s', 'lowest–highest', 'CPU µs/MB', 'lowest–highest', '÷ node-disk', 'peak of memory, MB'],
      figures.rows(workload, 'perMB').map(row => {
        const of = metric => figures.row(workload, row.contender, metric)
        return [
          figures.versioned(row.contender), figure(of('bandwidth')), range(of('bandwidth')), figure(row), range(row),
          row.contender === 'node-disk' ? '1' : ratio(figures.ratio(workload, row.contender, 'node-disk', { metric: 'perMB' })),
          figure(of('memory'))
        ]
      }))
  }))
}

function crowded (figures) {
  const rows = figures.rows(CROWDED)
  if (!rows.length) return null
  return {
    heading: 'Measured: 13 bytes, 60,000 connections',
    body: [
      'Each as a cluster of four processes, or of more where the end of this page says so; a closed loop, in which ' +
      'every connection always has one request under way.',
      table(['', 'requests/s', 'CPU µs/request', 'lowest–highest', 'mean ms'], rows.map(row =>
        [figures.versioned(row.contender), whole(row.requestsPerSecond), figure(row), range(row), short(row.latencyMeanMs)]))
    ]
  }
}

const flight = ({ rate, latency }) => rate * latency / 1000
const possible = ({ connections, depth = 1 }) => connections * depth

function originals () {
  return [
    'The report on HPHS is of a machine with eight ARM64 cores: four or five for the server, the other three or four ' +
    'for wrk, both on one machine. The file is said to have about 100 bytes. The table has its figures, and what ' +
    'follows from them by Little’s law: requests in flight are requests per second × mean latency, and a closed loop ' +
    'cannot have more than one for each connection, or sixteen with its pipeline.',
    table(['test', 'requests/s', 'mean ms', 'in flight', 'possible', 'factor', 'sum of wrk’s threads', 'server CPU µs/request'], TESTS.map(([name, test]) => [
      name,
      whole(test.rate),
      String(test.latency),
      whole(flight(test)),
      whole(possible(test)),
      two(flight(test) / possible(test)),
      whole(test.threads * test.each),
      two(test.cores / test.rate * 1e6)
    ]).concat([['7: “peak”', `${whole(PEAK)}+`, 'XXX', '–', '–', '–', '–', two(5 / PEAK * 1e6)]])),
    'The last column is the most that a request can have cost: all cores of the server, divided by the rate.'
  ]
}

function report (figures) {
  const of = name => TESTS.find(([test]) => test.startsWith(name))[1]
  const cost = ({ cores, rate }) => cores / rate * 1e6
  const server = figures.row(SMALL, HPHS) ? HPHS : 'nginx'
  const lines = [
    ['60,000 ÷ 6,000 connections (tests 2 and 1)', cost(of('2')) / cost(of('1')), null, null],
    ['6,000 ÷ 64 connections', null, ratio(figures.ratio(MANY, server, server, { toWorkload: SMALL })),
      ratio(figures.ratio(MANY, 'kone', 'kone', { toWorkload: SMALL }))],
    ['16 deep ÷ not pipelined (tests 3 and 2)', cost(of('3')) / cost(of('2')), ratio(figures.ratio(DEEP, server, server, { toWorkload: SMALL })),
      ratio(figures.ratio(DEEP, 'kone', 'kone', { toWorkload: SMALL }))],
    ['16 deep ÷ not pipelined (tests 6 and 5)', cost(of('6')) / cost(of('5')), null, null]
  ]
  return {
    heading: 'Beside the original report',
    body: [
      ...originals(),
      'Ratio by ratio, of CPU per request; below 1, the first costs less:',
      table(['', 'report, HPHS', `here, ${server}`, 'here, kone'], lines.map(([what, report, ...here]) =>
        [what, report === null ? '–' : two(report), ...here.map(text => text ?? '–')]))
    ]
  }
}

function impossible (figures) {
  const net = figures?.row(SMALL, 'net')
  const nginx = figures?.row(SMALL, 'nginx')
  const [worst] = [...TESTS].sort(([, a], [, b]) => flight(b) / possible(b) - flight(a) / possible(a))
  const [four, five] = [TESTS[3][1], TESTS[4][1]]
  const perResponse = Math.round(BYTES.read / BYTES.requests)
  return {
    heading: 'Where the report cannot be true',
    body: list([
      `**Five of six tests break Little’s law**, test ${worst[0].split(':')[0]} by a factor of ` +
      `${short(flight(worst[1]) / possible(worst[1]))}: with its rate and its latency there would have been millions ` +
      'of requests in flight over 60,000 connections that have one each. The latency, or the rate, is wrong. The lab ' +
      'here refuses such a round.',
      '**wrk contradicts itself.** The rate of a thread × the number of threads must be the rate of all. In test 1 ' +
      `it is; in test 4 it is ${whole(four.threads * four.each)} of ${whole(four.rate)}. With 800 or 1,000 threads ` +
      'on three or four cores most threads do not run most of the time, and what wrk measures by the clock is no ' +
      'longer what happened.',
      `**Tests 4 and 5 are one command**, and differ by ${two(four.rate / five.rate)}.`,
      `**Test 4 leaves ${two(four.cores / four.rate * 1e6)} µs of CPU for a request, and the load generator ` +
      `${two(3 / four.rate * 1e6)} µs.** Without a pipeline each request is at least one read and one write, ` +
      `through TCP. ${net ? `A server here that parses nothing and writes fixed bytes takes ${short(net.median)} µs` : 'No server here comes near'}` +
      `${nginx ? `, nginx ${short(nginx.median)} µs` : ''}: almost all of it is the kernel’s, and the kernel is the same for all.`,
      `**The file did not have 100 bytes.** ${whole(BYTES.requests)} responses are 6.31 GB in test 1, ${perResponse} ` +
      `bytes each, headers included: that would leave ${perResponse - 100} bytes for the status line, a ` +
      'Content-Length and the empty line, which are 40 at least. The 13 bytes of our file fit.',
      '**Test 7 is no measurement**: its latency is “XXX”, and its rate a round number with a plus sign.',
      '**What can be true** is the rate of test 1, which its threads confirm; its latency is then wrong. It needs ' +
      `${two(4 / TESTS[0][1].rate * 1e6)} µs of CPU for a request on four cores that this machine does not have.`
    ])
  }
}

function hphs (figures) {
  const isMeasured = figures.has(HPHS)
  return {
    heading: 'HPHS itself',
    body: [
      isMeasured
        ? 'HPHS was measured: it is `hphs` in the tables above.'
        : 'HPHS was not measured in this run. In a single earlier run on this kind of machine, at 64 connections, ' +
          'HPHS took 8.9 µs of CPU for a request, nginx 10 and kone 14.4; pipelined 16 deep they took 6.2, 8.2 and ' +
          '3.2. That is no committed result.',
      'Its source is public (`lianghaofeng/HPHS_multi-reactor-server`) and is built by cmake outside of this ' +
      'repository. The lab takes any server by its command:',
      '<!-- no-run: a shell -->\n```sh\nEXTRA=\'hphs=/path/to/hphs $PORT 1 $ROOT\' make bench-static\n```'
    ]
  }
}
