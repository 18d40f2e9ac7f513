'use strict'

const { lab } = require('../../lib/run/lab')
const { rpc } = require('../../lib/load/generators')
const { list } = require('../../lib/servers/contenders')
const { codecs, methods, pathOf } = require('./service')
const view = require('./view')

const FIGURES = [['wire', 'bytes/call', ({ wire }) => wire], ['p50', 'ms', ({ p50 }) => p50], ['p99', 'ms', ({ p99 }) => p99]]

lab(module, {
  name: 'rpc',
  contenders: list(require.resolve('./contenders')),
  view,

  probe (contender) {
    const generator = rpc({})
    const questions = (contender.only ?? view.METHODS).map(method => questionOf(method, generator))
    return {
      contender,
      async check (server) {
        try {
          for (const { request, check } of questions) await check({ port: server.port, request: await request(server) })
        } finally {
          generator.stop()
        }
      }
    }
  },

  async measure (lab) {
    const seconds = lab.options.quick ? 1 : 2
    const loads = view.FLIGHTS.map(connections => [view.hello(connections), { generator: lab.generator(), connections, seconds }])
    const expected = { status: 200, type: 'text/plain; charset=utf-8', body: 'hello world' }
    const web = lab.contenders.filter(({ name }) => ['kone', 'node', 'koa'].includes(name))
    await lab.inTime([
      ...view.METHODS.map(name => ({ name, act: () => calls(lab, name) })),
      { name: 'hello', act: () => lab.group(web, { workload: 'hello', expected, reference: 'node' }, Object.fromEntries(loads)) }
    ])
  }
})

async function calls (lab, method) {
  const load = { generator: 'rpc', seconds: lab.options.quick ? 0.4 : 2 }
  const loads = view.FLIGHTS.map(flight => [view.of(method, flight), ({ contender: { open } }) =>
    ({ ...load, ...open ? { connections: flight / 10, pipeline: 10 } : { connections: flight } })])
  const taking = lab.contenders.filter(({ only = view.METHODS }) => only.includes(method))
  const cells = await lab.group(taking, questionOf(method, lab.generators(['rpc']).rpc), Object.fromEntries(loads))
  lab.recordFigures(cells.filter(({ rejected }) => !rejected), FIGURES)
}

// Every run of the generator verifies one call before it counts: so does the shortest.
const questionOf = (method, generator) => ({
  workload: method,
  request: async ({ contender }) => requestOf(contender, method),
  async check ({ port, request }) {
    await generator.run({ ...request, port, connections: 1, seconds: 0.01 })
    return { bytes: null, headers: {} }
  }
})

function requestOf ({ file, key, open, codec: { type, encode } = codecs.json, values = methods }, method) {
  const args = method === 'parse' ? [1, 2] : []
  const value = method === 'asyncError' ? undefined : values[method]()
  if (open) return { client: { file, key }, method, args, expected: value ? { value } : { error: 'async' } }
  const sent = content => Buffer.from(encode(content)).toString('latin1')
  return { path: pathOf(method), type, body: sent(args), expected: { value: value ? `200 ${sent(value)}` : '500 Internal Server Error' } }
}
