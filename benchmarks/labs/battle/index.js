'use strict'

const os = require('node:os')
const path = require('node:path')
const { lab } = require('../../lib/run/lab')
const { middle } = require('../../lib/run/stats')
const { list } = require('../../lib/servers/contenders')
const { era, option } = require('../../lib/servers/era')
const { cluster: underPm2 } = require('../../lib/servers/pm2')
const { block } = require('../../lib/report/text')

/*
 * Hello world behind five middleware: kone beside node:http, Koa, the frameworks of its first report and
 * today's. Five middleware are what each framework means by them; node has none and is the floor.
 */

const folder = path.join(__dirname, 'contenders')

const CLUSTERED = ['kone', 'koa', 'node']

const question = {
  request: { path: '/' },
  expected: { status: 200, type: 'text/plain; charset=utf-8', body: 'Hello World' }
}

const PAGE = '<h2>Hello, ada</h2>\n<ul>\n  <li>a</li>\n  <li>b</li>\n  <li>&lt;c&gt;</li>\n</ul>\n'

lab(module, {
  name: 'battle',
  contenders: list(folder, { first: ['node', 'kone', 'kone-bluebird', 'koa', 'koa3'] }),
  options: { era: option },
  probe: contender => contender.isPm2 ? null : { contender, ...question },
  references: ({ contenders }) => ['node', 'koa', 'koa-2.0.1',
    ...contenders.map(({ name }) => name).filter(name => /^node-\d/.test(name))],
  view: require('./tables'),

  async measure (lab) {
    const { quick } = lab.options
    const generators = lab.generators(['autocannon', 'wrk'])
    const ours = lab.contenders.filter(({ isPm2 }) => !isPm2)
    const servers = await lab.start(ours, { workload: 'hello', ...question, reference: 'node' })
    const autocannon = { generator: 'autocannon', connections: 100, seconds: quick ? 2 : 3 }
    const wrk = { generator: 'wrk', connections: 50, seconds: quick ? 1 : 2 }
    const brief = { ...autocannon, seconds: quick ? 1 : 3 }
    const loads = Object.entries({ hello: autocannon, 'hello, wrk': wrk }).filter(([, { generator }]) => generators[generator])

    await lab.inTime([
      ...loads.map(([workload, load]) => ({
        name: workload,
        seconds: servers.length * lab.options.rounds * load.seconds,
        size: load.seconds,
        async act () {
          const cells = servers.map(server => ({ workload, server, load }))
          await lab.measure(cells, { quickWarm: 1 })
          if (load.generator === 'autocannon') cells.forEach(show)
        }
      })),
      ...await eras(lab, brief),
      cluster(lab, wrk),
      ...pm2(lab, generators.wrk ? wrk : brief)
    ])
    await Promise.all(servers.map(server => server.stop()))
  }
})

// Spring 2017, of which kone's first report is.
async function eras (lab, load) {
  if (!lab.options.era) return []
  const found = await era(lab, list(path.join(folder, '2017')))
  return found.map(({ version, contenders }) => ({
    name: `Node ${version}`,
    async act () {
      const workload = `hello, Node ${version}`
      const servers = await lab.start(contenders, { workload, ...question, reference: `node-${version}` })
      const cells = servers.map(server => ({ workload, server, load }))
      await lab.measure(cells)
      cells.forEach(show)
      await Promise.all(servers.map(server => server.stop()))
    }
  }))
}

// As many workers as cores. They share the cores with the load, so that requests per second say little; what a request
// costs in all processes does not depend on that.
function cluster (lab, load) {
  const workload = 'cluster, wrk'
  const workers = os.availableParallelism()
  const contenders = lab.contenders
    .filter(({ name }) => CLUSTERED.includes(name))
    .map(one => ({ ...one, workers, isSpread: true }))
  return {
    name: workload,
    size: contenders.length,
    async act () {
      lab.result.derived.workers = workers
      const servers = await lab.start(contenders, { workload, ...question, reference: 'node' })
      const generator = lab.generator(['wrk', 'autocannon'])
      await lab.measure(servers.map(server => ({ workload, server, load: { ...load, generator } })))
      await Promise.all(servers.map(server => server.stop()))
    }
  }
}

function pm2 (lab, load) {
  const contender = lab.contenders.find(({ isPm2 }) => isPm2)
  if (!contender) return []
  return [{
    name: 'cluster by pm2',
    seconds: 10 + 2 * lab.options.rounds,
    size: 1,
    act: () => underPm2(lab, contender, {
      expected: { status: 200, type: 'text/html; charset=utf-8', body: PAGE },
      load,
      generator: lab.generators([load.generator])[load.generator]
    })
  }]
}

function show ({ workload, server, samples, rejected }) {
  if (rejected) return
  const name = workload.replace('hello', server.name) // and the Node of another time
  console.log(`\n${block({ name, body: server.response.body, sample: middle(samples) })}`)
}
