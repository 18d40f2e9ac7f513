'use strict'

const os = require('node:os')
const path = require('node:path')
const { run } = require('../../lib/run/lab')
const bar = require('../../lib/run/progress')
const Crowd = require('../../lib/load/crowd')
const { pins } = require('../../lib/run/machine')
const { extra } = require('../../lib/servers/program')
const { row } = require('../../lib/run/result')
const { aims, finish } = require('../../lib/report/report')
const { descriptors, loaded, processesFor, spent } = require('../../lib/load/crowd-figures')
const { disbelief, middle, pairedRatio, round, shuffle } = require('../../lib/run/stats')
const { short } = require('../../lib/report/text')
const { version, koneVersion } = require('../../lib/servers/versions')

/*
 * Thousands of connections: what one costs that is silent, how soon answers come when 1,000 requests a second come
 * over all of them, and how many a server answers when every connection always asks. Each round starts a server
 * anew, for a heap that has grown does not shrink back.
 */

const folder = path.join(__dirname, 'contenders')
const file = name => path.join(folder, `${name}.js`)
const program = name => {
  const one = require(file(name))
  return { name, program: one, version: () => one.version() }
}
const server = (name, version, cluster) => ({
  name: cluster ? `${name}-cluster` : name,
  file: file(cluster ? 'cluster' : name),
  cluster: cluster && file(name),
  version,
  flags: ['--expose-gc'],
  env: { KEEP_ALIVE: '600000' }
})

// In a hurry the first of them go first.
const contenders = [
  server('kone', koneVersion),
  server('node', node => node.slice(1)),
  ...extra(process.env.EXTRA),
  program('go'),
  program('nginx'),
  server('koa', version('koa')),
  server('kone', koneVersion, true),
  server('node', node => node.slice(1), true),
  program('fibjs')
]

const WARM = 200 // connections before the first look: what the first ones load is not counted
const RATE = 1000 // requests per second of the open loop, over all connections
const TRIES = 3 // a visit that cannot be believed is made again
const LONGER = 3 // times what a visit takes with ten times the connections
const own = { all: { help: 'also 100,000 connections' } }

run('connections', { contenders, argv: process.argv.slice(2), own }, async lab => {
  lab.pins = lab.result.derived.pinned = pins({ half: true })
  const levels = lab.options.quick ? [1000, 10_000] : [1000, 5000, 10_000, 50_000]
  if (lab.options.all) levels.push(100_000)

  const { result } = lab
  Object.assign(result.derived, { skipped: [], reconnects: [], descriptors: Math.min(descriptors(), 1e9) })
  let inTime = lab.contenders.length
  for (const connections of levels) {
    const each = await level(lab, connections, inTime)
    inTime = Math.floor(lab.timeLeft / (each * LONGER))
  }

  finish(lab, {
    title: 'connections: thousands of them, silent and asking',
    sections: [
      reached(lab, levels),
      ...levels.flatMap(connections => [idle, paced, closed].map(show => show(result, connections))),
      over(result, levels, 'closed loop', 'throughput', 'requests per second in a closed loop'),
      over(result, levels, 'idle', 'total', 'resident memory of all processes, MB')
    ]
  })
})

// As many contenders as there is time for. Resolves to the ms that each of them took.
async function level (lab, connections, inTime) {
  const { options: { rounds }, result: { derived } } = lab
  const able = []
  for (const contender of lab.contenders) {
    const ready = sized(contender, connections, derived.descriptors)
    const reason = !ready ? 'one process may not hold so many' : able.length >= inTime ? 'no time left' : null
    if (reason) derived.skipped.push({ connections, contender: contender.name, reason })
    else able.push(ready)
  }
  if (!able.length) {
    console.error(`no time left for ${connections} connections`)
    return NaN
  }
  const servers = await lab.start(able, {
    workload: named('idle', connections),
    expected: { status: 200, type: /^text\/plain(;charset=utf-8)?$/, body: body => /^Hello,? World!?$/.test(body.trim()) },
    reference: 'node'
  })
  await Promise.all(servers.map(one => one.stop()))

  const measured = able.filter(({ name }) => servers.some(one => one.name === name))
  const visits = measured.map(contender => ({ contender, connections, samples: [], discarded: [], rejected: null }))
  const crowd = new Crowd({ connections, pin: lab.pins?.load })
  const forget = lab.atEnd(() => crowd.stop())
  const begin = performance.now()
  const progress = bar(rounds * visits.length)
  for (let i = 1; i <= rounds; i++) {
    for (const visit of shuffle([...visits])) {
      progress.tick(`round ${i} of ${rounds}: ${visit.contender.name}, ${connections} connections`)
      if (!visit.rejected) await tried(lab, crowd, visit, i)
    }
  }
  progress.end()
  crowd.stop()
  forget()
  for (const visit of visits) keep(lab, visit)
  return (performance.now() - begin) / visits.length
}

