'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { run } = require('../../lib/run/lab')
const { OptionError } = require('../../lib/run/options')
const { binary } = require('../../lib/servers/binaries')
const { ALL, chosen, label, runsOn } = require('./nodes')
const { koneVersion, version } = require('../../lib/servers/versions')
const { root } = require('../../lib/servers/kone')
const { row } = require('../../lib/run/result')
const { cpu, finish } = require('../../lib/report/report')
const { notes } = require('../../lib/report/view')
const { shuffle } = require('../../lib/run/stats')
const { short } = require('../../lib/report/text')
const bar = require('../../lib/run/progress')

/*
 * Hello world on the versions of Node: node:http since 0.8, Koa and kone from the first version on that they say
 * they run on; and what the report of Node 0.6 compared besides: an answer of 1,024 bytes, files, the start.
 */

const HELLO = path.join(__dirname, 'era/hello.js')
const IO = path.join(__dirname, 'era/io.js')
const EMPTY = path.join(__dirname, 'era/empty.js')

const engines = folder => JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).engines.node

const SIDES = {
  node: () => true,
  koa: wanted => runsOn(engines(path.dirname(require.resolve('koa/package.json'))), wanted),
  kone: wanted => runsOn(engines(root), wanted)
}
const VERSION = { koa: version('koa'), kone: koneVersion }

const contenders = Object.keys(SIDES).flatMap(side =>
  ALL.filter(SIDES[side]).map(wanted => ({ name: `${side}-${label(wanted)}`, side, wanted, file: HELLO })))

const question = { status: 200, type: 'text/plain' }
const WORKLOADS = {
  'keep-alive': { args: [], expected: { ...question, body: 'Hello World\n' } },
  close: {
    args: [],
    request: { headers: { connection: 'close' } },
    expected: { ...question, body: 'Hello World\n', headers: { connection: 'close' } }
  },
  '1,024 bytes': { args: ['1024'], expected: { ...question, body: 'C'.repeat(1024) }, sides: ['node'] }
}

const own = { all: { help: 'sixteen versions of Node instead of ten, or of four with --quick' } }

run('versions', { contenders, own, argv: process.argv.slice(2) }, async lab => {
  if (lab.options.node !== process.execPath) throw new OptionError('versions: --node is not for this lab, it runs many')

  const nodes = await binaries(lab)
  const here = lab.contenders.filter(({ wanted }) => nodes.has(wanted)).map(one => {
    const { file: node, version } = nodes.get(one.wanted)
    return { ...one, node, version: VERSION[one.side] ?? (() => version) }
  })

  await lab.inTime([
    ...Object.keys(WORKLOADS).map(name => ({ name, act: () => measure(lab, here, name) })),
    { name: 'files and starts', act: () => filesAndStarts(lab, here), size: 0.5 }
  ])

  const labels = [...nodes.keys()].map(label)
  finish(lab, {
    title: 'versions: hello world on every Node',
    sections: [
      ...['keep-alive', 'close'].flatMap(workload => sections(lab.result, workload, labels)),
      second(lab.result, labels)
    ]
  })
})

async function binaries (lab) {
  const { quick, all, only } = lab.options
  const wanted = (only ? ALL : chosen({ quick, all })).filter(one => lab.contenders.some(({ wanted }) => wanted === one))
  const progress = bar(wanted.length)
  const found = new Map()
  for (const one of wanted) {
    progress.tick(`Node ${one}`)
    try {
      found.set(one, await binary(one))
    } catch (err) {
      for (const { name } of lab.contenders.filter(({ wanted }) => wanted === one)) lab.miss(name, err.message)
    }
  }
  progress.end()
  return found
}

async function measure (lab, here, workload) {
  const { args, request, expected, sides } = WORKLOADS[workload]
  const generators = lab.generators(['wrk', 'autocannon', 'reconnect'])
  const taking = here.filter(({ side }) => !sides || sides.includes(side)).map(one => ({ ...one, args: [one.side, ...args] }))
  const servers = await lab.start(taking, { workload, request, expected, reference: 'node-20' })
  const load = { ...request, generator: generatorOf(workload, generators), connections: 100, seconds: lab.options.quick ? 1 : 2 }
  await lab.measure(servers.map(server => ({ workload, server, load })))
  await Promise.all(servers.map(server => server.stop()))
}

function generatorOf (workload, generators) {
  if (generators.wrk) return 'wrk'
  return workload === 'close' ? 'reconnect' : 'autocannon'
}

