'use strict'

const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { lab } = require('../../lib/run/lab')
const { nodeBinary } = require('../../lib/run/node')
const { OptionError } = require('../../lib/run/options')
const { list } = require('../../lib/servers/contenders')
const { chosen, label, versionsOf } = require('./nodes')

const response = { status: 200, type: 'text/plain', body: 'Hello World\n' }
const WORKLOADS = {
  'keep-alive': { expected: response },
  close: { request: { headers: { connection: 'close' } }, expected: { ...response, headers: { connection: 'close' } } },
  '1,024 bytes': { args: ['C'.repeat(1024)], expected: { ...response, body: 'C'.repeat(1024) }, only: 'node' }
}
const FIGURES = [['read', 'MB/s', ({ read }) => read], ['write', 'MB/s', ({ write }) => write], ['time', 'ms', ({ startup }) => startup, 'startup']]

lab(module, {
  name: 'versions',
  contenders: list(require.resolve('./contenders')) // each on every version that it runs on
    .flatMap(one => versionsOf(one.name).map(node => ({ ...one, name: `${one.name}-${label(node)}`, node }))),
  options: { all: { help: 'sixteen versions of Node instead of ten, or of four in a first look' } },
  view: require('./view'),

  async measure (lab) {
    const { node, only, quick } = lab.options
    if (node !== process.execPath) throw new OptionError(`versions: --node ${node} is not for this lab, it runs many: expected --only or --all`)
    const running = lab.contenders.filter(({ node }) => only || chosen(lab.options).includes(node))
    for (const { node } of running) await nodeBinary(node).catch(() => {}) // download one by one; start() names what is missing
    await lab.inTime([
      ...Object.entries(WORKLOADS).map(([workload, { args = [], request, expected, only }]) => ({
        name: workload,
        act () {
          // autocannon counts the latency of a new connection so that it breaks Little's law
          if (workload === 'close' && !lab.generators(['wrk']).wrk) return lab.skip(workload, 'it needs wrk')
          const taking = running.filter(({ key }) => !only || key === only).map(one => ({ ...one, args }))
          const load = { generator: lab.generator(), connections: 100, seconds: quick ? 1 : 2 }
          return lab.group(taking, { workload, request, expected, reference: 'node-20' }, { [workload]: load })
        }
      })),
      { name: 'files and starts', act: () => filesAndStarts(lab, running), size: 0.5 }
    ])
  }
})

async function filesAndStarts (lab, running) {
  const [megabytes, starts] = lab.options.quick ? ['40', 2] : ['200', 5]
  const file = path.join(lab.folder(), 'io')
  const isVerified = name => lab.result.contenders.some(one => one.name === name)
  const cells = running.filter(({ name, key }) => key === 'node' && isVerified(name))
    .map(({ name, node }) => ({ workload: 'io', server: { name }, node }))
  await lab.rounds(cells, {
    tries: 1,
    record: cells => lab.recordFigures(cells, FIGURES),
    async visit (cell) {
      const node = await nodeBinary(cell.node)
      const rates = JSON.parse(finished(node, [path.join(__dirname, 'io.js'), file, megabytes]))
      const begin = performance.now()
      for (let i = 0; i < starts; i++) finished(node, ['-e', '0'])
      return { ...rates, startup: (performance.now() - begin) / starts }
    }
  })
}

function finished (node, args) {
  const { status, error, stdout, stderr } = spawnSync(node, args, { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' }, timeout: 60_000 })
  if (status !== 0) throw error ?? new Error(stderr.split('\n').find(line => /Error/.test(line)) ?? `it ended with code ${status}`)
  return stdout
}
