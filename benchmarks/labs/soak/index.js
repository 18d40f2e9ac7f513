'use strict'

const path = require('node:path')
const { run } = require('../../lib/run/lab')
const { version, koneVersion } = require('../../lib/servers/versions')
const { aims, finish } = require('../../lib/report/report')
const { row } = require('../../lib/run/result')
const { spread } = require('../../lib/run/stats')
const bar = require('../../lib/run/progress')

/*
 * A million requests: whether memory grows with their number. Resident memory is looked at after each
 * hundred thousand, without asking for a garbage collection.
 */

const LOOKS = 10
const TARGET = 1.2 // times the memory after the first look

const file = name => path.join(__dirname, '../battle/contenders', `${name}.js`)
const contenders = [
  { name: 'node', file: file('node'), version: node => node.slice(1) },
  { name: 'kone', file: file('kone'), version: koneVersion },
  { name: 'koa', file: file('koa'), version: version('koa') }
]

const question = {
  workload: 'soak',
  expected: { status: 200, type: 'text/plain; charset=utf-8', body: 'Hello World' }
}

run('soak', { contenders, argv: process.argv.slice(2) }, async lab => {
  const each = lab.options.quick ? 10_000 : 100_000 // requests
  lab.result.derived.rounds = LOOKS
  const generators = lab.generators(['wrk', 'autocannon'])
  const generator = generators.wrk ?? generators.autocannon
  const progress = bar(lab.contenders.length * LOOKS)
  const looks = {}

  for (const contender of lab.contenders) {
    const [server] = await lab.start([contender], question)
    if (!server) continue
    const resident = looks[server.name] = []
    for (let answered = 0; resident.length < LOOKS;) {
      progress.tick(`${server.name}: ${answered} requests`)
      const until = (resident.length + 1) * each
      while (answered < until) {
        answered += (await generator.run({ port: server.port, connections: 50, seconds: 1 })).requests
      }
      resident.push(await server.resident())
    }
    await server.stop()
  }
  progress.end()

  finish(lab, { title: `soak: memory over ${each * LOOKS} requests`, sections: sections(lab.result, looks, each) })
})

function sections (result, looks, each) {
  const names = Object.keys(looks)
  for (const contender of names) {
    result.rows.push(row({ workload: 'soak', contender, metric: 'memory', unit: 'bytes' }, looks[contender]))
  }
  const MB = bytes => (bytes / 1e6).toFixed(1)
  const lines = Array.from({ length: LOOKS }, (_, i) => [
    ((i + 1) * each).toLocaleString('en'), ...names.map(name => MB(looks[name][i]))
  ])
  return [
    aims(result, {
      heading: 'resident memory at the end ÷ after the first tenth',
      targets: names.map(what => {
        const later = looks[what].slice(1).map(bytes => bytes / looks[what][0])
        return { what, target: TARGET, spread: { ...spread(later), median: later.at(-1) } }
      })
    }),
    { heading: 'resident memory, MB', table: [['requests', ...names], ...lines] }
  ]
}
