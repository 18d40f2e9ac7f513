'use strict'

const path = require('node:path')
const { isDeepStrictEqual } = require('node:util')
const { run } = require('../../lib/run/lab')
const { version, koneVersion } = require('../../lib/servers/versions')
const { addRatios, aims, cpu, finish, ranking, ratio } = require('../../lib/report/report')
const { block, short } = require('../../lib/report/text')
const { middle, pairedRatio, spread } = require('../../lib/run/stats')
const { ask } = require('../../lib/run/verify')
const { era, option } = require('../../lib/servers/era')

/*
 * Every middleware on: kone with its own set beside Koa with the packages that its users install; then each
 * middleware alone, against its twin and against an app without any.
 */

const contenders = ['kone', 'kone-bluebird', 'koa', 'koa-bluebird'].map(name => {
  const [side, bluebird] = name.split('-')
  return { name, side, bluebird, version: side === 'kone' ? koneVersion : version('koa') }
})

// [heading, workload, kone's, koa's]: the four of the first report, and both with today's promises
const PAIRS = [
  ['without template: koa native, kone bluebird', 'plain', 'kone-bluebird', 'koa'],
  ['without template: both bluebird', 'plain', 'kone-bluebird', 'koa-bluebird'],
  ['with nunjucks template: koa native, kone bluebird', 'template', 'kone-bluebird', 'koa'],
  ['with nunjucks template: both bluebird', 'template', 'kone-bluebird', 'koa-bluebird'],
  ['without template: both native', 'plain', 'kone', 'koa'],
  ['with nunjucks template: both native', 'template', 'kone', 'koa']
]

const PAGE = '<h2>Hello, ada</h2>\n<ul>\n  <li>a</li>\n  <li>b</li>\n  <li>&lt;c&gt;</li>\n</ul>\n'
const WHOLE = {
  plain: { greeting: 'Hello', user: 'ada', items: ['a', 'b', '<c>'] },
  template: PAGE
}

const hello = { type: 'text/plain; charset=utf-8', body: 'Hello World' }
const greeting = { type: hello.type, body: 'Hello' }
const script = { type: 'text/javascript; charset=utf-8', body: calls('Hello World') }
const form = JSON.stringify({ name: 'Ada', note: 'two hundred bytes of JSON'.padEnd(170, '.') })

// what each is asked when it is alone; `above` is what its cost is counted from
const ALONE = {
  'nothing alone': { expected: hello },
  'jsonp alone': { request: { path: '/?callback=xxx' }, expected: script },
  'router alone': { expected: hello },
  'router alone, last of 500': { request: { path: '/things/of/kind-500/1' }, expected: hello },
  'logger alone': { expected: hello },
  'static alone': {
    request: { path: '/hello.txt' },
    expected: { type: hello.type, body: body => body.length === 100 }
  },
  'bodyParser alone': {
    request: { method: 'POST', headers: { 'content-type': 'application/json' }, body: form },
    expected: { type: hello.type, body: 'Ada' }
  },
  'session alone': { request: signedIn('/'), expected: hello },
  'i18n alone': { request: { headers: { 'accept-language': 'en-GB,en;q=0.9' } }, expected: greeting },
  'cors alone': { request: { headers: { origin: 'http://example.com' } }, expected: hello },
  'csrf and session': {
    request: signedIn('/'),
    expected: { type: hello.type, body: body => body.length > 20 },
    above: 'session alone'
  },
  'helmet alone': { expected: hello },
  'favicon alone': {
    request: { path: '/favicon.ico' },
    expected: { type: 'image/x-icon', body: body => body.length > 100 }
  },
  'template alone': { expected: { type: 'text/html; charset=utf-8', body: PAGE } }
}

const THEN = [
  { name: 'koa-2.0.1', of: 'koa' },
  { name: 'koa-2.0.1-bluebird', of: 'koa', flag: '--bluebird' }
]

