'use strict'

const { descriptors, openingsOf } = require('../../lib/run/connections')
const { lab } = require('../../lib/run/lab')
const { pins } = require('../../lib/run/machine')
const { cost } = require('../../lib/run/measure')
const { row } = require('../../lib/run/result')
const { repeat } = require('../../../command/measure/rounds')
const { list } = require('../../lib/servers/contenders')
const { extra } = require('../../lib/servers/program')
const { doubt, levelsOf, sized } = require('./levels')
const view = require('./view')

const { RATE, named } = view

const WARM = 200 // connections before the first look: what the first ones load is not counted
const METRICS = [['cpu', 'µs/request'], ['p50', 'ms'], ['p90', 'ms'], ['p99', 'ms']]
const LONGER = 3 // times what a visit takes with ten times the connections

const hello = { status: 200, type: /^text\/plain(;charset=utf-8)?$/, body: body => /^Hello,? World!?$/.test(body.trim()) }

lab(module, {
  name: 'connections',
  contenders: () => [...list(require.resolve('./contenders')), ...extra(process.env.EXTRA)]
    .map(one => one.file ? { ...one, flags: ['--expose-gc'], env: { KEEP_ALIVE: '600000' } } : one),
  options: { all: { help: 'up to 100,000 connections, 20,000 among them, and not 5,000' } },
  view,

  async measure (lab) {
    lab.pins = lab.result.derived.pinned = pins({ half: true })
    const levels = levelsOf(lab.options)
    const limit = Math.min(descriptors(), 1e9)
    Object.assign(lab.result.derived, { levels, leftOut: [], openings: [], descriptors: limit })
    let inTime = lab.contenders.length
    for (const connections of levels) {
      const took = await level(lab, connections, inTime)
      lab.print({ isBrief: true })
      inTime = Math.floor(lab.timeLeft / (took * LONGER))
    }
  }
})

// As many contenders as there is time for. Resolves to the ms that each of them took.
async function level (lab, connections, inTime) {
  const { derived } = lab.result
  const able = []
  for (const contender of lab.contenders) {
    const ready = sized(contender, connections, derived.descriptors)
    const leftOut = reason => derived.leftOut.push({ connections, contender: contender.name, reason })
    if (typeof ready === 'string') leftOut(ready)
    else if (able.length < inTime) able.push(ready)
    else {
      leftOut('no time left')
      lab.skip(`${contender.name}, ${connections.toLocaleString('en')} connections`)
    }
  }
  if (!able.length) return NaN
  const workload = named('idle', connections)
  const verified = await lab.start(able, { workload, expected: hello, reference: 'node' })
  await lab.stop(verified)

  const crowd = lab.crowd(connections)
  const begin = performance.now()
  const cells = able.filter(({ name }) => verified.some(one => one.name === name))
    .map(contender => ({ workload, server: { name: contender.name }, contender, connections }))
  const { openings, each } = openingsOf(connections, lab.options.rounds)
  if (each > 1) derived.openings.push({ connections, openings, each })
  await lab.rounds(cells, {
    count: openings,
    visit: cell => visit(lab, crowd, cell, each),
    doubt,
    record: cells => cells.forEach(cell => recordLevel(lab, cell, each))
  })
  crowd.stop()
  return (performance.now() - begin) / cells.length
}

// One opening of all connections, and as many rounds of each loop.
async function visit (lab, crowd, { contender, connections }, each) {
  const seconds = secondsOf(lab, connections)
  const server = await lab.launch(contender)
  const loop = act => repeat(each, () => cost(server, act, { untilQuiet: true }))
  try {
    const { port } = server
    await crowd.open({ port, connections: WARM })
    await crowd.greet()
    await crowd.paced({ rate: 2000, seconds: 0.3 }) // the code is compiled
    const before = await server.resident()

    const accepting = await cost(server, async () => {
      await crowd.open({ port, connections })
      return { requests: connections - WARM, seconds: 1 }
    }, { untilQuiet: true })
    const greeted = await crowd.greet()
    const total = await server.resident()
    const paced = await loop(() => crowd.paced({ rate: RATE, seconds }))
    const closed = await loop(() => crowd.closed({ seconds }))
    paced[0].errors += greeted.errors // also an error of a first response discards the opening
    return {
      memory: (total - before) / (connections - WARM),
      total: total / 1e6,
      accept: accepting.cpu,
      paced,
      closed,
      reconnects: [greeted, ...paced, ...closed].reduce((sum, { reconnects }) => sum + reconnects, 0)
    }
  } finally {
    await crowd.reset()
    await server.stop()
  }
}

const secondsOf = ({ options }, connections) => options.quick ? 1 : connections > 20_000 ? 3 : 2

function recordLevel (lab, { contender: { name: contender }, connections, samples, discarded, rejected }, each) {
  const { derived, rows } = lab.result
  const workloads = ['idle', 'open loop', 'closed loop'].map(table => named(table, connections))
  const [idle, open, closed] = workloads
  if (rejected) {
    derived.discarded.push(...discarded.map(one => ({ workload: open, contender, ...one })))
    for (const workload of workloads) lab.reject(workload, contender, rejected)
    return
  }
  const of = name => samples.flatMap(sample => sample[name])
  const opened = each > 1 ? { openings: samples.length } : {} // one figure for each
  const recordIdle = (metric, unit, figures) => rows.push(row({ workload: idle, contender, metric, unit }, figures, opened))
  recordIdle('memory', 'bytes/connection', of('memory'))
  recordIdle('total', 'MB', of('total'))
  recordIdle('accept', 'µs/connection', of('accept'))

  const load = { generator: 'crowd', connections, seconds: secondsOf(lab, connections) }
  lab.record([
    { workload: open, load: { ...load, generator: 'crowd, open loop', rate: RATE }, samples: of('paced'), quantities: METRICS, discarded },
    { workload: closed, load, samples: of('closed'), discarded: [] }
  ].map(cell => ({ server: { name: contender }, ...cell })))
}
