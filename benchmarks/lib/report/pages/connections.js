'use strict'

const { figure, list, range, ratio, table, two, whole } = require('../markdown')
const { lines } = require('../svg')
const { short } = require('../text')

const LEVELS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(n => n * 10_000)

// Of the report: requests per second, and memory in GB, at 10,000 … 100,000 connections.
const RATE = {
  fibjs: [17705, 17893, 18045, 17326, 17237, 16800, 16513, 15840, 15209, 14664],
  nodejs: [8268, 5866, 4412, 2817, 2179, 1853, 1536, 1385, 1232, 1089],
  go: [22284, 21975, 21531, 21362, 21277, 21113, 21029, 20497, 19843, 19386],
  nginx: [19393, 19096, 18521, 18331, 18328, 17936, 17644, 16973, 16966, 16805]
}
const MEMORY = {
  fibjs: [0.14, 0.22, 0.27, 0.35, 0.41, 0.47, 0.53, 0.6, 0.67, 0.79],
  nodejs: [0.56, 0.68, 0.76, 0.84, 0.92, 1.02, 1.08, 1.14, 1.3, 1.45],
  go: [0.37, 0.68, 1.05, 1.32, 1.63, 1.89, 2.32, 2.63, 2.98, 3.36],
  nginx: [0.1, 0.1, 0.11, 0.12, 0.12, 0.12, 0.13, 0.13, 0.14, 0.14]
}
// The versions of fibjs, before and after its buffers were made smaller and were freed while a socket waits.
const FIBJS_RATE = [
  [12750, 12757, 12551, 11858, 11678, 11708, 10682, 9395, 8733, 8645],
  [15971, 15480, 15362, 15087, 15503, 15093, 14674, 14223, 13681, 13375],
  RATE.fibjs
]
const FIBJS_MEMORY = [
  [1.55, 2.95, 4.32, 5.82, 7.27, 8.79, 10.15, 11.57, 13.03, 14.5],
  [0.37, 0.68, 1.05, 1.32, 1.63, 1.89, 2.32, 2.63, 2.98, 3.36],
  MEMORY.fibjs
]
// What stands in for each: whoever of the first is in the result.
const HERE = { fibjs: ['fibjs'], nodejs: ['node-cluster', 'node'], go: ['go'], nginx: ['nginx'] }

// Above 20,000 connections node is there as a cluster alone.
const REFERENCES = ['node', 'node-cluster']

const at = (table, connections) => `${table}, ${connections.toLocaleString('en')} connections`
const levelsOf = figures => [...new Set(figures.workloads
  .map(workload => /^(?:idle|open loop|closed loop), ([\d,]+) connections$/.exec(workload)?.[1])
  .filter(Boolean)
  .map(text => Number(text.replaceAll(',', ''))))].sort((a, b) => a - b)

module.exports = {
  lab: 'connections',
  title: 'Ten thousand connections and more',
  what: 'What a connection costs that is open and silent; how soon responses come when 1,000 requests a second are ' +
    'spread over all connections (an open loop); and how many a server sends when every connection always has a ' +
    'request under way (a closed loop). The lab goes back to a report that compared fibjs, a Node cluster, Go and ' +
    'nginx at 10,000 to 100,000 connections.',
  run: 'make bench-connections ARGS=--all',
  method: 'Each round starts every server anew, because a heap that has grown does not shrink. Very many connections ' +
    'take long to open: a server is then started less often, and measured for several rounds each time. Where one ' +
    'process cannot open so many sockets, a contender runs as a cluster of as many workers as it needs, or is left ' +
    'out; each level names who was. Client and server are on one machine, so the ' +
    'figures are not those of a server with clients of its own.',

  trend: [
    { what: 'memory ÷ node', of: figures => figures.ratio(at('idle', 10_000), 'kone', 'node', { metric: 'memory' }) },
    { what: 'closed loop ÷ node', of: figures => figures.ratio(at('closed loop', 10_000), 'kone', 'node') }
  ],

  charts: figures => [
    chart(figures, {
      name: 'connections-cpu',
      table: 'closed loop',
      metric: 'cpu',
      unit: 'µs per request',
      title: 'Server CPU per request in a closed loop',
      subtitle: 'µs; lower is better. Lines are medians, bands the lowest and the highest round.'
    }),
    chart(figures, {
      name: 'connections-memory',
      table: 'idle',
      metric: 'total',
      unit: 'MB',
      title: 'Resident memory with silent connections',
      subtitle: 'MB, all processes of a server; lower is better. Bands are the lowest and the highest round.'
    })
  ],

  sections: figures => [
    ...levelsOf(figures).map(connections => level(figures, connections)),
    report(figures),
    impossible()
  ],

  original: () => [{ heading: 'The original report', body: originals() }, impossible()]
}

