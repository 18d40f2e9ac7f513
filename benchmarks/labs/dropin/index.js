'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { run } = require('../../lib/run/lab')
const { addRatios, finish, ranking } = require('../../lib/report/report')
const { version, koneVersion } = require('../../lib/servers/versions')
const { prepare } = require('./app')
const { compared } = require('./compared')
const { missing, underPm2 } = require('./pm2')
const { table } = require('./tables')
const workloads = require('./workloads')

/*
 * What a Koa user gets by changing one line: apps of published packages, unmodified, on kone and on Koa. node is the
 * same by hand on node:http, for scale.
 */

const file = name => path.join(__dirname, 'contenders', `${name}.js`)

const contenders = [
  { name: 'koa', file: file('koa'), version: version('koa') },
  { name: 'kone', file: file('kone'), version: koneVersion },
  { name: 'node', file: file('node'), version: node => node.slice(1) },
  { name: 'kone-node', file: file('kone-node'), version: koneVersion, about: 'kone on node:http (http1: false)' }
]

run('dropin', { contenders, argv: process.argv.slice(2) }, async lab => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-dropin-'))
  lab.atEnd(() => fs.rmSync(folder, { recursive: true, force: true }))
  await prepare(folder)

  await lab.inTime(workloads.map(one => ({
    name: one.workload,
    size: one.contenders.length,
    act: () => measure(lab, one, folder)
  })))

  addRatios(lab.result, ['koa', 'kone-node', 'node'])
  finish(lab, {
    title: 'dropin: unmodified apps and packages, on kone and on Koa',
    sections: [
      table(lab, workloads),
      ...workloads.map(({ workload, about, to }) =>
        ranking(lab.result, workload, { heading: about, references: [to, 'node'] }))
    ]
  })
})

async function measure (lab, { workload, request, expected, contenders }, folder) {
  const generator = lab.generators(['wrk']).wrk ? 'wrk' : 'autocannon'
  lab.generators([generator])
  if (workload === 'pm2' && missing()) return lab.miss('pm2', missing())

  const taking = lab.contenders
    .filter(({ name }) => contenders.includes(name))
    .map(one => workload === 'pm2' ? underPm2(one, lab.options) : { ...one, file: path.join(__dirname, 'host.js'), args: [one.file, workload, folder] })
  const servers = await lab.start(taking, { workload, request, expected, reference: 'koa', check: compared(request) })
  const load = { ...request, generator, connections: 50, seconds: lab.options.quick ? 1 : 2 }
  await lab.measure(servers.map(server => ({ workload, server, load })))
  await Promise.all(servers.map(server => server.stop()))
}
