'use strict'

const path = require('node:path')
const { isDeepStrictEqual } = require('node:util')
const { lab } = require('../../lib/run/lab')
const { middle } = require('../../lib/run/stats')
const { ask } = require('../../lib/run/verify')
const { rowOf } = require('../../lib/run/result')
const { list } = require('../../lib/servers/contenders')
const { era, option } = require('../../lib/servers/era')
const { block, short } = require('../../lib/report/text')
const { FURTHER, WITHOUT_TWIN } = require('./further')
const { PAIRS, view } = require('./tables')

/*
 * Every middleware on: kone with its own set beside Koa with the packages that its users install; then each
 * middleware alone, against its twin and against an app without any.
 */

const folder = path.join(__dirname, 'contenders')

const PAGE = '<h2>Hello, ada</h2>\n<ul>\n  <li>a</li>\n  <li>b</li>\n  <li>&lt;c&gt;</li>\n</ul>\n'
const WHOLE = {
  plain: { greeting: 'Hello', user: 'ada', items: ['a', 'b', '<c>'] },
  template: PAGE
}

const hello = { type: 'text/plain; charset=utf-8', body: 'Hello World' }
const greeting = { type: hello.type, body: 'Hello' }
const script = { type: 'text/javascript; charset=utf-8', body: calls('Hello World') }
const form = JSON.stringify({ name: 'Ada', note: 'two hundred bytes of JSON'.padEnd(170, '.') })

// The request that each gets when it is alone.
const QUESTIONS = {
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
    expected: { type: hello.type, body: body => body.length > 20 }
  },
  'helmet alone': { expected: hello },
  'favicon alone': {
    request: { path: '/favicon.ico' },
    expected: { type: 'image/x-icon', body: body => body.length > 100 }
  },
  'template alone': { expected: { type: 'text/html; charset=utf-8', body: PAGE } },
  ...FURTHER
}

lab(module, {
  name: 'mw',
  contenders: list(folder, { first: ['kone', 'kone-bluebird', 'koa', 'koa-bluebird'] }),
  options: { era: option },
  probe: contender => ({ contender: { ...contender, args: ['plain'] }, ...wholeSet('plain') }),
  references: ['koa', 'koa-bluebird', 'koa-2.0.1'],
  view,

  async measure (lab) {
    const { quick } = lab.options
    const load = { generator: lab.generator(['autocannon']), connections: 100, seconds: quick ? 1 : 3 }
    const separateLoad = { generator: lab.generator(['wrk', 'autocannon']), connections: 50, seconds: quick ? 1 : 2 }
    await lab.inTime([
      ...Object.keys(WHOLE).map(workload => ({
        name: workload,
        size: lab.contenders.length,
        act: () => whole(lab, workload, load)
      })),
      ...await eras(lab, load),
      separatelyInTime(lab, separateLoad)
    ])
  }
})

function wholeSet (workload) {
  const type = 'text/javascript; charset=utf-8'
  return { request: signedIn('/?callback=xxx'), expected: { status: 200, type, body: calls(WHOLE[workload]) } }
}

async function whole (lab, workload, load) {
  const contenders = lab.contenders.map(one => ({ ...one, args: [workload] }))
  const servers = await lab.start(contenders, { workload, ...wholeSet(workload), reference: 'koa' })
  const cells = servers.map(server => ({ workload, server, load: { ...server.request, ...load } }))
  await lab.measure(cells, { quickWarm: 1.5 }) // a whole set is much code
  for (const pair of PAIRS.filter(pair => pair.workload === workload)) show(lab, cells, pair)
  await Promise.all(servers.map(server => server.stop()))
}

// Koa and its packages of 2017, with the same requests.
async function eras (lab, load) {
  if (!lab.options.era) return []
  const found = await era(lab, list(path.join(folder, '2017')))
  return found.flatMap(({ version, contenders }) => Object.keys(WHOLE).map(kind => ({
    name: `${kind}, Node ${version}`,
    size: contenders.length,
    async act () {
      const workload = `${kind}, Node ${version}`
      const servers = await lab.start(contenders.map(one => ({ ...one, args: [kind] })), { workload, ...wholeSet(kind) })
      await lab.measure(servers.map(server => ({ workload, server, load: { ...server.request, ...load } })))
      await Promise.all(servers.map(server => server.stop()))
    }
  })))
}

// All in the same rounds: what one middleware costs is a small difference between two figures. With --quick, as many
// of them as there is time for.
function separatelyInTime (lab, load) {
  const native = lab.contenders.filter(({ name }) => !name.endsWith('-bluebird'))
  const each = native.length * (lab.options.rounds * load.seconds + 1) // s
  return {
    name: 'each middleware alone',
    seconds: 4 * each,
    size: 1,
    async act () {
      const all = Object.keys(QUESTIONS)
      const taken = all.slice(0, Math.max(1, Math.floor(lab.timeLeft / 1000 / each)))
      for (const workload of all.slice(taken.length)) lab.skip(workload)
      await separately(lab, native, taken, load)
    }
  }
}

async function separately (lab, contenders, workloads, load) {
  const cells = []
  for (const workload of workloads) {
    const { request, expected } = QUESTIONS[workload]
    const taking = contenders.filter(({ package: name }) => name === 'kone' || !WITHOUT_TWIN.has(workload))
    const servers = await lab.start(taking.map(one => ({ ...one, args: [workload] })), {
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
function show ({ result }, cells, { heading, ours, theirs }) {
  console.log(`\n### ${heading}`)
  for (const name of [ours, theirs]) {
    const cell = cells.find(one => one.server.name === name && !one.rejected)
    if (!cell) continue
    const { workload, server: { response }, samples } = cell
    const { median } = rowOf(result, workload, name)
    console.log(`\n${block({ name, body: response.body, sample: middle(samples) })}\n${short(median)} µs of CPU per request`)
  }
}
