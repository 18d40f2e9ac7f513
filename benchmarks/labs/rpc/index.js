'use strict'

const path = require('node:path')
const { isDeepStrictEqual } = require('node:util')
const { lab } = require('../../lib/run/lab')
const { BOUNDS } = require('../../lib/load/histogram')
const rpc = require('../../lib/load/rpc')
const { row } = require('../../lib/run/result')
const { list } = require('../../lib/servers/contenders')
const { parse } = require('./service/methods')
const { ABOUT, FLIGHTS, PEERS, view } = require('./tables')

/*
 * Remote calls, after the report on node-hsf: ping, parse (a complex object), noError and asyncError (a bare
 * nextTick that throws) behind a middleware that isolates errors, 50 and 100 calls in flight, and plain HTTP.
 */

const METHODS = {
  ping: { args: [], value: 'echo' },
  parse: { args: [1, 2], value: parse() },
  noError: { args: [], value: 'ok', isGuarded: true },
  asyncError: { args: [], isGuarded: true }
}

lab(module, {
  name: 'rpc',
  contenders: list(path.join(__dirname, 'contenders'), { first: ['kone', 'kone-hessian', 'kone-unguarded', 'node', 'node-hessian'] }),
  references: ['node', 'node-hessian', 'koa', 'kone-unguarded', ...PEERS],
  view,

  probe (contender) {
    const method = contender.name === 'kone-unguarded' ? 'noError' : 'parse'
    const verifyCall = async (server, expected) => {
      const client = rpc({})
      try {
        return await check(client, server, expected)
      } finally {
        client.stop()
      }
    }
    return { contender, request: async () => call(contender, method), expected: METHODS[method], check: verifyCall }
  },

  async measure (lab) {
    const { result } = lab
    lab.generators(['rpc'])
    const generator = lab.generator(['wrk', 'autocannon'])
    Object.assign(result.derived, { note: ABOUT, boundsMs: BOUNDS.slice(0, -1), responseTimes: {} })
    await lab.inTime([
      ...Object.keys(METHODS).map(name => ({ name, act: () => measure(lab, name) })),
      { name: 'hello', act: () => hello(lab, generator) }
    ])
  }
})

async function measure (lab, method) {
  const { rpc } = lab.generators(['rpc'])
  const contenders = lab.contenders.filter(({ name }) => takes(name, method))
  const servers = await lab.start(contenders, {
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
  for (const cell of cells) keepCalls(lab.result, cell)
  await Promise.all(servers.map(server => server.stop()))
}

// Hessian is measured where the codec matters, kone without isolation where that does.
function takes (name, method) {
  if (name === 'kone-unguarded') return method === 'noError'
  return !METHODS[method].isGuarded || !name.endsWith('-hessian')
}

function call ({ protocol, codec }, method) {
  const { args, isGuarded } = METHODS[method]
  const prefix = isGuarded ? '/guarded' : '/rpc'
  if (protocol !== 'http') return { protocol, method, args }
  const { type, encode } = coding(codec)
  return { protocol, method, args, codec, type, path: `${prefix}/${method}`, body: encode(args).toString('latin1') }
}

function coding (codec) {
  if (codec === 'Hessian') return require('./service/hessian')
  return { type: 'application/json', decode: JSON.parse, encode: value => Buffer.from(JSON.stringify(value)) }
}

function lanes ({ protocol }, flight) {
  return protocol === 'http' ? { connections: flight, pipeline: 1 } : { connections: flight / 10, pipeline: 10 }
}

// One call: its value, or for asyncError its error. The loop that follows must always come to the same.
async function check (generator, server, { value }) {
  const { value: response } = await generator.run({ ...server.request, port: server.port, isSingle: true })
  const { protocol, codec } = server.request
  if (value === undefined) {
    if (!(protocol === 'http' ? response.error === '500 Internal Server Error' : /async/.test(response.error))) {
      throw new Error(`it should fail, and gave ${JSON.stringify(response)}`)
    }
  } else {
    if (response.error !== undefined) throw new Error(`it failed: ${response.error}`)
    const got = protocol === 'http' ? coding(codec).decode(Buffer.from(response.value, 'latin1')) : response.value
    if (!isDeepStrictEqual(got, value)) throw new Error(`its value is ${JSON.stringify(got)}`)
  }
  server.request.expected = response
  return { bytes: null, headers: {} }
}

function keepCalls ({ rows, derived }, { workload, server: { name: contender }, samples, rejected }) {
  if (rejected) return
  const quantity = (metric, unit) => rows.push(row({ workload, contender, metric, unit }, samples.map(sample => sample[metric])))
  quantity('wire', 'bytes/call')
  quantity('p50', 'ms')
  quantity('p99', 'ms')
  derived.responseTimes[workload] ??= {}
  derived.responseTimes[workload][contender] = BOUNDS.map((_, i) => samples.reduce((sum, { counts }) => sum + counts[i], 0))
}

async function hello (lab, generator) {
  const contenders = lab.contenders.filter(({ name }) => ['kone', 'node', 'koa'].includes(name))
  const servers = await lab.start(contenders, {
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
