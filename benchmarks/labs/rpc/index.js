'use strict'

const { isDeepStrictEqual } = require('node:util')
const { lab } = require('../../lib/run/lab')
const { rpc } = require('../../lib/load/generators')
const { list } = require('../../lib/servers/contenders')
const { codecs, methods } = require('./contenders').agreed
const view = require('./view')

/*
 * Remote calls, after the report on node-hsf: ping, parse (a complex object), noError and asyncError (a bare nextTick that
 * throws) behind a middleware that isolates errors, 50 and 100 calls in flight, and plain HTTP.
 */

const METHODS = {
  ping: { args: [], value: 'echo' },
  parse: { args: [1, 2], value: methods.parse() },
  noError: { args: [], value: 'ok', isGuarded: true },
  asyncError: { args: [], isGuarded: true }
}

lab(module, {
  name: 'rpc',
  contenders: list(require.resolve('./contenders')),
  view,

  probe (contender) {
    const client = rpc({})
    const verify = (server, expected) => check(client, server, expected).finally(() => client.stop())
    const method = contender.name === 'kone-unguarded' ? 'noError' : 'parse'
    return { contender, request: async () => call(contender, method), expected: METHODS[method], check: verify }
  },

  async measure (lab) {
    lab.generators(['rpc'])
    const load = { generator: lab.generator(), seconds: lab.options.quick ? 1 : 2 }
    const expected = { status: 200, type: 'text/plain; charset=utf-8', body: 'hello world' }
    const loads = view.FLIGHTS.map(connections => [`hello, ${connections} connections`, { ...load, connections }])
    const plain = lab.contenders.filter(({ name }) => ['kone', 'node', 'koa'].includes(name))
    await lab.inTime([
      ...Object.keys(METHODS).map(name => ({ name, act: () => measure(lab, name) })),
      { name: 'hello', act: () => lab.group(plain, { workload: 'hello', expected, reference: 'node' }, Object.fromEntries(loads)) }
    ])
  }
})

async function measure (lab, method) {
  const taking = lab.contenders.filter(({ name }) => takes(name, method))
  const request = async server => call(taking.find(({ name }) => name === server.name), method)
  const verify = (...of) => check(lab.generators().rpc, ...of)
  const servers = await lab.start(taking, { workload: method, request, expected: METHODS[method], check: verify })
  const cells = view.FLIGHTS.flatMap(flight => servers.map(server => {
    const lanes = server.request.protocol === 'http' ? { connections: flight, pipeline: 1 } : { connections: flight / 10, pipeline: 10 }
    const load = { generator: 'rpc', ...server.request, ...lanes, seconds: lab.options.quick ? 0.4 : 2 }
    return { workload: `${method}, ${flight} in flight`, server, load }
  }))
  await lab.measure(cells)
  const good = cells.filter(({ rejected }) => !rejected)
  lab.recordFigures(good, [['wire', 'bytes/call', ({ wire }) => wire], ['p50', 'ms', ({ p50 }) => p50], ['p99', 'ms', ({ p99 }) => p99]])
  await lab.stop(servers)
}

// Hessian is measured where the codec matters, kone without isolation where that does.
const takes = (name, method) =>
  name === 'kone-unguarded' ? method === 'noError' : !METHODS[method].isGuarded || !name.endsWith('-hessian')

function call ({ protocol, codec }, method) {
  const { args, isGuarded } = METHODS[method]
  if (protocol !== 'http') return { protocol, method, args }
  const { type, encode } = codecs[codec]
  const body = Buffer.from(encode(args)).toString('latin1')
  return { protocol, method, args, codec, type, path: `${isGuarded ? '/guarded' : '/rpc'}/${method}`, body }
}

// One call: its value, or for asyncError its error. The loop that follows must always come to the same.
async function check (generator, { port, request }, { value }) {
  const { value: response } = await generator.run({ ...request, port, isSingle: true })
  const isHttp = request.protocol === 'http'
  if (value === undefined) {
    const isError = isHttp ? response.error === '500 Internal Server Error' : /async/.test(response.error)
    if (!isError) throw new Error(`it should fail, and gave ${JSON.stringify(response)}`)
  } else {
    if (response.error !== undefined) throw new Error(`it failed: ${response.error}`)
    const got = isHttp ? codecs[request.codec].decode(Buffer.from(response.value, 'latin1')) : response.value
    if (!isDeepStrictEqual(got, value)) throw new Error(`its value is ${JSON.stringify(got)}`)
  }
  request.expected = response
  return { bytes: null, headers: {} }
}
