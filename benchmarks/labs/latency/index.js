'use strict'

const { lab } = require('../../lib/run/lab')
const { cost, doubt, remarks } = require('../../lib/run/measure')
const { row } = require('../../lib/run/result')
const { median, middle, round } = require('../../lib/run/stats')
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

  const cell = (server, workload, rate) =>
    ({ workload, server, load: { generator: 'arrivals', connections: CONNECTIONS, rate: Math.round(rate), seconds } })
  const cells = [
    ...OWN.flatMap(share => servers.filter(({ name }) => name !== 'net')
      .map(server => cell(server, own(work, share), saturation[server.name] * share / 100))),
    ...SAME.filter(() => saturation.koa)
      .flatMap(share => servers.map(server => cell(server, same(work, share), saturation.koa * share / 100)))
  ]
  await lab.rounds(cells, { visit: ({ server, load }) => visit(crowd, server, load), doubt })
  for (const cell of cells) record(lab, cell)
  await lab.stop(servers)
}

/** The requests per second of a server in a closed loop; the first look warms it. */
async function saturationOf (crowd, { port }, seconds) {
  await crowd.open({ port, connections: CONNECTIONS })
  await crowd.closed({ seconds: 2 * seconds })
  const rates = []
  while (rates.length < LOOKS) rates.push((await crowd.closed({ seconds })).requestsPerSecond)
  await crowd.reset()
  return median(rates)
}

async function visit (crowd, server, load) {
  await crowd.open({ port: server.port, connections: load.connections })
  try {
    await crowd.greet()
    await server.delay()
    const sample = await cost(server, () => crowd.arrivals(load))
    return { ...sample, delay: await server.delay() }
  } finally {
    await crowd.reset()
  }
}

// CPU per request is kept only where all servers have the same rate: it depends on the rate.
function record (lab, { workload, server: { name: contender }, load, samples, discarded, rejected }) {
  const { rows, derived } = lab.result
  derived.discarded.push(...discarded.map(one => ({ workload, contender, ...one })))
  if (rejected) return lab.reject(workload, contender, rejected)
  const { requestsPerSecond, latencyMeanMs } = middle(samples)
  const conditions = { ...load, requestsPerSecond: round(requestsPerSecond), latencyMeanMs: round(latencyMeanMs), pipeline: 1 }
  const metrics = Object.entries({ ...METRICS, ...workload.endsWith('koa') ? { cpu: 'µs/request' } : {} })
  rows.push(...metrics.map(([metric, unit]) =>
    row({ workload, contender, metric, unit }, samples.map(sample => sample[metric]), conditions)))
  derived.remarks.push(...remarks(samples, load).map(remark => ({ workload, contender, remark })))
}
