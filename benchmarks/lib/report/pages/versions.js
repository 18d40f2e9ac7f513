'use strict'

const { figure, list, ratio, table, two, whole } = require('../markdown')
const { lines } = require('../svg')

// Of the report: requests per second of the last version of each line, and the lowest and highest of the line.
const LINES = {
  0.1: { last: '0.1.104', all: [7640, 7538, 7537, 7674, 7040, 7280, 7211, 7340, 7270, 7210, 7063, 7931, 8020, 8561, 8146] },
  0.2: { last: '0.2.6', all: [7525, 7481, 7489, 7500, 7410, 7136, 7130] },
  0.3: { last: '0.3.8', all: [7810, 7871, 7815, 8880, 9000, 8999, 9200, 9347] },
  0.4: { last: '0.4.12', all: [7510, 7558, 7600, 7606, 6588, 7916, 7931, 7960, 7981, 7930, 7965, 7975, 7490] },
  0.5: { last: '0.5.10', all: [8200, 7259, 7071, 7098, 6996, 8073, 7931, 8127] },
  0.6: { last: '0.6.8', all: [7673, 7791, 8046, 8060, 8111, 8070, 8138, 8240, 8157] },
  0.7: { last: '0.7.0', all: [7676] },
  0.8: { last: '0.8.19', all: [7679, 7613, 7649, 7659, 7593, 7700, 7803, 7833, 7801, 7656, 7886, 7840, 7759, 7926, 7933, 7802, 7728, 7724, 7702] },
  0.9: { last: '0.9.8', all: [6845, 6999, 7099, 6980, 6568, 7381, 7520, 7710, 7681] }
}
// The second table, from the release notes of Node 0.6: 0.4.12 and 0.6.0 on Linux
const SECOND = [
  ['http_simple, 1,024 bytes, requests/s', 5461, 6263],
  ['io read, MB/s', 19.75, 26.63],
  ['io write, MB/s', 21.60, 17.40],
  ['startup, ms', 74.7, 49.6]
]
const SIDES = ['node', 'koa', 'kone']
const ALIVE = 'keep-alive'

const labelsOf = figures => [...new Set(figures.result.rows.map(({ contender }) => contender.replace(/^\w+-/, '')))]
  .sort((a, b) => number(a) - number(b))
const number = label => label.startsWith('0.') ? Number(label.slice(2)) / 100 : Number(label)

module.exports = {
  lab: 'versions',
  title: 'The years of Node',
  what: 'Hello world on the versions of Node since 0.8: `node:http` on all of them, Koa and kone from the first ' +
    'version on which they run. It goes back to a report that went through the versions from 0.1 to 0.9.',
  run: 'make bench-versions ARGS=--all',
  hasManyNodes: true,
  method: 'The official binaries of Node, each a server on the same core, all up at once and visited in random order ' +
    'in every round. Keep-alive and `Connection: close` are two tables. What counts is the server’s CPU time per ' +
    'request: the newest versions are so fast that the load generator would limit the rate.',

  charts: figures => [
    chart(figures, {
      name: 'versions',
      metric: 'cpu',
      title: 'Hello world through the years of Node',
      subtitle: 'server CPU per request, µs, with keep-alive: lower is better. Bands are the lowest and the highest ' +
        'round.',
      unit: 'µs per request'
    }),
    chart(figures, {
      name: 'versions-rate',
      metric: 'throughput',
      title: 'Requests per second through the years of Node',
      subtitle: 'one core, 100 connections with keep-alive: higher is better',
      unit: 'requests/s'
    })
  ],

  sections: figures => [
    measured(figures, ALIVE, 'with keep-alive'),
    measured(figures, 'close', 'with Connection: close'),
    second(figures),
    report(figures),
    impossible()
  ],

  original: () => [{ heading: 'The original report', body: originals() }, impossible()]
}

function chart (figures, { name, metric, title, subtitle, unit }) {
  const names = labelsOf(figures)
  const series = SIDES.map(side => ({
    name: side,
    points: names.map((label, x) => ({ x, ...figures.row(ALIVE, `${side}-${label}`, metric) })).filter(({ median }) => median)
  })).filter(({ points }) => points.length)
  if (!series.some(({ points }) => points.length > 1)) return null
  return {
    name,
    above: true,
    alt: `Line chart: ${title}, for ${series.map(({ name }) => name).join(', ')} on Node ${names[0]} to ` +
      `${names.at(-1)}`,
    ...lines({ title, subtitle, unit, x: { label: 'version of Node', names }, series })
  }
}

function measured (figures, workload, how) {
  const labels = labelsOf(figures).filter(label => SIDES.some(side => figures.row(workload, `${side}-${label}`)))
  if (!labels.length) return null
  const newest = labels.at(-1)
  return {
    heading: `Measured ${how}`,
    body: table(
      ['Node', ...SIDES.map(side => `${side}, CPU µs`), ...SIDES.map(side => `${side}, requests/s`), 'kone ÷ node', `node ÷ node ${newest}`],
      labels.map(label => [
        label,
        ...SIDES.map(side => figure(figures.row(workload, `${side}-${label}`))),
        ...SIDES.map(side => whole(figures.row(workload, `${side}-${label}`, 'throughput')?.median)),
        ratio(figures.ratio(workload, `kone-${label}`, `node-${label}`)),
        label === newest ? '1' : ratio(figures.ratio(workload, `node-${label}`, `node-${newest}`))
      ]))
  }
}

