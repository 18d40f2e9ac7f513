'use strict'

const os = require('node:os')
const cpu = require('../../../command/measure/cpu')
const { lab } = require('../../lib/run/lab')
const { doubt } = require('../../../command/measure/cost')
const { list } = require('../../lib/servers/contenders')
const { ask, underPm2 } = require('../../lib/servers/pm2')
const { SIGNED_OUT } = require('../mw/workloads')
const { deployed } = require('./deployed')
const view = require('./view')

const FEW = ['kone', 'koa', 'node'] // in a cluster, and in a first look in all but the first table
const DEPLOYED = ['kone', 'koa', 'node', 'fastify']
const PACED = ['net', 'kone', 'node', 'node-cheapest', 'koa', 'fastify', 'hono']

const question = { request: { path: '/' }, expected: { status: 200, type: 'text/plain; charset=utf-8', body: 'Hello World' } }

lab(module, {
  name: 'battle',
  contenders: list(require.resolve('./contenders')),
  view,

  async measure (lab) {
    const { quick, rounds } = lab.options
    const generators = lab.generators(['autocannon', 'wrk', 'arrivals', 'nginx'])
    const servers = await lab.start(lab.contenders.filter(({ isPm2 }) => !isPm2), { workload: 'hello', ...question, reference: 'node', floor: {} })
    const autocannon = { generator: 'autocannon', connections: 100, seconds: quick ? 1 : 3 }
    const wrk = { generator: 'wrk', connections: 50, seconds: quick ? 1 : 2 }
    const rates = view.RATES.map(rate => [view.paced(rate), { generator: 'arrivals', connections: 100, rate, seconds: wrk.seconds }])
    const loads = [['hello, wrk', wrk], ['hello', autocannon], ...rates]

    const ofThese = (all, names) => all.filter(({ name }) => (quick ? FEW : names).includes(name))
    const paced = ofThese(servers, PACED)
    const [first, ...others] = loads.filter(([, { generator }]) => generators[generator]).map(([workload, load]) => {
      const quantities = load.rate && [['cpu', 'µs/request'], ...view.PERCENTILES.map(name => [name, 'ms'])]
      const isSecond = quick && generators.wrk && load === autocannon
      const compared = isSecond ? servers.filter(({ name }) => name in view.REPORT) : load.rate ? paced : servers
      const cells = compared.map(server => ({ workload, server, load, quantities }))
      return {
        name: workload,
        seconds: cells.length * rounds * load.seconds,
        size: cells.length * load.seconds,
        act: () => lab.measure(cells, { quickWarm: 1 })
      }
    })
    // In the order of what a first look has to show: its time ends before the last of them.
    await lab.inTime([
      first,
      ...deployed(lab, {
        contenders: ofThese(lab.contenders, DEPLOYED),
        question: { ...question, reference: 'node' },
        seconds: wrk.seconds
      }),
      { name: 'memory', size: 1.5 * paced.length, act: () => resident(lab, paced.filter(({ name }) => name !== 'net')) },
      cluster(lab, wrk),
      ...others,
      ...pm2(lab, generators.wrk ? wrk : autocannon)
    ])
    await lab.stop(servers)
  }
})

// As many workers as cores. They share the cores with the load, so that requests per second say little; what a request
// costs in all processes does not depend on that.
function cluster (lab, load) {
  const workload = 'cluster, wrk'
  const workers = lab.result.derived.workers = os.availableParallelism()
  const contenders = lab.contenders.filter(({ name }) => FEW.includes(name))
    .map(one => ({ ...one, workers, isSpread: true }))
  return {
    name: workload,
    size: 1.5 * contenders.length * load.seconds,
    act: () => lab.group(contenders, { workload, ...question, reference: 'node' }, { [workload]: { ...load, generator: lab.generator() } })
  }
}

// All middleware, in pm2's cluster mode: what a request costs in all workers and pm2's daemon.
function pm2 (lab, load) {
  const { node, quick, rounds } = lab.options
  const contender = lab.contenders.find(({ isPm2 }) => isPm2)
  return contender ? [{ name: 'cluster by pm2', seconds: 10 + 2 * rounds, size: 1, act }] : []

  async function act () {
    const instances = os.availableParallelism()
    const [server] = await lab.start([underPm2(contender, { node }, { instances })], { workload: 'pm2', ...SIGNED_OUT })
    if (!server) return
    const workers = JSON.parse(ask(server, { node }, 'jlist').split('\n').findLast(line => line.startsWith('[{'))).map(({ pid }) => pid)
    const memory = () => workers.reduce((sum, pid) => sum + cpu.resident(pid), 0) / workers.length
    const cells = [{ workload: 'pm2', server, load }]
    await lab.warm(cells[0], quick ? 1 : 3)
    await lab.rounds(cells, {
      doubt,
      visit: async cell => ({ ...await lab.sample(cell), memory: memory() }),
      record (cells) {
        lab.record(cells)
        lab.recordFigures(cells.filter(({ rejected }) => !rejected), [['memory', 'bytes/worker', sample => sample.memory]])
      }
    })
    lab.result.derived.pm2 = { bytes: server.response.bytes, workers }
    await lab.stop([server])
  }
}

// Resident memory after the start, and after a number of requests without a forced garbage collection.
async function resident (lab, servers) {
  const requests = lab.result.derived.memoryAfter = lab.options.quick ? 10_000 : 100_000
  const generator = lab.generators()[lab.generator()]
  await lab.rounds(servers.map(server => ({ workload: 'memory', server })), {
    async visit ({ server }) {
      await server.restart()
      const start = await server.resident()
      const load = { port: server.port, connections: 50, seconds: 1 }
      for (let sent = 0; sent < requests;) {
        const round = await generator.run(load)
        if (round.errors) throw new Error(`${round.errors} errors`)
        sent += round.requests
      }
      return { start, after: await server.resident() }
    },
    record: cells => lab.recordFigures(cells, [['start', 'bytes', ({ start }) => start], ['memory', 'bytes', ({ after }) => after]])
  })
}
