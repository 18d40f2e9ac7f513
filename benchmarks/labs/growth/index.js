'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { run } = require('../../lib/run/lab')
const { version, koneVersion } = require('../../lib/servers/versions')
const { addRatios, finish, ratio } = require('../../lib/report/report')
const { row } = require('../../lib/run/result')
const { slope } = require('./slope')
const { compact, short } = require('../../lib/report/text')
const { notes } = require('../../lib/report/view')
const { ask } = require('../../lib/run/verify')
const bar = require('../../lib/run/progress')

/*
 * How cost grows as work grows: one subject after the other, kone beside koa and fastify, each with a slope.
 */

const file = name => path.join(__dirname, 'contenders', `${name}.js`)
const contenders = [
  { name: 'kone', file: file('kone'), version: koneVersion },
  { name: 'koa', file: file('koa'), version: version('koa'), about: 'with koa-router, koa-session-minimal, koa-views' },
  { name: 'fastify', file: file('fastify'), version: version('fastify'), about: 'onRequest hooks for middleware' }
]

const hello = { status: 200, type: 'text/plain; charset=utf-8', body: 'Hello World' }
const said = text => ({ ...hello, body: text })

const named = (subject, n) => `${subject}: ${n}`

// `at`: how much work; --quick takes the least, the middle and the most of it, or of `few`. `takes`: how
// long beside the others. `request`, `expected`, `connections` are of n.
const SUBJECTS = {
  middleware: { unit: 'middleware', at: [0, 1, 5, 10, 20, 50, 100], expected: () => hello },
  routes: {
    unit: 'routes, the last one asked for',
    at: [1, 10, 100, 1000, 10_000],
    log: true,
    logY: true,
    request: n => ({ path: `/kind-${n}/4711` }),
    expected: () => said('4711')
  },
  headers: {
    unit: 'request headers',
    at: [2, 5, 10, 20, 50, 100],
    request: n => ({ headers: Object.fromEntries(Array.from({ length: n - 1 }, (_, i) => [`x-header-${i}`, `value ${i}`])) }),
    expected: () => hello
  },
  body: {
    unit: 'bytes of request body',
    takes: 2,
    at: [100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8],
    log: true,
    logY: true,
    request: n => ({ method: 'POST', size: n }),
    expected: n => said(String(n)),
    connections: n => Math.max(1, Math.min(50, Math.floor(1e7 / n)))
  },
  connections: {
    unit: 'connections',
    at: [1, 10, 100, 1000, 10_000],
    few: [1, 100, 1000],
    log: true,
    expected: () => hello,
    connections: n => n
  },
  response: {
    unit: 'bytes of response',
    at: [100, 1e3, 1e4, 1e5, 1e6, 1e7],
    log: true,
    logY: true,
    request: n => ({ path: `/?n=${n}` }),
    expected: n => ({ status: 200, type: 'application/octet-stream', body: body => body === 'x'.repeat(n) }),
    connections: n => Math.max(4, Math.min(50, Math.floor(1e7 / n)))
  },
  session: {
    unit: 'bytes in the session, in memory',
    at: [10, 100, 1e3, 1e4, 1e5],
    log: true,
    request: () => async ({ port }) => {
      const { headers } = await ask(port, { path: '/login' })
      return { headers: { cookie: headers['set-cookie'].map(line => line.split(';')[0]).join('; ') } }
    },
    expected: n => said(String(n))
  },
  template: {
    unit: 'list items in a nunjucks template',
    at: [1, 10, 100, 1000],
    log: true,
    logY: true,
    request: n => ({ path: `/?n=${n}` }),
    expected: n => ({
      status: 200,
      type: 'text/html; charset=utf-8',
      body: body => body.split('<li>').length === n + 1 && body.includes('<li>item &lt;0&gt;</li>')
    })
  }
}

