'use strict'

const { targets } = require('../../lib/report/claims')
const { aims, ranking, ratio } = require('../../lib/report/report')
const { short } = require('../../lib/report/text')
const { rowOf } = require('../../lib/run/result')
const { pairedRatio, spread } = require('../../lib/run/stats')

// The four of the first report, and both with today's promises.
const PAIRS = exports.PAIRS = [
  ['without template: koa native, kone bluebird', 'plain', 'kone-bluebird', 'koa'],
  ['without template: both bluebird', 'plain', 'kone-bluebird', 'koa-bluebird'],
  ['with nunjucks template: koa native, kone bluebird', 'template', 'kone-bluebird', 'koa'],
  ['with nunjucks template: both bluebird', 'template', 'kone-bluebird', 'koa-bluebird'],
  ['without template: both native', 'plain', 'kone', 'koa'],
  ['with nunjucks template: both native', 'template', 'kone', 'koa']
].map(([heading, workload, ours, theirs]) => ({ heading, workload, ours, theirs }))

const NOTHING = 'nothing alone'
const ABOVE = { 'csrf and session': 'session alone' } // what the cost of one is counted from, if not from nothing

/**
 * @param {object} result of mw
 * @return {{ title: string, sections: object[] }}
 */
exports.view = function (result) {
  const references = ['koa', 'koa-bluebird']
  const eras = [...new Set(result.rows.map(({ workload }) => workload))].filter(name => / Node /.test(name))
  return {
    title: 'bench-mw: every middleware on',
    sections: [
      pairs(result),
      ranking(result, 'plain', { heading: 'without template', references }),
      ranking(result, 'template', { heading: 'with nunjucks template', references }),
      ...eras.map(workload => ranking(result, workload, { heading: `2017: ${workload}`, references: ['koa-2.0.1'] })),
      costs(result),
      reached(result)
    ]
  }
}

function pairs (result) {
  const lines = PAIRS.map(({ heading, workload, ours, theirs }) => {
    const [mine, other] = [ours, theirs].map(name => rowOf(result, workload, name))
    if (!mine || !other) return [heading, 'not measured']
    const rate = row => Math.round(row.requestsPerSecond).toLocaleString('en')
    return [
      heading, rate(mine), rate(other), short(mine.median), short(other.median),
      pair(result, workload, ours, theirs)
    ]
  })
  return {
    heading: 'all middleware on',
    table: [['', 'kone req/s', 'koa req/s', 'kone CPU µs', 'koa CPU µs', 'CPU, kone ÷ koa'], ...lines]
  }
}

const pair = (result, workload, contender, to) => ratio(result, { workload, contender, to })

function costs (result) {
  result.derived.costs = []
  const workloads = [...new Set(result.rows.map(({ workload }) => workload))]
  const lines = workloads.filter(name => / alone|csrf/.test(name)).map(workload => {
    const above = ABOVE[workload] ?? NOTHING
    const rows = ['kone', 'koa'].map(name => cost(result, workload, above, name))
    const [kone, koa] = ['kone', 'koa'].map(name => rowOf(result, workload, name))
    return [
      workload,
      kone ? short(kone.median) : '–',
      koa ? short(koa.median) : '–',
      pair(result, workload, 'kone', 'koa'),
      ...rows.map(row => row && workload !== NOTHING ? row.median.toFixed(1) : '–')
    ]
  })
  if (!lines.length) return null
  return {
    heading: 'each middleware alone, CPU µs per request',
    table: [['', 'kone', 'koa', 'kone ÷ koa', 'kone: its cost', 'koa: its cost'], ...lines],
    notes: [
      'its cost: above an app with nothing but a handler; csrf: above session, which it needs',
      '– for koa: its users have no package that is commonly used'
    ]
  }
}

// What a middleware adds to a request, round by round.
function cost (result, workload, above, contender) {
  const [it, base] = [workload, above].map(name => rowOf(result, name, contender))
  if (!it || !base) return null
  const rounds = it.rounds.map((figure, i) => figure - base.rounds[i]).filter(Number.isFinite)
  const figures = { workload, contender, above, unit: 'µs/request', ...spread(rounds) }
  if (workload !== NOTHING) result.derived.costs.push(figures)
  return figures
}

function reached (result) {
  const rounds = workload => rowOf(result, workload, 'kone')?.rounds ?? []
  const session = result.derived.costs?.find(one =>
    one.workload === 'session alone' && one.contender === 'kone')
  return aims(result, {
    heading: 'targets, both sides with native promises',
    targets: [
      ...targets('mw', result),
      {
        what: 'router, last of 500 ÷ the only one',
        target: 1.5,
        spread: pairedRatio(rounds('router alone, last of 500'), rounds('router alone'))
      },
      { what: 'untouched session, µs', target: 3, spread: session }
    ]
  })
}
