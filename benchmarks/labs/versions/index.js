'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { lab } = require('../../lib/run/lab')
const { OptionError } = require('../../lib/run/options')
const { row } = require('../../lib/run/result')
const { binary, kept } = require('../../lib/servers/binaries')
const { list } = require('../../lib/servers/contenders')
const { root } = require('../../lib/servers/kone')
const { ALL, chosen, label, runsOn } = require('./nodes')

/*
 * Hello world on the versions of Node: node:http since 0.8, Koa and kone from the first version on that they say they
 * run on; and what the report of Node 0.6 compared besides: a response of 1,024 bytes, files, the start.
 */

const IO = path.join(__dirname, 'io.js')

const engines = folder => JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).engines.node
const RUNS = {
  node: () => true,
  koa: wanted => runsOn(engines(path.dirname(require.resolve('koa/package.json'))), wanted),
  kone: wanted => runsOn(engines(root), wanted)
}

// Each on every version that it runs on.
const contenders = list(require.resolve('./contenders')).flatMap(one =>
  ALL.filter(RUNS[one.name]).map(wanted => ({ ...one, name: `${one.name}-${label(wanted)}`, side: one.name, wanted })))

const response = { status: 200, type: 'text/plain', body: 'Hello World\n' }
const WORKLOADS = {
  'keep-alive': { expected: response },
  close: { request: { headers: { connection: 'close' } }, expected: { ...response, headers: { connection: 'close' } } },
  '1,024 bytes': { args: ['1024'], expected: { ...response, body: 'C'.repeat(1024) }, sides: ['node'] }
}

lab(module, {
  name: 'versions',
  contenders,
  options: { all: { help: 'sixteen versions of Node instead of ten, or of four with --quick' } },
  view: require('./view'),

  // On a Node that is here already.
  probe (contender) {
    const { expected } = WORKLOADS['keep-alive']
    if (label(contender.wanted) === label(process.versions.node)) return { contender, expected }
    const found = kept(contender.wanted)
    return found && { contender: { ...contender, node: found.file }, expected }
  },

  async measure (lab) {
    const { node, only } = lab.options
    if (node !== process.execPath) throw new OptionError(`versions: --node ${node} is not for this lab, it runs many: expected --only or --all`)
    const running = []
    for (const wanted of only ? ALL : chosen(lab.options)) {
      const here = lab.contenders.filter(one => one.wanted === wanted)
      if (!here.length) continue
      try {
        const { file, version } = await binary(wanted)
        running.push(...here.map(one => ({ ...one, node: file, version: () => one.version(`v${version}`) })))
      } catch (err) {
        for (const { name } of here) lab.miss(name, err.message)
      }
    }
    await lab.inTime([
      ...Object.keys(WORKLOADS).map(name => ({ name, act: () => measure(lab, running, name) })),
      { name: 'files and starts', act: () => filesAndStarts(lab, running), size: 0.5 }
    ])
  }
})

async function measure (lab, running, workload) {
  const { args = [], request, expected, sides } = WORKLOADS[workload]
  const generator = lab.generator(['wrk', workload === 'close' ? 'reconnect' : 'autocannon'])
  const taking = running.filter(({ side }) => !sides || sides.includes(side)).map(one => ({ ...one, args }))
  const load = { ...request, generator, connections: 100, seconds: lab.options.quick ? 1 : 2 }
  await lab.group(taking, { workload, request, expected, reference: 'node-20' }, { [workload]: load })
}

async function filesAndStarts (lab, running) {
  const { quick } = lab.options
  const verified = new Set(lab.result.contenders.map(({ name }) => name))
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-io-'))
  lab.atEnd(() => fs.rmSync(folder, { recursive: true, force: true }))
  const cells = running.filter(({ name, side }) => side === 'node' && verified.has(name))
    .map(({ name, node }) => ({ workload: 'io', server: { name }, node }))
  await lab.rounds(cells, {
    tries: 1,
    visit: ({ node }) => ({
      ...JSON.parse(finished(node, [IO, path.join(folder, 'io'), quick ? '40' : '200'])),
      startup: start(node, quick ? 2 : 5)
    })
  })
  for (const { server: { name: contender }, samples, rejected } of cells) {
    if (rejected) lab.reject('io', contender, rejected)
    else {
      for (const [workload, metric, unit, name] of [['io', 'read', 'MB/s', 'read'], ['io', 'write', 'MB/s', 'write'], ['startup', 'time', 'ms', 'startup']]) {
        lab.result.rows.push(row({ workload, contender, metric, unit }, samples.map(one => one[name])))
      }
    }
  }
}

// ms that a start and an end take
function start (node, times) {
  const begin = performance.now()
  for (let i = 0; i < times; i++) finished(node, ['-e', '0'])
  return (performance.now() - begin) / times
}

function finished (node, args) {
  const { status, error, stdout, stderr } = spawnSync(node, args, { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' }, timeout: 60_000 })
  if (error) throw error
  if (status !== 0) throw new Error(stderr.trim().split('\n')[0] || `it ended with code ${status}`)
  return stdout
}
