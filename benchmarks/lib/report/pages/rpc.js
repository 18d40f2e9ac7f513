'use strict'

const { targets } = require('../claims')
const { figure, list, range, ratio, table, threshold, two, whole } = require('../markdown')
const { costs } = require('../drawn')

// Of the report: calls per second, mean ms, processes of its client with five connections each
const CALLS = {
  ping: [16_228.79, 6.16, 2],
  'parse, JSON': [13_523.75, 7.39, 2],
  'parse, Hessian': [7814.09, 12.785, 2],
  noError: [13_002.69, 7.685, 2],
  asyncError: [5295.15, 9.44, 1]
}
const ONE = [13_789.49, 3.62] // ping, or parse, by one process of the client
const HTTP = [[50, 9919.22], [100, 10_856.95]]

const FLIGHTS = [50, 100]
const METHODS = ['ping', 'parse', 'noError', 'asyncError']
const of = (method, flight) => `${method}, ${flight} in flight`
const HUNDRED = method => of(method, 100)

module.exports = {
  lab: 'rpc',
  title: 'Remote calls',
  what: 'Four methods: `ping` returns a word, `parse` a nested object, `noError` and `asyncError` run behind a ' +
    'middleware that isolates errors, the second throws in a later tick. kone’s `rpc` middleware beside the same by ' +
    'hand on `node:http` and on Koa, in JSON and in Hessian 2, and beside bolt, dubbo and gRPC. The lab goes back to ' +
    'a report on node-hsf.',
  run: 'make bench-rpc',
  method: [
    'HSF is closed, so it is not here. What is here speaks different protocols: HTTP/1.1 has one call at a time on a ' +
    'connection, so N calls in flight are N connections; bolt, dubbo and gRPC put ten on each of N ÷ 10 connections. ' +
    'JSON, Hessian 2 and protobuf carry the same values. What counts is the server’s CPU time per call; response ' +
    'times are those of a closed loop.',
    'Every value is compared before a clock starts, and an error must be an error.'
  ],

  trend: [
    { what: 'ping ÷ node', of: figures => figures.ratio(of('ping', 50), 'kone', 'node') },
    { what: 'ping ÷ gRPC', of: figures => figures.ratio(of('ping', 50), 'kone', 'grpc') },
    { what: 'isolation', of: figures => figures.ratio(of('noError', 50), 'kone', 'kone-unguarded') }
  ],

  charts: figures => [
    costs(figures, of('ping', 50), { name: 'rpc', title: 'A call of ping, 50 in flight', unit: 'call' }),
    costs(figures, of('parse', 50), { name: 'rpc-parse', title: 'A call of parse, 50 in flight', unit: 'call' })
  ],

  sections: (figures, { others }) => [
    ...METHODS.map(method => calls(figures, method)),
    hello(figures),
    isolation([figures, ...others]),
    report(figures),
    impossible()
  ],

  original: () => [{ heading: 'The original report', body: originals() }, impossible()]
}

function calls (figures, method) {
  const rows = figures.rows(of(method, 50))
  if (!rows.length) return null
  const more = metric => name => figures.row(of(method, 50), name, metric)
  return {
    heading: `Measured: ${method}`,
    body: table(
      ['', 'calls/s', 'CPU µs/call', 'lowest–highest', '÷ node', '100 in flight, CPU µs', '÷ node', 'bytes on the wire', 'p50, p99 ms'],
      rows.map(row => [
        figures.versioned(row.contender),
        whole(row.requestsPerSecond),
        figure(row),
        range(row),
        ...FLIGHTS.flatMap(flight => [
          flight === 100 && figure(figures.row(of(method, flight), row.contender)),
          row.contender === 'node' ? '1' : ratio(figures.ratio(of(method, flight), row.contender, 'node'))
        ]).filter(Boolean),
        whole(more('wire')(row.contender)?.median),
        `${figure(more('p50')(row.contender))}, ${figure(more('p99')(row.contender))}`
      ]))
  }
}

function hello (figures) {
  const [few, many] = [50, 100].map(n => `hello, ${n} connections`)
  const rows = figures.rows(few)
  if (!rows.length) return null
  return {
    heading: 'Measured: plain HTTP',
    body: table(['hello world', '50 connections, CPU µs', '÷ node', '100 connections, CPU µs', '÷ node'], rows.map(({ contender }) => [
      figures.versioned(contender),
      ...[few, many].flatMap(workload => [
        figure(figures.row(workload, contender)),
        contender === 'node' ? '1' : ratio(figures.ratio(workload, contender, 'node'))
      ])
    ]))
  }
}

function isolation (all) {
  const measured = all.flatMap(figures => FLIGHTS.map(flight => ({
    major: figures.major,
    flight,
    atMost: targets('rpc', figures.result).find(({ to }) => to === 'kone-unguarded')?.target,
    spread: figures.ratio(of('noError', flight), 'kone', 'kone-unguarded')
  }))).filter(({ atMost, spread }) => atMost && spread)
  if (!measured.length) return null
  const many = new Set(measured.map(({ major }) => major)).size > 1
  const name = ({ major, flight }) => `noError, ${flight} in flight${many ? `, Node ${major}` : ''}`
  return {
    heading: 'What isolation costs',
    body: [
      'kone’s `isolate` runs each call in a context of its own, so that an error thrown in a later tick fails that ' +
      'call and no other. The same calls with it and without it:',
      table(['', 'with ÷ without', 'at most'], measured.map(one => [name(one), ratio(one.spread), threshold(one.atMost)])),
      ...reasonsFor(measured, name)
    ]
  }
}

const ASYNC_HOOKS = 24 // before this version of Node AsyncLocalStorage needs async hooks

