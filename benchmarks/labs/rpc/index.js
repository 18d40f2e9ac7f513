'use strict'

const path = require('node:path')
const { isDeepStrictEqual } = require('node:util')
const { run } = require('../../lib/run/lab')
const { version, koneVersion } = require('../../lib/servers/versions')
const { BOUNDS, table: histogram } = require('../../lib/load/histogram')
const { addRatios, aims, cpu, finish, ranking, ratio } = require('../../lib/report/report')
const { row } = require('../../lib/run/result')
const { pairedRatio } = require('../../lib/run/stats')
const { short } = require('../../lib/report/text')
const { notes } = require('../../lib/report/view')

/*
 * Remote calls, after the report on node-hsf: ping, parse (a complex object), noError and asyncError (a bare
 * nextTick that throws) behind a middleware that isolates errors, 50 and 100 calls in flight, and plain HTTP.
 */

const ABOUT = 'HSF is closed, so it is not here. What is here speaks different protocols: HTTP/1.1 has one call at a time ' +
  'on a connection, so N calls in flight are N connections; bolt, dubbo and gRPC put ten on each of N ÷ 10. JSON, ' +
  'Hessian 2 and protobuf carry the same values. Server CPU per call is what to compare; response times are those of ' +
  'a closed loop.'

const file = name => path.join(__dirname, 'contenders', `${name}.js`)
const http = (name, version) => ['', '-hessian'].map(codec => ({
  name: name + codec, file: file(name), protocol: 'http', codec: codec ? 'Hessian' : 'JSON', version
}))
const sofa = protocol => ({ name: `sofa-${protocol}`, file: file('sofa'), args: [protocol], protocol, version: version('sofa-rpc-node') })

const contenders = [
  ...http('kone', koneVersion),
  { name: 'kone-unguarded', file: file('kone'), protocol: 'http', codec: 'JSON', version: koneVersion },
  ...http('node', node => node.slice(1)),
  ...http('koa', version('koa')),
  { ...sofa('bolt'), about: 'sofa-rpc-node over bolt, Hessian 2' },
  { ...sofa('dubbo'), about: 'sofa-rpc-node over dubbo-remoting, Hessian 2' },
  { name: 'grpc', file: file('grpc'), protocol: 'grpc', version: version('@grpc/grpc-js'), about: 'typed protobuf messages' }
]
const PEERS = ['sofa-bolt', 'sofa-dubbo', 'grpc']

const { parse } = require('./contenders/methods')
const METHODS = {
  ping: { args: [], value: 'echo' },
  parse: { args: [1, 2], value: parse() },
  noError: { args: [], value: 'ok', isGuarded: true },
  asyncError: { args: [], isGuarded: true }
}
const FLIGHTS = [50, 100]

run('rpc', { contenders, argv: process.argv.slice(2) }, async lab => {
  const generators = lab.generators(['rpc', 'autocannon', 'wrk'])
  const counts = {}

  await lab.inTime([
    ...Object.keys(METHODS).map(name => ({ name, act: () => measure(lab, name, counts) })),
    { name: 'hello', act: () => hello(lab, generators.wrk ? 'wrk' : 'autocannon') }
  ])

  Object.assign(lab.result.derived, { note: ABOUT, boundsMs: BOUNDS.slice(0, -1), responseTimes: counts })
  addRatios(lab.result, ['node', 'node-hessian', 'koa', 'kone-unguarded', ...PEERS])
  finish(lab, {
    title: 'rpc: remote calls in JSON and in Hessian',
    sections: [
      { heading: 'what is compared', text: ABOUT },
      reached(lab),
      ...Object.keys(METHODS).flatMap(method => FLIGHTS.map(flight => calls(lab.result, method, flight))),
      ...Object.keys(counts).map(workload => ({
        heading: `${workload}: response times`, table: histogram(counts[workload])
      })),
      ...FLIGHTS.map(connections => ranking(lab.result, `hello, ${connections} connections`, {
        heading: `plain HTTP hello world, ${connections} connections`,
        references: ['node', 'koa'],
        question: 'hello'
      }))
    ]
  })
})

async function measure (lab, method, counts) {
  const { rpc } = lab.generators(['rpc'])
  const taking = lab.contenders.filter(({ name }) => takes(name, method))
  const servers = await lab.start(taking, {
    workload: method,
    request: async server => call(contenders.find(({ name }) => name === server.name), method),
    expected: METHODS[method],
    check: (server, expected) => check(rpc, server, expected)
  })
  const cells = FLIGHTS.flatMap(flight => servers.map(server => ({
    workload: `${method}, ${flight} in flight`,
    server,
    load: { generator: 'rpc', ...server.request, ...lanes(server.request, flight), seconds: lab.options.quick ? 0.4 : 2 }
  })))
  await lab.measure(cells)
  for (const cell of cells) keep(lab.result, cell, counts)
  await Promise.all(servers.map(server => server.stop()))
}

// Hessian is asked for where the codec matters, kone without isolation where that does.
function takes (name, method) {
  if (name === 'kone-unguarded') return method === 'noError'
  return !METHODS[method].isGuarded || !name.endsWith('-hessian')
}