function chart (figures, { name, table, metric, unit, title, subtitle }) {
  const levels = levelsOf(figures)
  const here = connections => figures.rows(at(table, connections), metric)
  const names = [...new Set(levels.flatMap(here).map(({ contender }) => contender))]
  const point = (connections, name) => ({ x: connections, ...figures.row(at(table, connections), name, metric) })
  const series = names.map(name => ({
    name,
    points: levels.map(connections => point(connections, name)).filter(({ median }) => median)
  })).filter(({ points }) => points.length > 1)
  if (!series.length) return null
  return {
    name,
    above: true,
    alt: `Line chart: ${title} by number of connections, for ${series.map(({ name }) => name).join(', ')}`,
    ...lines({ title: `${title}, Node ${figures.major}`, subtitle, unit, x: { label: 'connections', log: true }, y: { log: true }, series })
  }
}

function level (figures, connections) {
  const names = [...new Set(['idle', 'closed loop', 'open loop'].flatMap(name =>
    figures.rows(at(name, connections), name === 'idle' ? 'memory' : 'cpu').map(({ contender }) => contender)))]
  const of = (table, metric) => name => figures.row(at(table, connections), name, metric)
  const [memory, total, accept] = ['memory', 'total', 'accept'].map(metric => of('idle', metric))
  const [p50, p99] = ['p50', 'p99'].map(metric => of('open loop', metric))
  const [cpu, rate] = ['cpu', 'throughput'].map(metric => of('closed loop', metric))
  const cpuPaced = of('open loop', 'cpu')
  const kilobytes = row => row ? short(row.median / 1024) : '–'
  const reference = REFERENCES.find(cpu) ?? REFERENCES[0]
  const measured = table(
    ['', 'KiB per connection', 'MB in all', 'CPU µs per accept', 'open loop p50, p99 ms', 'open loop CPU µs', 'closed loop CPU µs', 'lowest–highest', 'requests/s', `CPU ÷ ${reference}`],
    names.map(name => [
      figures.versioned(name),
      kilobytes(memory(name)),
      figure(total(name)),
      figure(accept(name)),
      p50(name) ? `${figure(p50(name))}, ${figure(p99(name))}` : '–',
      figure(cpuPaced(name)),
      figure(cpu(name)),
      range(cpu(name)),
      whole(rate(name)?.median),
      name === reference ? '1' : ratio(figures.ratio(at('closed loop', connections), name, reference))
    ]))
  return { heading: `Measured: ${whole(connections)} connections`, body: [...opened(figures, connections), measured, leftOut(figures, connections)] }
}

// How often the connections of a level were opened, where it was not once in every round.
const opened = ({ result: { derived: { openings = [] } = {} } }, connections) => openings
  .filter(one => one.connections === connections)
  .map(({ openings, each }) => `All connections were opened ${openings} times, with ${each} rounds of each loop each ` +
    `time: memory and accepting have ${openings} figures here, each loop ${openings * each}.`)

// Who was not measured at a level, by reason.
function leftOut ({ result: { derived: { leftOut = [] } = {} } }, connections) {
  const here = leftOut.filter(one => one.connections === connections)
  const reasons = [...new Set(here.map(({ reason }) => reason))]
  return reasons.length > 0 && list(reasons.map(reason =>
    `Left out: ${here.filter(one => one.reason === reason).map(({ contender }) => contender).join(', ')}; ${reason}.`))
}

function originals () {
  const grid = columns => table(['connections', ...Object.keys(columns)], LEVELS.map((n, i) =>
    [whole(n), ...Object.values(columns).map(list => typeof list[i] === 'number' && list[i] > 100 ? whole(list[i]) : String(list[i]))]))
  const versions = lists => Object.fromEntries(lists.map((list, i) => [`fibjs v${i}`, list]))
  return [
    'The report is of a server with eight cores at 2.1 GHz and 24 GB, and ten clients of one core each, which ran ' +
    'wrk for 30 minutes at every step. fibjs v0.1.7, Node 0.10.25 in a cluster, Go 1.5.1 and a module of nginx ' +
    '1.9.2. Requests per second:',
    grid(RATE),
    'Memory in GB:',
    grid(MEMORY),
    'Its CPU column says 500 to 600 % for fibjs, 200 to 400 % for Go, 8 × 90 to 98 % for Node, 8 × 30 to 35 % for ' +
    'nginx. A second pair of tables is of three versions of fibjs, requests per second and GB:',
    grid(versions(FIBJS_RATE)),
    grid(versions(FIBJS_MEMORY))
  ]
}