// Whether isolation costs at most what was intended; where it costs more, why.
function reasonsFor (measured, name) {
  const missed = measured.filter(({ spread, atMost }) => spread.max > atMost)
  if (!missed.length) return ['It costs at most what was intended, in every round.']
  const more = value => `${Math.round((value - 1) * 100)} %`
  const isMissedOn = test => missed.some(({ major }) => test(major))
  return [
    list(missed.map(one => {
      const { spread: { median, max }, atMost } = one
      const worst = `${more(max)} more in the worst round, intended are ${more(atMost)}`
      return `${name(one)}: ${median > atMost ? `it costs too much: ${more(median)} more by the median, ${worst}` : `met by the median, not in every round: ${worst}`}.`
    })),
    [
      'Isolation needs `AsyncLocalStorage`, which follows every promise and every tick of a call.',
      isMissedOn(major => major < ASYNC_HOOKS) && `Before Node ${ASYNC_HOOKS} it does so by async hooks, which are called for each promise.`,
      isMissedOn(major => major >= ASYNC_HOOKS) && `Since Node ${ASYNC_HOOKS} V8 carries the context itself. What is left is \`isolate\`’s own: a promise, an object and ` +
        'two guards for each call, and a response that is sent after one more promise.',
      'A cheaper way that still catches an error thrown in a bare `process.nextTick` is not known.'
    ].filter(Boolean).join(' ')
  ]
}

const inFlight = ([rate, ms]) => rate * ms / 1000

function originals () {
  const line = ([rate, ms, processes]) => [whole(rate), String(ms), `${processes} × 5`, whole(inFlight([rate, ms]))]
  return [
    'The report is of Taobao’s node-hsf, December 2012 and January 2013, client and server on two machines with Xeon ' +
    'E5620 at 2.4 GHz. The version of Node is not given. In flight is what follows from rate × latency:',
    table(['', 'calls/s', 'mean ms', 'client, processes × connections', 'in flight'], Object.entries(CALLS).map(([name, call]) => [name, ...line(call)])),
    `Beside it, \`node:http\` with hello world, by siege: ${HTTP.map(([connections, rate]) => `${whole(rate)} requests/s over ${connections} connections`).join(', ')}, at 100 % CPU.`
  ]
}

function report (figures) {
  const cost = (a, b) => CALLS[b][0] / CALLS[a][0]
  const here = (contender, a, b, other = contender) =>
    ratio(figures.ratio(HUNDRED(a), contender, other, { toWorkload: HUNDRED(b) }))
  const lines = [
    ['parse ÷ ping, JSON', cost('parse, JSON', 'ping'), 'parse', 'ping', ''],
    ['parse in Hessian ÷ in JSON', cost('parse, Hessian', 'parse, JSON'), 'parse', 'parse', '-hessian'],
    ['noError, isolated ÷ ping', cost('noError', 'ping'), 'noError', 'ping', ''],
    ['asyncError ÷ noError', cost('asyncError', 'noError'), 'asyncError', 'noError', '']
  ]
  const rows = lines.map(([what, report, a, b, codec]) => [
    what, two(report),
    here(`kone${codec}`, a, b, 'kone'), here(`node${codec}`, a, b, 'node'),
    codec ? '–' : here('sofa-bolt', a, b)
  ])
  const hello = 'hello, 100 connections'
  rows.push(['ping ÷ HTTP hello world, 100 in flight', two(HTTP[1][1] / CALLS.ping[0]), ...['kone', 'node', 'sofa-bolt'].map(name =>
    ratio(figures.ratio(HUNDRED('ping'), name, name === 'sofa-bolt' ? 'node' : name, { toWorkload: hello })))])
  return {
    heading: 'Beside the original report',
    body: [
      ...originals(),
      'Ratio by ratio, cost of the first ÷ cost of the second. The report’s are of calls per second at 100 % CPU, ' +
      'ours of CPU time per call, 100 in flight:',
      table(['', 'report', 'kone', '`node:http`', 'sofa-rpc, bolt'], rows)
    ]
  }
}

function impossible () {
  return {
    heading: 'Where the report cannot be true',
    body: list([
      `**“Five concurrent users” are fifty calls in flight.** ${whole(ONE[0])} calls/s × ${ONE[1]} ms are ` +
      `${whole(inFlight(ONE))} (Little’s law), so each of its five connections had ten calls under way. That is why ` +
      'the lab measures 50 and 100 in flight.',
      '**`asyncError` is compared with a run of twice the load**: it had one process of the client, 50 in flight; ' +
      `\`noError\` had two, 100 in flight. The factor of ${two(CALLS.noError[0] / CALLS.asyncError[0])} between both ` +
      'is of two different loads.',
      '**The first detailed run is neither of both that it says it is**: the command says `-f ping`, the target line ' +
      '`parse(s,1,2)`. It received about 40 bytes for each call; the ping of the next run received 33, parse 239.',
      '**The Hessian run is labelled ping** in its detail and `parse` in the summary. By its size it is parse: 503 ' +
      'bytes received for each call.',
      '**Hessian beside JSON is not two codecs alone.** A request is 342 bytes in the Hessian run and 27 or 28 in ' +
      'the JSON run, for the same arguments: the JSON run used another protocol (“nohsf”), without HSF’s own ' +
      'headers. The ratio contains both.',
      '**siege’s response time of 0.01 s is a rounded figure**: 50 connections at 9,919 requests/s make 5.04 ms, 100 ' +
      'at 10,857 make 9.21 ms.',
      '**The HTTP row is at 100 % of one core**, the first HSF run at 80 %: their rates are not a ratio of cost.',
      '**What does fit**: every table of response times sums up to a million calls, and both processes of a pair ' +
      'agree within a percent.'
    ])
  }
}
