'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { lab } = require('../../lib/run/lab')
const { row, rowOf } = require('../../lib/run/result')
const { pairedRatio } = require('../../lib/run/stats')
const { list } = require('../../lib/servers/contenders')
const { prepare } = require('./app')
const { compared } = require('./compared')
const { missing, underPm2 } = require('./pm2')
const view = require('./tables')
const workloads = require('./workloads')

/*
 * What a Koa user gets by changing one line: apps of published packages, unmodified, on kone and on Koa. node is the
 * same by hand on node:http, for scale.
 */

lab(module, {
  name: 'dropin',
  contenders: list(path.join(__dirname, 'contenders'), { first: ['koa', 'kone', 'node'] }),
  probe (contender, { folder }) {
    const { workload, request, expected } = workloads.find(({ workload }) => workload === 'API')
    return { contender: { ...contender, args: [workload, folder] }, request, expected }
  },
  references: ['koa', 'kone-node', 'node'],
  async measure (lab) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-dropin-'))
    lab.atEnd(() => fs.rmSync(folder, { recursive: true, force: true }))
    await prepare(folder)

    await lab.inTime(workloads.map(one => ({
      name: one.workload,
      size: one.contenders.length,
      act: () => measure(lab, one, folder)
    })))
  },
  view
})

async function measure (lab, { workload, request, expected, contenders, to }, folder) {
  const generator = lab.generator(['wrk', 'autocannon'])
  if (workload === 'pm2' && missing()) return lab.miss('pm2', missing())

  const taking = lab.contenders
    .filter(({ name }) => contenders.includes(name))
    .map(one => workload === 'pm2' ? underPm2(one, lab.options) : { ...one, args: [workload, folder] })
  const servers = await lab.start(taking, { workload, request, expected, reference: 'koa', check: compared(request) })
  const load = { ...request, generator, connections: 50, seconds: lab.options.quick ? 1 : 2 }
  await lab.measure(servers.map(server => ({ workload, server, load })))
  await Promise.all(servers.map(server => server.stop()))

  const { rounds = [] } = ratioOf(lab.result, workload, to) ?? {}
  if (rounds.length) lab.result.rows.push(row({ workload, contender: 'kone', metric: 'ratio', unit: `÷ ${to}` }, rounds))
}

function ratioOf (result, workload, to) {
  const [kone, reference] = ['kone', to].map(name => rowOf(result, workload, name)?.rounds ?? [])
  return pairedRatio(kone, reference)
}
