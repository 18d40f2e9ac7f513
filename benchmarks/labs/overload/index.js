'use strict'

const { pbkdf2Sync } = require('node:crypto')
const { lab } = require('../../lib/run/lab')
const { pins } = require('../../lib/run/machine')
const { cost } = require('../../../command/measure/cost')
const { proxy } = require('../../lib/load/nginx')
const { worker } = require('../../lib/load/worker')
const { list } = require('../../lib/servers/contenders')
const Program = require('../../lib/servers/program')
const view = require('./view')

const CPU = 3 // ms of each request
const CLIENTS = 16 // of the closed loop that measures the capacity

const expected = { status: 200, type: /^text\/plain/, body: 'ok' }

lab(module, {
  name: 'overload',
  contenders: list(require.resolve('./contenders')),
  view,
  missed: view.missed,

  async measure (lab) {
    process.env.ROUNDS = rounds(CPU) // of all contenders
    const generator = worker(require.resolve('./load'), { pin: pins()?.load })
    lab.atEnd(generator.stop)
    const contenders = lab.contenders.map(one => one.program ? { ...one, given: { node: lab.options.node } } : one)
    const servers = await lab.start(contenders, { workload: 'overload', expected })
    const plainOf = ({ name }) => servers.find(one => one.name === `${name} without overload`)
    const cells = servers.filter(({ name }) => !name.endsWith('without overload')).flatMap(server =>
      view.CONNECTIONS.map(connections => ({ workload: connections, server, plain: plainOf(server), connections })))
    const missing = Program.missing('nginx', 'apt-get install nginx')
    if (missing) lab.miss('nginx', missing)
    for (const { server, plain } of cells.filter(one => !missing && one.server.name === 'kone').slice(0, 1)) {
      cells.push({ workload: view.PROXIED, server: await proxied(lab, server), plain: await proxied(lab, plain), connections: 'new' })
    }
    await lab.rounds(cells, {
      visit: (cell, round) => visit(generator, cell, { seed: round, scale: lab.options.quick ? 1 : 2 }),
      record: all => all.forEach(cell => lab.recordFigures([cell], cell.plain ? view.FIGURES : view.FIGURES.slice(3)))
    })
  }
})

// Of the hash, by the quickest of some.
function rounds (ms) {
  const times = Array.from({ length: 200 }, () => {
    const begin = performance.now()
    pbkdf2Sync('password', 'salt', 1000, 32, 'sha256')
    return performance.now() - begin
  })
  return Math.round(ms * 1000 / Math.min(...times))
}

// With its defaults: a connection for each request.
async function proxied (lab, { name, port: upstream }) {
  const server = await Program.start({ name, program: proxy, given: { upstream } }, { pin: pins()?.load })
  lab.atEnd(() => server.kill())
  return server
}

/**
 * The capacity, then loads that are multiples of it. For kone it is that of the same app without overload(), which also gets
 * the requests of a load below it.
 */
async function visit (generator, { server, plain, connections }, { seed, scale }) {
  const act = ({ port }, load) => cost(server, () => generator.run({ port, connections, seed, ...load }), { untilQuiet: true })
  const { perSecond: capacity } = await act(plain ?? server, { clients: CLIENTS, seconds: scale })
  const loads = {}
  if (plain) {
    const load = { rate: capacity * view.BELOW, seconds: 2.5 * scale }
    Object.assign(loads, { without: await act(plain, load), below: await act(server, load) })
  }
  for (const times of view.ABOVE) loads[times] = await act(server, { rate: capacity * times, seconds: 1 + 2 * scale, from: 1 })
  return { capacity, loads }
}
