'use strict'

const { lab } = require('../../lib/run/lab')
const { cost, doubt } = require('../../lib/run/measure')
const { repeat } = require('../../lib/run/rounds')
const { median, round } = require('../../lib/run/stats')
const { list } = require('../../lib/servers/contenders')
const { METRICS, OWN, SAME, WORKS, own, same } = require('./view')

/*
 * How long responses take below saturation: an open loop at shares of each server's own saturation, and of Koa's for all.
 */

const CONNECTIONS = 100
const LOOKS = 3 // at saturation; the median counts

const question = { request: { path: '/' }, expected: { status: 200, type: 'text/plain; charset=utf-8', body: 'Hello World' } }

lab(module, {
  name: 'latency',
  contenders: list(require.resolve('../battle/contenders'), { only: ['net', 'node', 'kone', 'koa', 'fastify'] }),
  probe: contender => ({ contender: { ...contender, args: ['mixed'] }, ...question }),
  view: require('./view'),

  async measure (lab) {
    const crowd = lab.crowd(CONNECTIONS, 1)
    lab.result.derived.saturation = {}
    await lab.inTime(Object.keys(WORKS).map(work => ({ name: work, act: () => part(lab, crowd, work) })))
  }
})

async function part (lab, crowd, work) {
  const seconds = lab.options.quick ? 0.5 : 2
  const contenders = lab.contenders.map(one => ({ ...one, args: [work] }))
  const servers = await lab.start(contenders, { workload: work, ...question, reference: 'node' })
  const saturation = lab.result.derived.saturation[work] = {}
  for (const server of servers) saturation[server.name] = round(await saturationOf(crowd, server, seconds / 4))

  // CPU per request depends on the rate: it is kept only where all servers have the same.
  const cell = (server, workload, rate, more = []) => ({
    workload,
    server,
    load: { generator: 'arrivals', connections: CONNECTIONS, rate: Math.round(rate), seconds },
    quantities: [...Object.entries(METRICS), ...more]
  })
  const cells = [
    ...OWN.flatMap(share => servers.filter(({ name }) => name !== 'net')
      .map(server => cell(server, own(work, share), saturation[server.name] * share / 100))),
    ...SAME.filter(() => saturation.koa)
      .flatMap(share => servers.map(server => cell(server, same(work, share), saturation.koa * share / 100, [['cpu', 'µs/request']])))
  ]
  await lab.rounds(cells, { visit: ({ server, load }) => visit(crowd, server, load), doubt })
  lab.record(cells)
  await lab.stop(servers)
}

/** The requests per second of a server in a closed loop; the first look warms it. */
const saturationOf = (crowd, { port }, seconds) => crowd.hold({ port, connections: CONNECTIONS }, async () => {
  await crowd.closed({ seconds: 2 * seconds })
  return median((await repeat(LOOKS, () => crowd.closed({ seconds }))).map(({ requestsPerSecond }) => requestsPerSecond))
})

const visit = (crowd, server, load) => crowd.hold({ port: server.port, connections: load.connections }, async () => {
  await server.delay()
  const sample = await cost(server, () => crowd.arrivals(load))
  return { ...sample, delay: await server.delay() }
})
