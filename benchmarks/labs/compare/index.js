'use strict'

const path = require('node:path')
const { run } = require('../../lib/run/lab')
const { measure, steps } = require('../../lib/run/measure')
const { folders, sides } = require('./revisions')
const { version } = require('../../lib/servers/versions')
const { addRatios, cpu, finish, ranking, ratio } = require('../../lib/report/report')
const { conclusion, verdict } = require('../../lib/report/verdict')
const { short } = require('../../lib/report/text')
const bar = require('../../lib/run/progress')

/*
 * Two revisions of kone in interleaved rounds: whether a change makes it faster. Every round starts every server
 * anew, for two processes of one program differ by some percent as long as they live.
 */

const front = name => path.join(__dirname, '../front/contenders', `${name}.js`)
const WHOLE = path.join(__dirname, '../mw/contenders/app.js')

const contenders = [
  { name: 'kone-before' },
  { name: 'kone-after' },
  { name: 'node', file: front('node'), version: node => node.slice(1) },
  { name: 'koa', file: front('koa'), version: version('koa') }
]

const hello = { status: 200, type: 'text/plain; charset=utf-8', body: 'Hello World' }
const json = body => ({ status: 200, type: 'application/json; charset=utf-8', body })
const BODY = JSON.stringify({ name: 'Ada', note: 'two hundred bytes of JSON'.padEnd(170, '.') })
const HEADERS = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'en-GB,en;q=0.9,de;q=0.8',
  cookie: 'theme=dark; sid=0123456789abcdef0123456789abcdef; seen=12'
}

// args: those of kone; node and koa are there for hello, to see what a quiet minute is
const WORKLOADS = {
  hello: { args: ['hello'], others: true, expected: hello },
  browser: { args: ['browser'], request: { path: '/articles?page=3', headers: HEADERS }, expected: hello },
  post: {
    args: ['parser'],
    request: { method: 'POST', headers: { 'content-type': 'application/json' }, body: BODY },
    expected: json(BODY)
  },
  'every middleware': {
    file: WHOLE,
    args: ['kone', 'plain'],
    request: { headers: HEADERS },
    expected: json(JSON.stringify({ greeting: 'Hello', items: ['a', 'b', '<c>'] }))
  }
}

const own = {
  ref: { value: '<rev>', help: 'compare the checkout with this revision, or a..b (default: $REF, or HEAD~1)' }
}

run('compare', { contenders, own, argv: process.argv.slice(2) }, async lab => {
  const ref = lab.options.ref ?? (process.env.REF || 'HEAD~1')
  lab.generators(['wrk', 'autocannon'])
  const kept = folders()
  lab.atEnd(kept.remove)
  const { before, after } = sides(ref)
  const roots = { 'kone-before': kept.add('before', before), 'kone-after': kept.add('after', after) }

  await rounds(lab, roots)
  addRatios(lab.result, ['kone-before', 'node'])
  Object.assign(lab.result.derived, { before, after: after ?? 'the checkout' })
  finish(lab, {
    title: `compare: kone at ${after ?? 'the checkout'} beside ${before}`,
    sections: [
      verdicts(lab.result, roots),
      ...Object.keys(WORKLOADS).map(workload =>
        ranking(lab.result, workload, { heading: workload, references: ['kone-before', 'node'] }))
    ]
  })
})

async function rounds (lab, roots) {
  const { rounds, quick } = lab.options
  const generators = lab.generators(['wrk', 'autocannon'])
  const load = { generator: generators.wrk ? 'wrk' : 'autocannon', connections: 50, seconds: quick ? 1 : 2 }
  const takers = Object.entries(WORKLOADS).map(([workload, { others }]) =>
    [workload, lab.contenders.filter(({ name }) => others || roots[name])])
  const cells = takers.flatMap(([workload, taking]) => taking.map(({ name }) =>
    ({ workload, server: { name }, load, samples: [], discarded: [], rejected: null, over: false })))
  const progress = bar(rounds * steps(cells, 1))

  for (let round = 1; round <= rounds; round++) {
    for (const [workload, taking] of takers) {
      const { file, args, request, expected } = WORKLOADS[workload]
      const still = taking.filter(({ name }) => !cellOf(cells, workload, name).over)
      const servers = await lab.start(still.map(one => ({
        ...one,
        file: file ?? one.file ?? front('kone'),
        args,
        ...roots[one.name] && { env: { KONE_ROOT: roots[one.name].root }, version: () => roots[one.name].version }
      })), { workload, request, expected, reference: 'kone-before' })
      const once = servers.map(server => ({ workload, server, load: { ...request, ...load } }))
      await measure(once, {
        rounds: 1,
        warm: quick ? 1 : 2,
        generators,
        tick: doing => progress.tick(doing.replace('1 of 1', `${round} of ${rounds}`))
      })
      await Promise.all(servers.map(server => server.stop()))
      for (const { name } of still) {
        gather(cellOf(cells, workload, name), once.find(({ server }) => server.name === name), round)
      }
    }
  }
  progress.end()
  lab.keep(cells.filter(({ over, rejected }) => !over || rejected))
}

function cellOf (cells, workload, name) {
  return cells.find(cell => cell.workload === workload && cell.server.name === name)
}

// Whoever fails once is out; that it did not start or answer, the lab has said.
function gather (cell, once, round) {
  if (!once) {
    cell.over = true
    return
  }
  const { samples, discarded, rejected } = once
  cell.samples.push(...samples)
  cell.discarded.push(...discarded.map(one => ({ ...one, round })))
  cell.rejected = rejected
  cell.over = rejected !== null
}

function verdicts (result, roots) {
  const ratios = Object.keys(WORKLOADS).map(workload => result.derived.ratios.find(one =>
    one.workload === workload && one.contender === 'kone-after' && one.to === 'kone-before') ?? null)
  const lines = Object.keys(WORKLOADS).map((workload, i) => {
    const [before, after] = ['kone-before', 'kone-after'].map(name => cpu(result, workload, name))
    const figure = row => row ? short(row.median) : '–'
    const of = { workload, contender: 'kone-after', to: 'kone-before' }
    return [workload, figure(before), figure(after), ratio(result, of), verdict(ratios[i])]
  })
  result.derived.verdict = conclusion(ratios)
  const [before, after] = Object.values(roots).map(({ dependencies }) => dependencies)
  return {
    heading: result.derived.verdict,
    table: [['server CPU per request, µs', 'before', 'after', 'after ÷ before', 'verdict'], ...lines],
    notes: [
      'better or worse: in every round; anything else lies inside the spread',
      before !== after && 'their dependencies differ in package.json; both ran with those of the checkout'
    ].filter(Boolean)
  }
}