run('mw', { contenders, own: { era: option }, argv: process.argv.slice(2) }, async lab => {
  const { quick } = lab.options
  const generators = lab.generators(['autocannon', 'wrk'])
  const eras = lab.options.era ? await era(lab, THEN) : []
  const cells = await whole(lab, eras, { generator: 'autocannon', connections: 100, seconds: quick ? 1 : 5 })
  const generator = generators.wrk ? 'wrk' : 'autocannon'
  await alone(lab, { generator, connections: 50, seconds: quick ? 1 : 2 })

  addRatios(lab.result, ['koa', 'koa-bluebird', 'koa-2.0.1'])
  for (const pair of PAIRS) show(lab, cells, pair)
  const references = ['koa', 'koa-bluebird']
  finish(lab, {
    title: 'bench-mw: every middleware on',
    sections: [
      pairs(lab),
      ranking(lab.result, 'plain', { heading: 'without template', references }),
      ranking(lab.result, 'template', { heading: 'with nunjucks template', references }),
      ...eras.flatMap(({ version }) => Object.keys(WHOLE).map(kind => ranking(lab.result, `${kind}, Node ${version}`, {
        heading: `2017, Node ${version}: ${kind}`,
        references: ['koa-2.0.1']
      }))),
      costs(lab),
      reached(lab)
    ]
  })
})

async function whole (lab, eras, load) {
  const cells = await then(lab, eras, load)
  for (const [workload, value] of Object.entries(WHOLE)) {
    const type = 'text/javascript; charset=utf-8'
    const servers = await lab.start(lab.contenders.map(one => app(one, workload)), {
      workload,
      request: signedIn('/?callback=xxx'),
      expected: { status: 200, type, body: calls(value) },
      reference: 'koa'
    })
    for (const server of servers) cells.push({ workload, server, load: { ...server.request, ...load } })
  }
  await lab.measure(cells, { quickWarm: 1.5 }) // a whole set is much code
  await Promise.all(cells.map(({ server }) => server.stop()))
  return cells
}

// Koa and its packages of 2017, to the same questions.
async function then (lab, eras, load) {
  const cells = []
  for (const { version, contenders } of eras) {
    for (const [kind, value] of Object.entries(WHOLE)) {
      const workload = `${kind}, Node ${version}`
      const file = path.join(__dirname, 'era/app.js')
      const servers = await lab.start(contenders.map(one => ({ ...one, file, args: [kind, one.flag].filter(Boolean) })), {
        workload,
        request: signedIn('/?callback=xxx'),
        expected: { status: 200, type: 'text/javascript; charset=utf-8', body: calls(value) }
      })
      for (const server of servers) cells.push({ workload, server, load: { ...server.request, ...load } })
    }
  }
  return cells
}

// All in the same rounds: what one middleware costs is a small difference between two figures.
async function alone (lab, load) {
  const native = lab.contenders.filter(({ bluebird }) => !bluebird)
  const cells = []
  for (const [workload, { request, expected }] of Object.entries(ALONE)) {
    const servers = await lab.start(native.map(one => app(one, workload)), {
      workload,
      request,
      expected: { status: 200, ...expected },
      reference: 'koa'
    })
    for (const server of servers) cells.push({ workload, server, load: { ...server.request, ...load } })
  }
  await lab.measure(cells)
  await Promise.all(cells.map(({ server }) => server.stop()))
}

function app (contender, workload) {
  const { side, bluebird } = contender
  const args = [side, workload, bluebird && '--bluebird'].filter(Boolean)
  return { ...contender, file: path.join(__dirname, 'contenders/app.js'), args }
}

// A request with the cookie of somebody who has signed in.
function signedIn (path) {
  return async server => {
    let cookie = cookieOf(await ask(server.port, { path: '/login' }))
    // once more: a secret for the forms may come into the session with the first page
    cookie = cookieOf(await ask(server.port, { path, headers: { cookie } })) ?? cookie
    return { path, headers: { cookie } }
  }
}

const cookieOf = ({ headers }) => headers['set-cookie']?.map(line => line.split(';')[0]).join('; ')

