'use strict'

const path = require('node:path')
const { run } = require('../../lib/run/lab')
const { version, koneVersion } = require('../../lib/servers/versions')
const { middle } = require('../../lib/run/stats')
const { block } = require('../../lib/report/text')
const { addRatios, finish, ranking } = require('../../lib/report/report')
const { era, option } = require('../../lib/servers/era')
const { cluster } = require('../../lib/servers/pm2')

/*
 * Hello world behind five middleware: kone beside node:http, Koa, the frameworks of its first report and
 * today's. Five middleware are what each framework means by them; node has none and is the floor.
 */

const file = name => path.join(__dirname, 'contenders', `${name}.js`)

const contenders = [
  { name: 'node', file: file('node'), version: node => node.slice(1) },
  { name: 'kone', file: file('kone'), version: koneVersion },
  { name: 'kone-bluebird', file: file('kone'), args: ['--bluebird'], version: koneVersion },
  { name: 'koa', file: file('koa'), version: version('koa') },
  { name: 'koa3', file: file('koa'), args: ['--koa3'], version: version('koa3') },
  { name: 'toa', file: file('toa'), version: version('toa'), about: 'its middleware run in sequence, not as an onion' },
  { name: 'trek-engine', file: file('trek'), version: version('trek-engine') },
  { name: 'express', file: file('express'), version: version('express') },
  { name: 'fastify', file: file('fastify'), version: version('fastify') },
  { name: 'hono', file: file('hono'), version: version('hono') },
  { name: 'restana', file: file('restana'), version: version('restana') },
  { name: 'kone-pm2', clustered: true, file: path.join(__dirname, '../mw/contenders/cluster.js') }
]

const question = {
  workload: 'hello',
  request: { path: '/' },
  expected: { status: 200, type: 'text/plain; charset=utf-8', body: 'Hello World' },
  reference: 'node'
}

const then = path.join(__dirname, 'era/app.js')
const THEN = [
  { name: 'node', file: then, args: ['node'] },
  { name: 'koa-2.0.1', of: 'koa', file: then, args: ['koa'] },
  { name: 'koa-2.0.1-bluebird', of: 'koa', file: then, args: ['koa', '--bluebird'] },
  { name: 'toa-2.6.8', of: 'toa', file: then, args: ['toa'] },
  { name: 'trek-engine-0.5.3', of: 'trek-engine', file: then, args: ['trek'] },
  { name: 'express-4.14.1', of: 'express', file: then, args: ['express'] }
]

const PAGE = '<h2>Hello, ada</h2>\n<ul>\n  <li>a</li>\n  <li>b</li>\n  <li>&lt;c&gt;</li>\n</ul>\n'

run('battle', { contenders, own: { era: option }, argv: process.argv.slice(2) }, async lab => {
  const { quick } = lab.options
  const loads = {
    hello: { generator: 'autocannon', connections: 100, seconds: quick ? 2 : 5 },
    'hello, wrk': { generator: 'wrk', connections: 50, seconds: quick ? 1 : 2 }
  }
  const generators = lab.generators(['autocannon', 'wrk'])
  const servers = await lab.start(lab.contenders.filter(({ clustered }) => !clustered), question)
  const cells = Object.entries(loads)
    .filter(([, { generator }]) => generators[generator])
    .flatMap(([workload, load]) => servers.map(server => ({ workload, server, load })))
  const eras = lab.options.era ? await era(lab, THEN) : []
  for (const { version, contenders } of eras) {
    const workload = `hello, Node ${version}`
    const servers = await lab.start(contenders, { ...question, workload, reference: `node-${version}` })
    for (const server of servers) cells.push({ workload, server, load: { ...loads.hello, seconds: quick ? 1 : 5 } })
  }
  await lab.measure(cells, { quickWarm: 1 })
  cells.filter(({ load }) => load.generator === 'autocannon').forEach(show)

  await Promise.all([...new Set(cells.map(({ server }) => server))].map(server => server.stop()))
  const clustered = lab.contenders.find(one => one.clustered)
  const pm2 = clustered && await cluster(lab, clustered, {
    expected: { status: 200, type: 'text/html; charset=utf-8', body: PAGE },
    load: { generator: 'autocannon', connections: 100, seconds: quick ? 1 : 10 },
    generators
  })

  const references = ['node', 'koa']
  addRatios(lab.result, [...references, 'koa-2.0.1', ...eras.map(({ version }) => `node-${version}`)])
  finish(lab, {
    title: 'battle: hello world behind five middleware',
    sections: [
      ranking(lab.result, 'hello', { heading: 'autocannon, 100 connections', references }),
      ranking(lab.result, 'hello, wrk', { heading: 'wrk, 50 connections', references, question: 'hello' }),
      ...eras.map(({ version }) => ranking(lab.result, `hello, Node ${version}`, {
        heading: `2017, Node ${version}: autocannon, 100 connections`,
        references: [`node-${version}`, 'koa-2.0.1']
      })),
      pm2
    ]
  })
})

function show ({ workload, server, samples, rejected }) {
  if (rejected) return
  const name = workload.replace('hello', server.name) // and the Node of another time
  console.log(`\n${block({ name, body: server.answer.body, sample: middle(samples) })}`)
}
