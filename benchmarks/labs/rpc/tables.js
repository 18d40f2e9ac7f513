'use strict'

const { table: histogram } = require('../../lib/load/histogram')
const { targets: claimed } = require('../../lib/report/claims')
const { aims, ranking, ratio } = require('../../lib/report/report')
const { short } = require('../../lib/report/text')
const { notes } = require('../../lib/report/view')
const { rowOf, rowsOf } = require('../../lib/run/result')
const { pairedRatio } = require('../../lib/run/stats')

const ABOUT = exports.ABOUT = 'HSF is closed, so it is not here. What is here speaks different protocols: HTTP/1.1 has one call at a time ' +
  'on a connection, so N calls in flight are N connections; bolt, dubbo and gRPC put ten on each of N ÷ 10. JSON, ' +
  'Hessian 2 and protobuf carry the same values. Server CPU per call is what to compare; response times are those of ' +
  'a closed loop.'

/** Calls in flight. */
const FLIGHTS = exports.FLIGHTS = [50, 100]

/** Other protocols than HTTP. */
const PEERS = exports.PEERS = ['sofa-bolt', 'sofa-dubbo', 'grpc']

const METHODS = ['ping', 'parse', 'noError', 'asyncError']

/**
 * @param {object} result of rpc
 * @return {{ title: string, sections: object[] }}
 */
exports.view = function (result) {
  const { responseTimes } = result.derived
  return {
    title: 'rpc: remote calls in JSON and in Hessian',
    sections: [
      { heading: 'what is compared', text: ABOUT },
      reached(result),
      ...METHODS.flatMap(method => FLIGHTS.map(flight => calls(result, method, flight))),
      ...Object.keys(responseTimes).map(workload => ({
        heading: `${workload}: response times`, table: histogram(responseTimes[workload])
      })),
      ...FLIGHTS.map(connections => ranking(result, `hello, ${connections} connections`, {
        heading: `plain HTTP hello world, ${connections} connections`,
        references: ['node', 'koa'],
        question: 'hello'
      }))
    ]
  }
}

function calls (result, method, flight) {
  const workload = `${method}, ${flight} in flight`
  const of = (metric, contender) => rowOf(result, workload, contender, metric)
  const rows = rowsOf(result, workload)
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

// What is claimed for 50 in flight is the target for 100, too, and that of ping for a method that has no claim of its own.
function reached (result) {
  const claims = claimed('rpc', result)
  const atMost = (method, contender, to) => claims.find(one =>
    one.workload === `${method}, 50 in flight` && one.contender === contender && one.to === to)?.target
  const byHand = (method, codec) => atMost(method, `kone${codec}`, `node${codec}`) ?? atMost('ping', `kone${codec}`, `node${codec}`)
  const target = (workload, contender, to, target) => ({
    what: `${workload}: ${contender} ÷ ${to}`,
    target,
    spread: pairedRatio(rowOf(result, workload, contender)?.rounds ?? [], rowOf(result, workload, to)?.rounds ?? [])
  })
  return aims(result, {
    heading: 'targets, server CPU per call',
    targets: FLIGHTS.flatMap(flight => [
      ...['ping', 'parse'].flatMap(method => ['', '-hessian'].flatMap(codec => {
        const workload = `${method}, ${flight} in flight`
        return [
          target(workload, `kone${codec}`, `node${codec}`, byHand(method, codec)),
          ...PEERS.map(peer => target(workload, `kone${codec}`, peer, atMost('ping', 'kone', peer)))
        ]
      })),
      target(`noError, ${flight} in flight`, 'kone', 'kone-unguarded', atMost('noError', 'kone', 'kone-unguarded'))
    ])
  })
}