// A contender with as many processes as such a level needs; null where it cannot have them.
function sized (contender, connections, descriptors) {
  const needed = processesFor(connections, descriptors)
  const { name, cluster } = contender
  const workers = Math.max(needed, Math.min(8, Math.max(2, os.availableParallelism() / 2)))
  if (cluster) return { ...contender, args: [String(workers), cluster] }
  if (name === 'nginx') return { ...contender, given: { workers: needed } }
  return needed === 1 ? contender : null
}

async function tried (lab, crowd, visit, i) {
  for (let tries = 1; tries <= TRIES; tries++) {
    let reason
    try {
      const sample = await once(lab, crowd, visit)
      const { connections } = visit
      const { paced, closed } = sample
      reason = disbelief({ connections, ...paced }) ?? disbelief({ connections, ...closed })
      if (!(sample.memory > 0 && sample.accept > 0)) reason ??= 'its memory did not grow'
      if (!reason) return visit.samples.push(sample)
    } catch (err) {
      reason = err.message
      await crowd.reset()
    }
    visit.discarded.push({ round: i, reason })
    if (tries === TRIES) visit.rejected = reason
  }
}

async function once (lab, crowd, { contender, connections }) {
  const seconds = lab.options.quick ? 1 : connections > 10_000 ? 5 : 3
  const one = await lab.launch(contender)
  try {
    const { port } = one
    await crowd.open({ port, connections: WARM })
    await crowd.greet()
    await crowd.paced({ rate: 2000, seconds: 0.3 }) // the code is compiled
    const before = await one.resident()

    const accepting = await spent(one, () => crowd.open({ port, connections }))
    const greeted = await crowd.greet()
    const total = await one.resident()
    const paced = await loaded(one, () => crowd.paced({ rate: RATE, seconds }))
    const closed = await loaded(one, () => crowd.closed({ seconds }))
    return {
      memory: (total - before) / (connections - WARM),
      total: total / 1e6,
      accept: accepting.run / 1000 / (connections - WARM),
      paced: { ...paced, errors: paced.errors + greeted.errors },
      closed,
      reconnects: greeted.reconnects + paced.reconnects + closed.reconnects
    }
  } finally {
    await crowd.reset()
    await one.stop()
  }
}

function named (table, connections) {
  return `${table}, ${connections.toLocaleString('en')} connections`
}

function keep (lab, { contender: { name: contender }, connections, samples, discarded, rejected }) {
  const { result, result: { derived, rows } } = lab
  const tables = ['idle', 'open loop', 'closed loop'].map(table => named(table, connections))
  const [silent, open, loop] = tables
  for (const one of discarded) derived.discarded.push({ workload: open, contender, ...one })
  if (rejected) {
    for (const workload of tables) lab.reject(workload, contender, rejected)
    return
  }
  const of = name => samples.map(sample => sample[name])
  const idle = (metric, unit, figures) => rows.push(row({ workload: silent, contender, metric, unit }, figures))
  idle('memory', 'bytes/connection', of('memory'))
  idle('total', 'MB', of('total'))
  idle('accept', 'µs/connection', of('accept'))

  const paced = of('paced')
  const { requestsPerSecond, latencyMeanMs } = middle(paced)
  const conditions = {
    generator: 'crowd, open loop',
    requestsPerSecond: round(requestsPerSecond),
    connections,
    latencyMeanMs: round(latencyMeanMs),
    pipeline: 1,
    errors: 0
  }
  for (const [metric, unit] of [['cpu', 'µs/request'], ['p50', 'ms'], ['p90', 'ms'], ['p99', 'ms']]) {
    rows.push(row({ workload: open, contender, metric, unit }, paced.map(sample => sample[metric]), conditions))
  }
  lab.keep([{
    workload: loop,
    server: { name: contender },
    load: { generator: 'crowd', connections },
    samples: of('closed'),
    discarded: []
  }])
  result.derived.reconnects.push({ connections, contender, rounds: of('reconnects') })
}

// The three tables of a level.

const rowsOf = (result, workload, metric) => result.rows
  .filter(one => one.workload === workload && one.metric === metric)
  .sort((a, b) => a.median - b.median)

const found = (result, workload, contender, metric) => result.rows.find(one =>
  one.workload === workload && one.contender === contender && one.metric === metric)

const spread = ({ min, max }, show = short) => `${show(min)}–${show(max)}`