function second (figures) {
  const of = (label, workload, metric) => figures.row(workload, `node-${label}`, metric)
  const labels = labelsOf(figures).filter(label => of(label, 'io', 'read') || of(label, '1,024 bytes', 'throughput'))
  if (!labels.length) return null
  return {
    heading: 'Measured: 1,024 bytes, files, the start',
    body: [
      table(['Node', '1,024 bytes, requests/s', 'CPU µs', 'io read, MB/s', 'io write, MB/s', 'startup, ms'], labels.map(label => [
        label,
        whole(of(label, '1,024 bytes', 'throughput')?.median),
        figure(of(label, '1,024 bytes', 'cpu')),
        figure(of(label, 'io', 'read')),
        figure(of(label, 'io', 'write')),
        figure(of(label, 'startup', 'time'))
      ])),
      '*io*: one file through streams in blocks of 64 KB, from and to the cache of the operating system.'
    ]
  }
}

const lowest = ({ all }) => Math.min(...all)
const highest = ({ all }) => Math.max(...all)

function originals () {
  return [
    'The report is of a laptop of 2010 with two cores at 2.4 GHz and OS X 10.8; siege with 100 connections for ten ' +
    'seconds on the same machine, one run for each version. Requests per second of the newest version of each line, ' +
    'and of all of the line:',
    table(['Node', 'newest', 'requests/s', 'lowest–highest of the line', 'versions'], Object.entries(LINES).map(([line, one]) =>
      [line, one.last, whole(one.all[0]), `${whole(lowest(one))}–${whole(highest(one))}`, String(one.all.length)])),
    'A second table, from the release notes of Node 0.6:',
    table(['', 'Node 0.4.12', 'Node 0.6.0', '0.6 ÷ 0.4'], SECOND.map(([what, before, after]) => [what, String(before), String(after), two(after / before)]))
  ]
}

function report (figures) {
  const labels = labelsOf(figures).filter(label => figures.row(ALIVE, `node-${label}`))
  const [oldest] = labels
  const base = LINES[oldest]
  const rows = [
    ...Object.entries(LINES).filter(([line]) => line !== oldest).map(([line, { all }]) => base && [`Node ${line} ÷ ${oldest}`, two(all[0] / base.all[0]), '–']),
    ...labels.slice(1).map(label => [`Node ${label} ÷ ${oldest}`, '–',
      ratio(figures.ratio(ALIVE, `node-${label}`, `node-${oldest}`, { metric: 'throughput' }))])
  ].filter(Boolean)
  const [start, end] = [oldest, labels.at(-1)]
  const across = ([workload, metric]) => ratio(figures.ratio(workload, `node-${end}`, `node-${start}`, { metric }))
  const again = [['1,024 bytes', 'throughput'], ['io', 'read'], ['io', 'write'], ['startup', 'time']]
  return {
    heading: 'Beside the original report',
    body: [
      ...originals(),
      'Both go through other years: the report ends with 0.9, our binaries begin with 0.8. The common version is the ' +
      'base of both columns. Ratio by ratio, requests per second; above 1, faster than the base:',
      rows.length > 0 && table(['', 'report', 'here'], rows),
      start !== end && table(['', 'report: 0.6 ÷ 0.4', `here: ${end} ÷ ${start}`], SECOND.map(([what, before, after], i) => [what, two(after / before), across(again[i])]))
    ]
  }
}

function impossible () {
  const rates = Object.values(LINES).flatMap(({ all }) => all)
  const { all: five } = LINES['0.5']
  return {
    heading: 'Where the report cannot be true',
    body: list([
      '**It shows siege, not Node.** From 0.1 to 0.9 HTTP in Node was rewritten more than once, V8 got a new ' +
      `compiler, and ${rates.length} versions are between ${whole(Math.min(...rates))} and ` +
      `${whole(Math.max(...rates))} requests a second. Client and server shared two cores; siege, a thread for each ` +
      'of its 100 users, needs more than a server of hello world. What the slower of both can do is what was ' +
      'measured. This is why the lab counts the server’s CPU time.',
      '**Without keep-alive, which is siege’s default, ten seconds are about 77,000 connections.** OS X has 16,384 ' +
      'ports for them, and a closed connection keeps its port for 30 seconds. The command does not say that ' +
      'connections are kept, and no failed transaction is reported.',
      '**One run of ten seconds cannot tell such differences**: neighbouring releases of one line differ by ' +
      `${Math.round((Math.max(...five) / Math.min(...five) - 1) * 100)} % (0.5.6 and 0.5.10), with nothing in their ` +
      'change logs about it.',
      '**The line of 0.8 is shifted.** Its table has 20 versions and 19 figures, so a figure can belong to the ' +
      'version beside it.',
      '**Table and chart differ** for 0.5.6 (6,996 and 6,995) and 0.2.5 (7,481 and 7,480), and the chart has no ' +
      'figure for 0.7.0.',
      '**“io.js read 19.75 mB/s” is the speed of a disk**, not of Node: from the cache of the operating system the ' +
      'oldest binary here reads many times as much. Writing became slower by a fifth from 0.4 to 0.6 on Linux and ' +
      'twice as fast on Windows, in the same table.'
    ])
  }
}
