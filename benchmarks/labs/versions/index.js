'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { lab } = require('../../lib/run/lab')
const { OptionError } = require('../../lib/run/options')
const { binary, kept } = require('../../lib/servers/binaries')
const { list } = require('../../lib/servers/contenders')
const { root } = require('../../lib/servers/kone')
const { ALL, chosen, label, runsOn } = require('./nodes')

/*
 * Hello world on the versions of Node: node:http since 0.8, Koa and kone from the first version on that they say they
 * run on; and what the report of Node 0.6 compared besides: a response of 1,024 bytes, files, the start.
 */

const engines = folder => JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).engines.node
const NEEDS = { node: '>=0.8', koa: engines(path.dirname(require.resolve('koa/package.json'))), kone: engines(root) }

// Each on every version that it runs on.
const contenders = list(require.resolve('./contenders')).flatMap(one =>
  ALL.filter(wanted => runsOn(NEEDS[one.name], wanted)).map(wanted => ({ ...one, name: `${one.name}-${label(wanted)}`, wanted })))

const response = { status: 200, type: 'text/plain', body: 'Hello World\n' }
const WORKLOADS = {
  'keep-alive': { expected: response },
  close: { request: { headers: { connection: 'close' } }, expected: { ...response, headers: { connection: 'close' } } },
  '1,024 bytes': { args: ['1024'], expected: { ...response, body: 'C'.repeat(1024) }, only: 'node' }
}
const FIGURES = [['read', 'MB/s', ({ read }) => read], ['write', 'MB/s', ({ write }) => write], ['time', 'ms', ({ startup }) => startup, 'startup']]

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
    const { node, only, quick } = lab.options
    if (node !== process.execPath) throw new OptionError(`versions: --node ${node} is not for this lab, it runs many: expected --only or --all`)
    const running = []
    for (const wanted of only ? ALL : chosen(lab.options)) {
      const here = lab.contenders.filter(one => one.wanted === wanted)
      try {
        const { file, version } = here.length ? await binary(wanted) : {}
        running.push(...here.map(one => ({ ...one, node: file, version: () => one.version(`v${version}`) })))
      } catch (err) {
        for (const { name } of here) lab.miss(name, err.message)
      }
    }
    await lab.inTime([
      ...Object.entries(WORKLOADS).map(([workload, { args = [], request, expected, only }]) => ({
        name: workload,
        act () {
          // autocannon counts the latency of a new connection so that it breaks Little's law
          if (workload === 'close' && !lab.generators(['wrk']).wrk) return lab.skip(workload, 'it needs wrk')
          const taking = running.filter(({ key }) => !only || key === only).map(one => ({ ...one, args }))
          const load = { ...request, generator: lab.generator(), connections: 100, seconds: quick ? 1 : 2 }
          return lab.group(taking, { workload, request, expected, reference: 'node-20' }, { [workload]: load })
        }
      })),
      { name: 'files and starts', act: () => filesAndStarts(lab, running), size: 0.5 }
    ])
  }
})

async function filesAndStarts (lab, running) {
  const [megabytes, starts] = lab.options.quick ? ['40', 2] : ['200', 5]
  const verified = new Set(lab.result.contenders.map(({ name }) => name))
  const file = path.join(lab.folder(), 'io')
  const cells = running.filter(({ name, key }) => key === 'node' && verified.has(name)).map(({ name, node }) => ({ workload: 'io', server: { name }, node }))
  await lab.rounds(cells, {
    tries: 1,
    visit ({ node }) {
      const rates = JSON.parse(finished(node, [path.join(__dirname, 'io.js'), file, megabytes]))
      const begin = performance.now()
      for (let i = 0; i < starts; i++) finished(node, ['-e', '0'])
      return { ...rates, startup: (performance.now() - begin) / starts }
    }
  })
  lab.recordFigures(cells, FIGURES)
}

function finished (node, args) {
  const { status, error, stdout, stderr } = spawnSync(node, args, { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' }, timeout: 60_000 })
  if (error) throw error
  if (status !== 0) throw new Error(stderr.trim().split('\n')[0] || `it ended with code ${status}`)
  return stdout
}
