'use strict'

const path = require('node:path')
const { run } = require('../../lib/run/lab')
const { version, koneVersion } = require('../../lib/servers/versions')
const { addRatios, aims, finish, ranking } = require('../../lib/report/report')
const { memory } = require('../../lib/run/memory')
const { pairedRatio } = require('../../lib/run/stats')

/*
 * What kone's own HTTP/1.1 front costs, workload by workload, beside node:http doing the same by hand, Koa,
 * and a raw socket that writes fixed bytes: the targets of the front, and what was reached.
 */

const file = name => path.join(__dirname, 'contenders', `${name}.js`)

const contenders = [
  { name: 'net', file: file('net'), version: node => node.slice(1) },
  { name: 'node', file: file('node'), version: node => node.slice(1) },
  { name: 'kone', file: file('kone'), version: koneVersion },
  { name: 'kone-node', file: file('kone'), flag: '--node', version: koneVersion },
  { name: 'kone-bodyParser', file: file('kone'), version: koneVersion },
  { name: 'koa', file: file('koa'), version: version('koa') }
]

const BROWSER = {
  'sec-ch-ua': '"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Linux"',
  'upgrade-insecure-requests': '1',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'en-GB,en;q=0.9,de;q=0.8'
}
const COOKIE = 'theme=dark; sid=0123456789abcdef0123456789abcdef; seen=12'
const JSON_BODY = JSON.stringify({
  id: 4711,
  name: 'a guest of the house',
  tags: ['web', 'framework', 'http', 'server'],
  note: 'Two hundred bytes are what a small form or an everyday call to an API weighs. '.padEnd(90, '.')
})

const hello = { status: 200, type: 'text/plain; charset=utf-8', body: 'Hello World' }
const json = body => ({ status: 200, type: 'application/json; charset=utf-8', body })
const page = { path: '/articles?page=3&sort=new', headers: { ...BROWSER, cookie: COOKIE } }
const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON_BODY }
const wrk = { generator: 'wrk', connections: 50 }

// `app` is the argument of the contenders: what they do. `loads` name their workloads in the result.
const workloads = [
  {
    app: { net: '', node: 'hello', kone: 'hello', 'kone-node': 'hello', koa: 'hello' },
    expected: hello,
    loads: {
      hello: wrk,
      'hello, autocannon': { generator: 'autocannon', connections: 100 },
      'pipelined 16': { ...wrk, pipeline: 16, not: 'net' }
    }
  },
  {
    app: { node: 'browser', kone: 'browser', koa: 'browser' },
    request: page,
    expected: { ...hello, headers: { 'x-language': BROWSER['accept-language'], 'x-page': '3' } },
    loads: { browser: wrk, 'browser, other cookies': { ...wrk, cookies: 4096 } }
  },
  {
    app: { node: 'json', kone: 'json', koa: 'json' },
    expected: json('{"id":4711,"name":"kone","tags":["web","framework"],"fast":true}'),
    loads: { json: wrk }
  },
  {
    app: { node: 'post', kone: 'post', 'kone-bodyParser': 'parser', koa: 'parser' },
    request: post,
    expected: json(JSON_BODY),
    loads: { post: wrk, 'post, two reads': { generator: 'split', connections: 50 } }
  },
  {
    app: { kone: 'touched', 'kone-node': 'touched' },
    expected: hello,
    loads: { 'ctx.res touched': wrk }
  }
]

// [what, workload, contender, to, target on Node 20, target on Node 26]
const TARGETS = [
  ['hello ÷ node:http', 'hello', 'kone', 'node', 0.65, 0.78],
  ['hello ÷ node:http, autocannon', 'hello, autocannon', 'kone', 'node'],
  ['hello ÷ koa', 'hello', 'kone', 'koa', 0.47, 0.57],
  ['hello ÷ koa, autocannon', 'hello, autocannon', 'kone', 'koa'],
  ['hello ÷ raw net', 'hello', 'kone', 'net', 1.25, 1.25],
  ['browser\'s twelve headers ÷ node:http', 'browser', 'kone', 'node', 0.55, 0.68],
  ['the same, another Cookie each ÷ node:http', 'browser, other cookies', 'kone', 'node', 0.60, 0.74],
  ['JSON answer ÷ node:http', 'json', 'kone', 'node', 0.68, 0.80],
  ['POST in one read ÷ node:http', 'post', 'kone', 'node', 0.55, 0.62],
  ['POST in one read ÷ koa + koa-bodyparser', 'post', 'kone', 'koa', 0.30, 0.30],
  ['POST in one read, bodyParser ÷ node:http', 'post', 'kone-bodyParser', 'node', 0.55, 0.62],
  ['POST in one read, bodyParser ÷ koa + koa-bodyparser', 'post', 'kone-bodyParser', 'koa', 0.30, 0.30],
  ['POST in two reads ÷ node:http', 'post, two reads', 'kone', 'node', 0.70, 0.78],
  ['POST in two reads ÷ koa + koa-bodyparser', 'post, two reads', 'kone', 'koa', 0.45, 0.45],
  ['POST in two reads, bodyParser ÷ node:http', 'post, two reads', 'kone-bodyParser', 'node', 0.70, 0.78],
  ['POST in two reads, bodyParser ÷ koa + koa-bodyparser', 'post, two reads', 'kone-bodyParser', 'koa', 0.45, 0.45],
  ['pipelined 16 deep ÷ node:http', 'pipelined 16', 'kone', 'node', 0.20, 0.20],
  ['ctx.res touched ÷ kone on node:http', 'ctx.res touched', 'kone', 'kone-node', 1.00, 1.00],
  ['idle connection, resident memory ÷ node:http', 'idle', 'kone', 'node', 0.65, 0.50]
]

