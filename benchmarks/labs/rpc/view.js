'use strict'

const { costs } = require('../../lib/report/findings')
const { beside, ranking } = require('../../lib/report/tables')
const { short, whole } = require('../../lib/report/text')

/** Calls in flight. */
const FLIGHTS = exports.FLIGHTS = [50, 100]

const METHODS = ['ping', 'parse', 'noError', 'asyncError']
const of = (method, flight = 50) => `${method}, ${flight} in flight`
const hello = connections => `hello, ${connections} connections`

exports.claims = [
  ['an RPC call in JSON ÷ node:http by hand', of('ping'), 'node'],
  ['an RPC call in Hessian ÷ node:http by hand', of('ping'), 'node-hessian', { contender: 'kone-hessian' }],
  ['an RPC call with a complex object in JSON ÷ node:http by hand', of('parse'), 'node'],
  ...[['gRPC', 'grpc'], ['bolt', 'sofa-bolt'], ['dubbo', 'sofa-dubbo']].map(([what, to]) => [`an RPC call in JSON ÷ ${what}`, of('ping'), to]),
  ['a call with its errors isolated ÷ the same without isolation', of('noError'), 'kone-unguarded']
]

exports.overview = () => ({
  unit: 'call',
  lines: [
    ...METHODS.flatMap(method => FLIGHTS.map(flight => ({ what: of(method, flight), workload: of(method, flight) }))),
    ...FLIGHTS.map(n => ({ what: `plain HTTP, ${hello(n)}`, workload: hello(n) }))
  ]
})

exports.sections = figures => [
  ...METHODS.flatMap(method => FLIGHTS.map(flight => calls(figures, method, flight))),
  ...FLIGHTS.map(n => ranking(figures, hello(n), { heading: 'plain HTTP' })),
  report(figures)
]

function calls (figures, method, flight) {
  const workload = of(method, flight)
  const metric = name => ({ contender }) => figures.row(workload, contender, name)?.median
  return ranking(figures, workload, {
    unit: 'call',
    to: method === 'noError' ? ['node', 'kone-unguarded'] : ['node'],
    chart: {
      ping: costs(figures, of('ping'), { what: 'A call of ping', unit: 'call', to: ['node', 'grpc'] }),
      parse: costs(figures, of('parse'), { name: 'parse', what: 'A call of parse', unit: 'call', to: ['node', 'grpc'] })
    }[flight === 50 ? method : ''],
    columns: {
      'wire bytes': row => whole(metric('wire')(row)),
      'p50 ms': row => short(metric('p50')(row)),
      'p99 ms': row => short(metric('p99')(row))
    }
  })
}

// Of the report, calls per second at 100 % CPU.
const CALLS = { ping: 16_228.79, parse: 13_523.75, hessian: 7814.09, noError: 13_002.69, asyncError: 5295.15, http: 10_856.95 }

function report (figures) {
  const cost = (a, b) => CALLS[b] / CALLS[a]
  const here = (a, b, suffix = '') => ['kone', 'node', 'sofa-bolt'].map(name =>
    suffix && name === 'sofa-bolt' ? '–' : figures.ratio(of(a, 100), name + suffix, name, { toWorkload: of(b, 100) }))
  return {
    ...beside(['', 'report', 'kone', '`node:http`', 'sofa-rpc, bolt'], [
      ['parse ÷ ping, JSON', cost('parse', 'ping'), ...here('parse', 'ping')],
      ['parse in Hessian ÷ in JSON', cost('hessian', 'parse'), ...here('parse', 'parse', '-hessian')],
      ['noError, isolated ÷ ping', cost('noError', 'ping'), ...here('noError', 'ping')],
      ['asyncError ÷ noError', cost('asyncError', 'noError'), ...here('asyncError', 'noError')],
      ['ping ÷ HTTP hello world, 100 in flight', cost('ping', 'http'), ...['kone', 'node'].map(name =>
        figures.ratio(of('ping', 100), name, name, { toWorkload: hello(100) })), figures.ratio(of('ping', 100), 'sofa-bolt', 'node', { toWorkload: hello(100) })]
    ]),
    text: 'Cost of the first ÷ cost of the second. The report’s are of calls per second at 100 % CPU, ours of CPU time per call, 100 in flight.'
  }
}
