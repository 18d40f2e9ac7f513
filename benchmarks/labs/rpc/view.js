'use strict'

const { costs } = require('../../lib/report/findings')
const { beside, ranking } = require('../../lib/report/tables')
const { short, whole } = require('../../lib/report/text')

const METHODS = exports.METHODS = ['ping', 'parse', 'noError', 'asyncError']

/** Calls in flight. */
const FLIGHTS = exports.FLIGHTS = [50, 100]

const of = exports.of = (method, flight = 50) => `${method}, ${flight} in flight`
const hello = exports.hello = connections => `hello, ${connections} connections`

exports.claims = [
  ['an RPC call in JSON ÷ node:http by hand', of('ping'), 'node'],
  ['an RPC call in Hessian ÷ node:http by hand', of('ping'), 'node-hessian', { contender: 'kone-hessian' }],
  ['an RPC call with a complex object in JSON ÷ node:http by hand', of('parse'), 'node'],
  ['an RPC call in JSON ÷ gRPC', of('ping'), 'grpc'],
  ['an RPC call in JSON ÷ bolt', of('ping'), 'sofa-bolt'],
  ['an RPC call in JSON ÷ dubbo', of('ping'), 'sofa-dubbo'],
  ['a call with its errors isolated ÷ the same without isolation', of('noError'), 'kone-unguarded']
]

const CALLS = METHODS.flatMap(method => FLIGHTS.map(flight => of(method, flight)))

exports.chart = figures => costs(figures, of('ping'), { what: 'A call of ping', unit: 'call', to: ['node', 'grpc'] })

exports.overview = () => ({
  unit: 'call',
  lines: [...CALLS.map(workload => [workload]), ...FLIGHTS.map(n => [`plain HTTP, ${hello(n)}`, hello(n)])]
})

exports.sections = figures => [
  ...CALLS.map(workload => calls(figures, workload)),
  ...FLIGHTS.map(n => ranking(figures, hello(n), { heading: 'plain HTTP', verified: 'hello' })),
  report(figures)
]

function calls (figures, workload) {
  const column = (metric, show) => ({ contender }) => show(figures.row(workload, contender, metric)?.median)
  return ranking(figures, workload, {
    unit: 'call',
    to: workload.startsWith('noError') ? ['node', 'kone-unguarded'] : ['node'],
    columns: { 'wire bytes': column('wire', whole), 'p50 ms': column('p50', short), 'p99 ms': column('p99', short) }
  })
}

// Of the report, calls per second at 100 % CPU; and the two workloads whose costs are divided here.
const REPORT = [
  ['parse ÷ ping, JSON', 16_228.79 / 13_523.75, of('parse', 100), of('ping', 100)],
  ['parse in Hessian ÷ in JSON', 13_523.75 / 7814.09, of('parse', 100), of('parse', 100), '-hessian'],
  ['noError, isolated ÷ ping', 16_228.79 / 13_002.69, of('noError', 100), of('ping', 100)],
  ['asyncError ÷ noError', 13_002.69 / 5295.15, of('asyncError', 100), of('noError', 100)],
  ['ping ÷ HTTP hello world, 100 in flight', 10_856.95 / 16_228.79, of('ping', 100), hello(100)]
]

const report = figures => ({
  ...beside(['', 'report', 'kone', '`node:http`', 'sofa-rpc, bolt'], REPORT.map(([what, ratio, workload, toWorkload, suffix = '']) => [
    what, ratio, ...['kone', 'node', 'sofa-bolt'].map(name =>
      figures.ratio(workload, name + suffix, figures.row(toWorkload, name) ? name : 'node', { toWorkload })) // bolt has no HTTP
  ])),
  text: 'Cost of the first ÷ cost of the second. The report’s are of calls per second at 100 % CPU, ours of CPU time per call, 100 in flight. ' +
    'Other methods are measured in other rounds: these ratios are not paired, but for Hessian ÷ JSON.'
})