run('front', { contenders, argv: process.argv.slice(2) }, async lab => {
  const generators = lab.generators(['wrk', 'autocannon', 'split'])

  await lab.inTime([
    ...workloads.map(one => ({
      name: Object.keys(one.loads).join(', '),
      size: Object.keys(one.app).length * Object.keys(one.loads).length,
      act: () => measure(lab, one)
    })),
    { name: 'idle', size: 10, act: () => silence(lab) }
  ])

  const references = ['node', 'koa', 'net', 'kone-node']
  addRatios(lab.result, references)
  finish(lab, {
    title: 'front: what kone\'s HTTP/1.1 costs beside node:http',
    sections: [
      reached(lab),
      ...workloads.flatMap(({ loads }) => Object.entries(loads).map(([workload, load]) =>
        ranking(lab.result, workload, {
          heading: `${workload}: ${possible(load, generators)?.generator}, ${load.connections} connections`,
          references: references.slice(0, 2),
          question: Object.keys(loads)[0]
        }))),
      idle(lab)
    ]
  })
})

async function measure (lab, { app, request, expected, loads }) {
  const generators = lab.generators(['wrk', 'autocannon', 'split'])
  const taking = lab.contenders
    .filter(({ name }) => name in app)
    .map(one => ({ ...one, args: [app[one.name], one.flag].filter(Boolean) }))
  const [workload] = Object.keys(loads)
  const servers = await lab.start(taking, { workload, request, expected, reference: 'node' })
  const cells = Object.entries(loads).flatMap(([workload, { not, ...wanted }]) => {
    const load = possible(wanted, generators)
    return servers.filter(({ name }) => load && name !== not)
      .map(server => ({ workload, server, load: { ...request, ...load, seconds: lab.options.quick ? 1 : 2 } }))
  })
  await lab.measure(cells)
  await Promise.all(servers.map(server => server.stop()))
}

async function silence (lab) {
  const silent = lab.contenders
    .filter(({ name }) => ['node', 'kone'].includes(name))
    .map(one => ({ ...one, args: ['hello'], flags: ['--expose-gc'], env: { KEEP_ALIVE: '600000' } }))
  await memory(lab, silent, { workload: 'idle', connections: 10_000, question: { expected: hello } })
}

// Where wrk is not installed autocannon stands in, but for cookies that change: those it cannot send.
function possible (load, generators) {
  if (generators[load.generator]) return load
  return load.cookies ? null : { ...load, generator: 'autocannon' }
}

function idle ({ result }) {
  const rows = result.rows.filter(row => row.workload === 'idle').sort((a, b) => a.median - b.median)
  if (!rows.length) return null
  const kB = bytes => (bytes / 1024).toFixed(1)
  return {
    heading: 'idle: 10,000 silent keep-alive connections',
    table: [
      ['', 'KiB per connection', 'min', 'max'],
      ...rows.map(({ contender, median, min, max }) => [contender, kB(median), kB(min), kB(max)])
    ],
    chart: { rows, caption: 'resident memory per connection, bytes: shorter is better' }
  }
}

function reached ({ result, nodeVersion }) {
  const latest = parseInt(nodeVersion.slice(1)) >= 26
  const rounds = (workload, contender) => result.rows.find(row =>
    row.workload === workload && row.contender === contender && /^(cpu|memory)$/.test(row.metric))?.rounds ?? []
  return aims(result, {
    heading: `targets on Node ${latest ? 26 : 20}, server CPU per request unless it says memory`,
    targets: TARGETS.map(([what, workload, contender, to, twenty, newest]) => ({
      what,
      target: latest ? newest : twenty,
      spread: pairedRatio(rounds(workload, contender), rounds(workload, to))
    }))
  })
}