function idle (result, connections) {
  const workload = named('idle', connections)
  const rows = rowsOf(result, workload, 'memory')
  if (!rows.length) return null
  const kB = bytes => (bytes / 1024).toFixed(1)
  return {
    heading: `idle: ${connections.toLocaleString('en')} silent connections`,
    table: [
      ['', 'KB per connection', 'spread', 'MB in all', 'CPU µs per accept', 'spread'],
      ...rows.map(memory => {
        const { contender } = memory
        const accept = found(result, workload, contender, 'accept')
        const total = found(result, workload, contender, 'total')
        return [contender, kB(memory.median), spread(memory, kB), short(total.median), short(accept.median), spread(accept)]
      })
    ],
    chart: { rows, caption: 'resident memory per connection, bytes: shorter is better' },
    notes: [...left(result, connections), ...rejections(result, workload)]
  }
}

function paced (result, connections) {
  const workload = named('open loop', connections)
  const rows = rowsOf(result, workload, 'cpu')
  if (!rows.length) return null
  return {
    heading: `open loop: ${RATE.toLocaleString('en')} requests a second over ${connections.toLocaleString('en')} connections, ` +
      'timed from when each was due',
    table: [
      ['', 'p50 ms', 'p90 ms', 'p99 ms', 'spread', 'CPU µs/request', 'spread'],
      ...rows.map(row => {
        const at = name => found(result, workload, row.contender, name)
        const [p50, p90, p99] = ['p50', 'p90', 'p99'].map(at)
        return [row.contender, ...[p50, p90, p99].map(one => short(one.median)), spread(p99), short(row.median), spread(row)]
      })
    ],
    notes: rejections(result, workload)
  }
}

function closed (result, connections) {
  const workload = named('closed loop', connections)
  const rows = rowsOf(result, workload, 'cpu')
  if (!rows.length) return null
  return {
    heading: `closed loop: ${connections.toLocaleString('en')} connections that always ask`,
    table: [
      ['', 'requests/s', 'spread', 'CPU µs/request', 'spread', '÷ node', 'mean ms'],
      ...rows.map(row => {
        const rate = found(result, workload, row.contender, 'throughput')
        const over = pairedRatio(row.rounds, found(result, workload, 'node', 'cpu')?.rounds ?? [])
        return [
          row.contender,
          Math.round(rate.median).toLocaleString('en'),
          spread(rate, n => Math.round(n).toLocaleString('en')),
          short(row.median),
          spread(row),
          over ? over.median.toFixed(2) : '–',
          short(row.latencyMeanMs)
        ]
      })
    ],
    chart: { rows, caption: 'server CPU per request, µs: shorter is better' },
    notes: [...remarks(result, workload), ...rejections(result, workload)]
  }
}

const rejections = ({ rejected }, workload) => rejected
  .filter(one => one.workload === workload)
  .map(({ contender, reason }) => `${contender} was rejected: ${reason}`)

const remarks = ({ derived }, workload) => derived.remarks
  .filter(one => one.workload === workload)
  .map(({ contender, remark }) => `${contender}: ${remark}`)

function left ({ derived }, connections) {
  return derived.skipped
    .filter(one => one.connections === connections)
    .map(({ contender, reason }) => `${contender} is not here: ${reason}`)
}

// As the report draws it: a line for each contender over the number of connections.
function over (result, levels, table, metric, caption) {
  const names = [...new Set(result.rows.map(({ contender }) => contender))]
  const series = names.map(name => ({
    name,
    points: levels
      .map(connections => ({ x: connections, row: found(result, named(table, connections), name, metric) }))
      .filter(({ row }) => row)
  }))
  if (!series.some(({ points }) => points.length > 1)) return null
  return { heading: caption, chart: { caption, x: { label: 'connections', log: true }, series } }
}

function reached ({ result }, levels) {
  const over = (table, connections, metric) => {
    const rounds = name => found(result, named(table, connections), name, metric)?.rounds ?? []
    return pairedRatio(rounds('kone'), rounds('node'))
  }
  const measured = levels.filter(connections => found(result, named('idle', connections), 'kone', 'memory'))
  const targets = measured.filter(connections => connections <= 10_000).flatMap(connections => {
    const at = `at ${connections.toLocaleString('en')}`
    return [
      { what: `memory of an idle connection ÷ node:http, ${at}`, spread: over('idle', connections, 'memory') },
      { what: `CPU per accept ÷ node:http, ${at}`, spread: over('idle', connections, 'accept') },
      { what: `CPU per request in the open loop ÷ node:http, ${at}`, spread: over('open loop', connections, 'cpu') },
      { what: `CPU per request in the closed loop ÷ node:http, ${at}`, spread: over('closed loop', connections, 'cpu') }
    ]
  })
  return aims(result, { heading: 'kone beside node:http, both in one process', targets })
}