function call ({ name, protocol, codec }, method) {
  const { args, isGuarded } = METHODS[method]
  const prefix = isGuarded && name !== 'kone-unguarded' ? '/guarded' : '/rpc'
  if (protocol !== 'http') return { protocol, method, args }
  const { type, encode } = coding(codec)
  return { protocol, method, args, codec, type, path: `${prefix}/${method}`, body: encode(args).toString('latin1') }
}

function coding (codec) {
  if (codec === 'Hessian') return require('./contenders/hessian')
  return { type: 'application/json', decode: JSON.parse, encode: value => Buffer.from(JSON.stringify(value)) }
}

function lanes ({ protocol }, flight) {
  return protocol === 'http' ? { connections: flight, pipeline: 1 } : { connections: flight / 10, pipeline: 10 }
}

// One call: its value, or for asyncError its error. The loop that follows must always come to the same.
async function check (generator, server, { value }) {
  const { value: answer } = await generator.run({ ...server.request, port: server.port, once: true })
  const { protocol, codec } = server.request
  if (value === undefined) {
    if (!(protocol === 'http' ? answer.error === '500 Internal Server Error' : /async/.test(answer.error))) {
      throw new Error(`it should fail, and said ${JSON.stringify(answer)}`)
    }
  } else {
    if (answer.error !== undefined) throw new Error(`it failed: ${answer.error}`)
    const got = protocol === 'http' ? coding(codec).decode(Buffer.from(answer.value, 'latin1')) : answer.value
    if (!isDeepStrictEqual(got, value)) throw new Error(`its value is ${JSON.stringify(got)}`)
  }
  server.request.expected = answer
  return { bytes: null, headers: {} }
}

function keep ({ rows }, { workload, server: { name: contender }, samples, rejected }, counts) {
  if (rejected) return
  const quantity = (metric, unit) => rows.push(row({ workload, contender, metric, unit }, samples.map(sample => sample[metric])))
  quantity('wire', 'bytes/call')
  quantity('p50', 'ms')
  quantity('p99', 'ms')
  counts[workload] ??= {}
  counts[workload][contender] = BOUNDS.map((_, i) => samples.reduce((sum, { counts }) => sum + counts[i], 0))
}

async function hello (lab, generator) {
  const taking = lab.contenders.filter(({ name }) => ['kone', 'node', 'koa'].includes(name))
  const servers = await lab.start(taking, {
    workload: 'hello',
    expected: { status: 200, type: 'text/plain; charset=utf-8', body: 'hello world' },
    reference: 'node'
  })
  await lab.measure(FLIGHTS.flatMap(connections => servers.map(server => ({
    workload: `hello, ${connections} connections`,
    server,
    load: { generator, connections, seconds: lab.options.quick ? 1 : 2 }
  }))))
  await Promise.all(servers.map(server => server.stop()))
}

function calls (result, method, flight) {
  const workload = `${method}, ${flight} in flight`
  const of = (metric, contender) => result.rows.find(row =>
    row.workload === workload && row.metric === metric && row.contender === contender)
  const rows = result.rows.filter(row => row.workload === workload && row.metric === 'cpu').sort((a, b) => a.median - b.median)
  if (!rows.length) return null
  return {
    heading: workload,
    chart: { rows, caption: 'server CPU per call, µs: shorter is better; bars are medians, whiskers the fastest and slowest round' },
    table: [
      ['', 'calls/s', 'CPU µs/call', 'min', 'p25', '÷ node', 'wire bytes', 'p50 ms', 'p99 ms'],
      ...rows.map(({ contender, requestsPerSecond, median, min, p25 }) => [
        contender, Math.round(requestsPerSecond).toLocaleString('en'), short(median), short(min), short(p25),
        contender === 'node' ? '1' : ratio(result, { workload, contender, to: 'node' }),
        String(Math.round(of('wire', contender).median)), short(of('p50', contender).median), short(of('p99', contender).median)
      ])
    ],
    notes: [...notes(result, workload), ...notes({ ...result, derived: {} }, method)]
  }
}

function reached ({ result, nodeVersion }) {
  const hand = parseInt(nodeVersion.slice(1)) >= 26 ? 0.85 : 0.75
  const target = (workload, contender, to, target) => ({
    what: `${workload}: ${contender} ÷ ${to}`,
    target,
    spread: pairedRatio(cpu(result, workload, contender)?.rounds ?? [], cpu(result, workload, to)?.rounds ?? [])
  })
  return aims(result, {
    heading: 'targets, server CPU per call',
    targets: FLIGHTS.flatMap(flight => [
      ...['ping', 'parse'].flatMap(method => ['', '-hessian'].flatMap(codec => {
        const workload = `${method}, ${flight} in flight`
        return [
          target(workload, `kone${codec}`, `node${codec}`, hand),
          ...PEERS.map(peer => target(workload, `kone${codec}`, peer, 0.45))
        ]
      })),
      target(`noError, ${flight} in flight`, 'kone', 'kone-unguarded', 1.1)
    ])
  })
}