function report (figures) {
  const levels = levelsOf(figures).filter(n => n >= 10_000)
  const [least, most] = [levels[0], levels.at(-1)]
  const names = Object.keys(RATE)
  const standIn = name => HERE[name].find(one => figures.row(at('closed loop', least), one))
  const index = n => LEVELS.indexOf(n)
  const rates = least === undefined
    ? []
    : names.filter(name => name !== 'nginx').map(name => {
      const here = standIn(name)
      const row = n => here && figures.ratio(at('closed loop', n), here, 'nginx', { metric: 'throughput' })
      return [`${name} ÷ nginx, requests/s`, ...[least, most].flatMap(n => [two(RATE[name][index(n)] / RATE.nginx[index(n)]), ratio(row(n))])]
    })
  const grew = least === most
    ? []
    : [...names, 'kone'].map(name => {
        const here = name === 'kone' ? ['kone-cluster', 'kone'].find(one => figures.row(at('closed loop', most), one)) : standIn(name)
        const row = here && figures.ratio(at('closed loop', most), here, here, { toWorkload: at('closed loop', least), metric: 'throughput' })
        return [name, RATE[name] ? two(RATE[name][index(most)] / RATE[name][index(least)]) : '–', here ?? '–', ratio(row)]
      })
  const slope = name => (MEMORY[name].at(-1) - MEMORY[name][0]) * 1e9 / 90_000 / 1024
  const memory = least === undefined
    ? []
    : [...names, 'kone'].map(name => {
        const here = name === 'kone' ? 'kone' : standIn(name)
        const row = here && figures.row(at('idle', least), here, 'memory')
        return [name, MEMORY[name] ? slope(name).toFixed(1) : '–', here ?? '–', row ? short(row.median / 1024) : '–']
      })
  return {
    heading: 'Beside the original report',
    body: [
      ...originals(),
      'Ratio by ratio. Beside nginx; above 1, more requests per second than nginx:',
      rates.length > 0 && table(['', ...[...new Set([least, most])].flatMap(n => [`report, ${whole(n)}`, `here, ${whole(n)}`])],
        rates.map(row => least === most ? row.slice(0, 3) : row)),
      grew.length > 0 && `What is left of the requests per second at ${whole(most)} connections of those at ${whole(least)}:`,
      grew.length > 0 && table(['', 'report', 'here by', 'here'], grew, { text: [2] }),
      'Memory of one more connection, KiB; the report’s is the slope between 10,000 and 100,000:',
      memory.length > 0 && table(['', 'report', 'here by', 'here'], memory, { text: [2] })
    ]
  }
}

function impossible () {
  const mean = name => LEVELS.map((n, i) => n / RATE[name][i])
  const last = list => list.at(-1)
  return {
    heading: 'Where the report cannot be true',
    body: list([
      '**Go’s memory is a copy.** Its ten values, 0.37 to 3.36 GB, are to the last digit those of fibjs v1 in the ' +
      'other table. At least one of both columns was not measured.',
      '**The sizes in its conclusion are wrong by a factor of ten.** “320 KB for each request” in Go: its own table ' +
      `grows by ${(3.36 - 0.37).toFixed(2)} GB over 90,000 connections, which is ` +
      `${Math.round((3.36 - 0.37) * 1e6 / 90_000)} KB each. “About 72 KB” for both fibjs and Node: ` +
      `${two((0.79 - 0.14) * 1e6 / 90_000)} and ${two((1.45 - 0.56) * 1e6 / 90_000)} KB, and not equal.`,
      '**Most responses were later than wrk waits.** In a closed loop the mean latency is connections ÷ rate: at ' +
      `100,000 connections ${short(last(mean('nginx')))} s with nginx and ${short(last(mean('nodejs')))} s with ` +
      'Node. wrk counts what takes more than two seconds as a timeout. The report names no error: its script reads ' +
      'the lines `Requests/sec` and `Latency` and no other. “100,000 concurrent connections” were open, but not ' +
      'served.',
      '**The limit was not the server.** Nginx and Go had half of their CPU and more left and still sent no more ' +
      `than ${whole(RATE.nginx[0])} and ${whole(RATE.go[0])} responses a second, which nginx sends from one core ` +
      'today ([static files](./static.md)). What was the limit, the ten clients with one core each or the network, ' +
      'is not known; a ranking of three servers that wait for it says nothing about them.',
      `**Node took ${two(8 * 0.94 / last(RATE.nodejs) * 1000)} ms of CPU for a request** at 100,000 connections ` +
      `(eight cores at 94 %, ${whole(last(RATE.nodejs))} requests/s), and ${two(8 * 0.94 / RATE.nodejs[0] * 1000)} ` +
      'ms at 10,000. Something grew with the number of connections that had nothing to do with a request. Whether ' +
      'today’s Node does so is in the tables above.',
      '**The script is not the text.** The text has 30 minutes for each step, the script 10. The tables of fibjs are ' +
      'headed v0, v2, v3 in one place and v0, v1, v2 in the other.'
    ])
  }
}
