'use strict'

const { descriptors, openingsOf } = require('../../lib/run/connections')
const { lab } = require('../../lib/run/lab')
const { pins } = require('../../lib/run/machine')
const { cost } = require('../../../command/measure/cost')
const { row } = require('../../lib/run/result')
const { Client, bytes } = require('../../../command/measure/client')
const { repeat } = require('../../../command/measure/rounds')
const { list } = require('../../lib/servers/contenders')
const { extra } = require('../../lib/servers/program')
const { doubt, levelsOf, sized } = require('./levels')
const view = require('./view')

const { RATE, SOCKETS, named } = view

const WARM = 200 // connections before the first look: what the first ones load is not counted
const METRICS = [['cpu', 'µs/request'], ['p50', 'ms'], ['p90', 'ms'], ['p99', 'ms']]
const LONGER = 3 // times what a visit takes with ten times the connections

const FIELDS = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version': '13' }
const MASKED = `\x81\xa8\x01\x02\x01\x02${'yz'.repeat(20)}` // RFC 6455, 5.2: a text of 40 bytes
const ECHO = `\x81\x28${'x'.repeat(40)}`

/** What connections are of: `request` is sent by each, `check` verifies a server. */
const REQUESTS = { kind: '', request: {} }
const WEBSOCKETS = { kind: SOCKETS, request: { headers: FIELDS, message: { text: MASKED, size: ECHO.length } }, check: echoes }

const hello = { status: 200, type: /^text\/plain(;charset=utf-8)?$/, body: body => /^Hello,? World!?$/.test(body.trim()) }

lab(module, {
  name: 'connections',
  contenders: () => [...list(require.resolve('./contenders')), ...list(require.resolve('./sockets')), ...extra(process.env.EXTRA)]
    .map(one => one.file ? { ...one, flags: ['--expose-gc'], env: { KEEP_ALIVE: '600000' } } : one),
  options: { all: { help: 'up to 100,000 connections, 20,000 among them, and not 5,000' } },
  view,

  async measure (lab) {
    lab.pins = lab.result.derived.pinned = pins({ half: true })
    const levels = levelsOf(lab.options)
    const limit = Math.min(descriptors(), 1e9)
    Object.assign(lab.result.derived, { levels, leftOut: [], openings: [], descriptors: limit })
    const [sockets, contenders] = [true, false].map(isSocket => lab.contenders.filter(({ file }) => /sockets\.js$/.test(file) === isSocket))
    await level(lab, WEBSOCKETS, sockets, levels[lab.options.quick ? 0 : 1], sockets.length)
    let inTime = contenders.length
    for (const connections of levels) {
      const took = await level(lab, REQUESTS, contenders, connections, inTime)
      lab.print({ isBrief: true })
      inTime = Math.floor(lab.timeLeft / (took * LONGER))
    }
  }
})

// As many contenders as there is time for. Resolves to the ms that each of them took.
async function level (lab, how, contenders, connections, inTime) {
  const { derived } = lab.result
  const able = []
  for (const contender of contenders) {
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
  const workload = named(`${how.kind}idle`, connections)
  const verified = await lab.start(able, { workload, expected: hello, reference: 'node', check: how.check })
  await lab.stop(verified)

  const crowd = lab.crowd(connections)
  const begin = performance.now()
  const cells = able.filter(({ name }) => verified.some(one => one.name === name))
    .map(contender => ({ workload, server: { name: contender.name }, contender, connections, how }))
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
async function visit (lab, crowd, { contender, connections, how }, each) {
  const seconds = secondsOf(lab, connections)
  const server = await lab.launch(contender)
  const loop = act => repeat(each, () => cost(server, act, { untilQuiet: true }))
  try {
    const load = { port: server.port, ...how.request }
    await crowd.open({ ...load, connections: WARM })
    await crowd.greet()
    await crowd.paced({ rate: 2000, seconds: 0.3 }) // the code is compiled
    const before = await server.resident()

    const accepting = await cost(server, async () => {
      await crowd.open({ ...load, connections })
      if (how.check) await crowd.greet() // the handshakes
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

function recordLevel (lab, { contender: { name: contender }, connections, how, samples, discarded, rejected }, each) {
  const { derived, rows } = lab.result
  const workloads = ['idle', 'open loop', 'closed loop'].map(table => named(how.kind + table, connections))
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

// In place of verify(): the handshake, and a message that comes back.
async function echoes ({ port }) {
  const client = await new Client({ port }, { keepsBody: true }).open()
  try {
    const ask = (parts, size) => new Promise(resolve => client.request(parts, isGood => resolve(isGood && client.body), { size }))
    if (await ask(bytes({ port, headers: FIELDS })) === false) throw new Error(`its response to a handshake is ${client.status}`)
    const reply = await ask([MASKED], ECHO.length)
    if (reply !== ECHO) throw new Error(`it sent ${JSON.stringify(reply)} for a message`)
    return { bytes: client.size, headers: {} }
  } finally {
    client.destroy()
  }
}