// Whether a script calls xxx with this value; koa-jsonp writes `;` before the call, kone a comment.
function calls (value) {
  return function callsWith (body) {
    const argument = /^(?:;|\/\*\*\/)xxx\((.*)\);?$/s.exec(body)?.[1]
    return argument !== undefined && isDeepStrictEqual(JSON.parse(argument), value)
  }
}

// autocannon's blocks of a pair, kone's first, as in the first report.
function show ({ result }, cells, [heading, workload, ...names]) {
  console.log(`\n### ${heading}`)
  for (const name of names) {
    const cell = cells.find(one => one.workload === workload && one.server.name === name && !one.rejected)
    if (!cell) continue
    const { median } = cpu(result, workload, name)
    const { server: { answer }, samples } = cell
    console.log(`\n${block({ name, body: answer.body, sample: middle(samples) })}\n${short(median)} µs of CPU per request`)
  }
}

function pairs ({ result }) {
  const lines = PAIRS.map(([heading, workload, ours, theirs]) => {
    const [mine, other] = [ours, theirs].map(name => cpu(result, workload, name))
    if (!mine || !other) return [heading, 'not measured']
    const rate = row => Math.round(row.requestsPerSecond).toLocaleString('en')
    return [
      heading, rate(mine), rate(other), short(mine.median), short(other.median),
      pair(result, workload, ours, theirs)
    ]
  })
  return {
    heading: 'all middleware on',
    table: [['', 'kone req/s', 'koa req/s', 'kone CPU µs', 'koa CPU µs', 'CPU, kone ÷ koa'], ...lines]
  }
}

const pair = (result, workload, contender, to) => ratio(result, { workload, contender, to })

function costs ({ result }) {
  const lines = Object.entries(ALONE).flatMap(([workload, { above = 'nothing alone' }]) => {
    const rows = ['kone', 'koa'].map(name => cost(result, workload, above, name))
    if (!rows[0] && !rows[1]) return []
    const [kone, koa] = ['kone', 'koa'].map(name => cpu(result, workload, name))
    return [[
      workload,
      kone ? short(kone.median) : '–',
      koa ? short(koa.median) : '–',
      pair(result, workload, 'kone', 'koa'),
      ...rows.map(row => row && workload !== above && workload !== 'nothing alone' ? row.median.toFixed(1) : '–')
    ]]
  })
  return {
    heading: 'each middleware alone, CPU µs per request',
    table: [['', 'kone', 'koa', 'kone ÷ koa', 'kone: its cost', 'koa: its cost'], ...lines],
    notes: ['its cost: above an app with nothing but a handler; csrf: above session, which it needs']
  }
}

// What a middleware adds to a request, round by round.
function cost (result, workload, above, contender) {
  const [it, base] = [workload, above].map(name => cpu(result, name, contender))
  if (!it || !base) return null
  const rounds = it.rounds.map((figure, i) => figure - base.rounds[i]).filter(Number.isFinite)
  const figures = { workload, contender, above, unit: 'µs/request', ...spread(rounds) }
  if (workload !== 'nothing alone') result.derived.costs = [...result.derived.costs ?? [], figures]
  return figures
}

function reached ({ result }) {
  const of = (workload, contender = 'kone') => cpu(result, workload, contender)?.rounds ?? []
  const session = result.derived.costs?.find(one =>
    one.workload === 'session alone' && one.contender === 'kone')
  const target = (what, target, rounds, to) => ({ what, target, spread: pairedRatio(rounds, to) })
  return aims(result, {
    heading: 'targets, both sides with native promises',
    targets: [
      target('whole set, no template ÷ koa', 0.33, of('plain'), of('plain', 'koa')),
      target('whole set, with template ÷ koa', 0.20, of('template'), of('template', 'koa')),
      target('kone with template ÷ without', 1.15, of('template'), of('plain')),
      target('router, last of 500 ÷ the only one', 1.5, of('router alone, last of 500'), of('router alone')),
      target('static file of 100 bytes ÷ hello world', 1.12, of('static alone'), of('nothing alone')),
      { what: 'untouched session, µs', target: 3, spread: session }
    ]
  })
}