run('growth', { contenders, argv: process.argv.slice(2) }, async lab => {
  lab.generators(['pooled'])
  await lab.inTime(Object.entries(SUBJECTS).map(([name, { at, few = at, takes = 1, ...how }]) => {
    const taken = lab.options.quick ? [few[0], few[Math.floor(few.length / 2)], few.at(-1)] : at
    return { name, size: takes, act: () => measure(lab, name, { ...how, at: taken }) }
  }))
  addRatios(lab.result, ['koa', 'fastify'])
  lab.result.derived.slopes = []
  finish(lab, {
    title: 'growth: how cost grows as work grows',
    sections: [...Object.keys(SUBJECTS).map(subject => section(lab.result, subject, 'cpu')), section(lab.result, 'body', 'memory')]
  })
})

// A server for each contender and each n: what was large before leaves nothing behind.
async function measure (lab, subject, { at, request = () => ({}), expected, connections = () => 50 }) {
  const { quick } = lab.options
  const cells = []
  for (const n of at) {
    const workload = named(subject, n)
    const wanted = request(n)
    const servers = await lab.start(lab.contenders.map(one => ({ ...one, args: [subject, String(n)] })), {
      workload,
      request: typeof wanted === 'function' ? wanted : whole(wanted),
      expected: expected(n)
    })
    for (const server of servers) {
      const { body, ...asked } = server.request
      const load = { ...asked, size: wanted.size, group: server.name, connections: connections(n), seconds: quick ? 0.35 : 2 }
      cells.push({ n, workload, server, load: { generator: 'pooled', ...load } })
    }
  }
  await lab.measure(cells)
  if (subject === 'body') await peaks(lab, cells)
  for (const { n, workload } of cells) {
    for (const row of lab.result.rows) if (row.workload === workload) row.at = n
  }
  await Promise.all(cells.map(({ server }) => server.stop()))
}

// The request as it is verified: with its body.
function whole ({ size, ...request }) {
  if (!size) return request
  return { ...request, headers: { 'content-type': 'application/octet-stream' }, body: 'x'.repeat(size) }
}

// The most memory that a server takes while it reads bodies. Linux forgets an earlier peak when it is told to.
async function peaks (lab, cells) {
  const { result, options: { rounds } } = lab
  if (!fs.existsSync('/proc/self/clear_refs')) return
  const { pooled } = lab.generators(['pooled'])
  const progress = bar(cells.length)
  for (const { workload, server, load, rejected } of cells) {
    progress.tick(`memory of ${server.name}, ${workload}`)
    if (rejected) continue
    const figures = []
    while (figures.length < rounds) {
      fs.writeFileSync(`/proc/${server.pid}/clear_refs`, '5')
      await pooled.run({ ...load, port: server.port, seconds: 0.2 })
      const status = fs.readFileSync(`/proc/${server.pid}/status`, 'latin1')
      figures.push(Number(/^VmHWM:\s*(\d+) kB/m.exec(status)[1]) * 1024)
    }
    result.rows.push(row({ workload, contender: server.name, metric: 'memory', unit: 'bytes' }, figures))
  }
  progress.end()
}

function section (result, subject, metric) {
  const { unit, log, logY } = SUBJECTS[subject]
  const rows = result.rows.filter(row => row.workload.startsWith(`${subject}: `) && row.metric === metric)
  if (!rows.length) return null
  const at = [...new Set(rows.map(row => row.at))].sort((a, b) => a - b)
  const series = contenders.map(({ name }) => ({
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
  return [perUnit.median.toPrecision(2), `${times.median.toFixed(2)} (${times.min.toFixed(2)}–${times.max.toFixed(2)})`, exponent?.toFixed(2) ?? '–']
}

function ratios (result, subject, most) {
  const workload = named(subject, most)
  const found = ['koa', 'fastify'].map(to => [to, ratio(result, { workload, contender: 'kone', to })]).filter(([, text]) => text !== '–')
  return found.length ? [`at ${compact(most)}: kone ÷ ${found.map(([to, text]) => `${to} ${text}`).join(', ÷ ')}`] : []
}
