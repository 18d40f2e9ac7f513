'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { lab } = require('../../lib/run/lab')
const { memory } = require('../../lib/run/memory')
const { makeCertificate } = require('../../lib/servers/certificate')
const { list } = require('../../lib/servers/contenders')
const { view } = require('./tables')
const workloads = require('./workloads')

/*
 * What kone's own HTTP/1.1 front costs, workload by workload, beside node:http doing the same by hand, Koa,
 * and a raw socket that writes fixed bytes: the targets of the front, and what was reached.
 */

lab(module, {
  name: 'front',
  contenders: list(path.join(__dirname, 'contenders'), { first: ['net', 'node', 'kone', 'koa'] }),
  references: ['node', 'koa', 'net', 'kone-node'],
  view,

  probe (contender) {
    const { app, request = {}, expected } = workloads.find(({ app }) => contender.name in app)
    return { contender: { ...contender, args: [app[contender.name]] }, request, expected }
  },

  async measure (lab) {
    lab.generators(['wrk', 'autocannon', 'split'])
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-front-'))
    lab.atEnd(() => fs.rmSync(folder, { recursive: true, force: true }))
    await makeCertificate(folder)
    await lab.inTime([
      ...workloads.map(one => ({
        name: Object.keys(one.loads).join(', '),
        size: Object.keys(one.app).length * Object.keys(one.loads).length,
        act: () => measure(lab, one, folder)
      })),
      { name: 'idle', size: 10, act: () => idle(lab) }
    ])
  }
})

async function measure (lab, { app, tls, request, expected, loads }, folder) {
  const generators = lab.generators(['wrk', 'autocannon', 'split'])
  const contenders = lab.contenders
    .filter(({ name }) => name in app)
    .map(one => ({ ...one, args: [app[one.name], ...tls ? [folder] : []] }))
  const [workload] = Object.keys(loads)
  const servers = await lab.start(contenders, { workload, request, expected, reference: 'node' })
  const cells = Object.entries(loads).flatMap(([workload, { not, ...wanted }]) => {
    const load = possible(wanted, generators)
    return servers.filter(({ name }) => load && name !== not)
      .map(server => ({ workload, server, load: { ...request, ...load, seconds: lab.options.quick ? 1 : 2 } }))
  })
  await lab.measure(cells)
  await Promise.all(servers.map(server => server.stop()))
}

async function idle (lab) {
  const contenders = lab.contenders
    .filter(({ name }) => ['node', 'kone'].includes(name))
    .map(one => ({ ...one, args: ['hello'], flags: ['--expose-gc'], env: { KEEP_ALIVE: '600000' } }))
  const { expected } = workloads[0]
  await memory(lab, contenders, { workload: 'idle', connections: 10_000, question: { expected } })
}

// Where wrk is not installed autocannon stands in, but for cookies that change: those it cannot send.
function possible (load, generators) {
  if (generators[load.generator]) return load
  return load.cookies ? null : { ...load, generator: 'autocannon' }
}