// Nothing else of the lab runs meanwhile.
async function filesAndStarts (lab, here) {
  const { rounds, quick } = lab.options
  const verified = new Set(lab.result.contenders.map(({ name }) => name))
  const contenders = here.filter(({ name, side }) => side === 'node' && verified.has(name))
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-io-'))
  const forget = lab.atEnd(() => fs.rmSync(folder, { recursive: true, force: true }))
  const figures = new Map(contenders.map(({ name }) => [name, { read: [], write: [], startup: [] }]))
  const progress = bar(rounds * contenders.length)

  for (let round = 1; round <= rounds; round++) {
    for (const { name, node } of shuffle([...contenders])) {
      progress.tick(`round ${round} of ${rounds}: files and starts, ${name}`)
      if (!figures.has(name)) continue
      try {
        const { read, write } = JSON.parse(finished(node, [IO, path.join(folder, 'io'), quick ? '40' : '200']))
        const { read: reads, write: writes, startup } = figures.get(name)
        reads.push(read)
        writes.push(write)
        startup.push(start(node, quick ? 2 : 5))
      } catch (err) {
        figures.delete(name)
        lab.reject('io', name, err.message)
      }
    }
  }
  progress.end()
  fs.rmSync(folder, { recursive: true })
  forget()

  for (const [contender, { read, write, startup }] of figures) {
    lab.result.rows.push(
      row({ workload: 'io', contender, metric: 'read', unit: 'MB/s' }, read),
      row({ workload: 'io', contender, metric: 'write', unit: 'MB/s' }, write),
      row({ workload: 'startup', contender, metric: 'time', unit: 'ms' }, startup)
    )
  }
}

// ms that a start and an end take
function start (node, times) {
  const begin = performance.now()
  for (let i = 0; i < times; i++) finished(node, [EMPTY])
  return (performance.now() - begin) / times
}

function finished (node, args) {
  const env = { ...process.env, NODE_OPTIONS: '' }
  const { status, error, stdout, stderr } = spawnSync(node, args, { encoding: 'utf8', env, timeout: 60_000 })
  if (error) throw error
  if (status !== 0) throw new Error(stderr.trim().split('\n')[0] || `it ended with code ${status}`)
  return stdout
}

const find = (result, workload, contender, metric) =>
  result.rows.find(row => row.workload === workload && row.contender === contender && row.metric === metric)

const rate = row => row ? Math.round(row.median).toLocaleString('en') : '–'

function sections (result, workload, labels) {
  const throughput = (side, label) => find(result, workload, `${side}-${label}`, 'throughput')
  const spent = (side, label) => cpu(result, workload, `${side}-${label}`)
  const sides = Object.keys(SIDES).filter(side => labels.some(label => spent(side, label)))
  if (!sides.length) return []
  const { generator, connections } = result.rows.find(row => row.workload === workload)

  return [
    {
      heading: `${workload}: requests per second, ${generator}, ${connections} connections`,
      table: [
        ['Node', ...sides.map(side => `${side} req/s`), ...sides.map(side => `${side} CPU µs`)],
        ...labels.map(label => [
          label,
          ...sides.map(side => rate(throughput(side, label))),
          ...sides.map(side => spent(side, label) ? short(spent(side, label).median) : '–')
        ])
      ],
      chart: chart(labels, sides, throughput, 'requests per second: higher is better')
    },
    {
      heading: `${workload}: server CPU per request`,
      chart: chart(labels, sides, spent, 'server CPU per request, µs: lower is better'),
      notes: notes(result, workload)
    }
  ]
}

function chart (names, sides, find, caption) {
  const series = sides.map(side => {
    const points = names.map((name, x) => ({ x, row: find(side, name) }))
    return { name: side, points: points.filter(({ row }) => row) }
  })
  return { caption, x: { label: 'versions of Node', names }, series }
}

// The table with which the release notes of Node 0.6 compared it with 0.4.
function second (result, labels) {
  const of = (label, workload, metric) => find(result, workload, `node-${label}`, metric)
  const lines = labels.map(label => [
    label,
    rate(of(label, '1,024 bytes', 'throughput')),
    ...[['io', 'read'], ['io', 'write'], ['startup', 'time']].map(([workload, metric]) => {
      const found = of(label, workload, metric)
      return found ? short(found.median) : '–'
    })
  ])
  return {
    heading: 'an answer of 1,024 bytes, files, the start',
    table: [['Node', '1,024 bytes, req/s', 'io read, MB/s', 'io write, MB/s', 'startup, ms'], ...lines],
    notes: ['io: one file through streams in blocks of 64 KB, from the cache of the system', ...notes(result, '1,024 bytes')]
  }
}
