'use strict'

const { ratios } = require('../../lib/report/findings')
const { beside, ranking } = require('../../lib/report/tables')
const { ratio, short } = require('../../lib/report/text')
const { median } = require('../../../command/measure/stats')

// The four of the first report, with its requests per second of kone and Koa; ours are with today's promises.
const PAIRS = [
  ['without template: koa native, kone bluebird', 'plain', 'kone-bluebird', 'koa', 3467, 1313.4],
  ['without template: both bluebird', 'plain', 'kone-bluebird', 'koa-bluebird', 3197.4, 2466.4],
  ['with nunjucks template: koa native, kone bluebird', 'template', 'kone-bluebird', 'koa', 1526.8, 1282.6],
  ['with nunjucks template: both bluebird', 'template', 'kone-bluebird', 'koa-bluebird', 1503, 1438]
]

const NOTHING = 'nothing alone'
const ABOVE = { 'csrf and session': 'session alone' } // what the cost of one is counted from, if not from nothing
const aloneOf = figures => figures.workloads.filter(name => / alone|csrf/.test(name))
const WHOLE = { [NOTHING]: 'a handler alone', plain: 'the whole set', template: 'the whole set, with a template' }
const nameOf = workload => WHOLE[workload] ?? workload.replace(' alone', '')

exports.claims = [
  ['the whole middleware set ÷ Koa 2 with its packages', 'plain', 'koa'],
  ['the whole set with a nunjucks template ÷ Koa 2 with its packages', 'template', 'koa'],
  ['a static file of 100 bytes ÷ hello world', 'static alone', 'kone', { toWorkload: NOTHING }],
  ['router, last of 500 routes ÷ the only one', 'router alone, last of 500', 'kone', { toWorkload: 'router alone' }]
]

exports.chart = figures => ratios(figures, ['plain', 'template', ...aloneOf(figures)], { what: 'The set, and each middleware alone', to: 'koa', nameOf })

exports.overview = figures => ({ lines: ['plain', 'template', ...aloneOf(figures)].map(workload => [nameOf(workload), workload]) })

exports.sections = figures => [
  ranking(figures, 'plain', { heading: 'without template', to: ['koa', 'koa-bluebird'] }),
  ranking(figures, 'template', { heading: 'with nunjucks template', to: ['koa', 'koa-bluebird'] }),
  alone(figures),
  report(figures)
]

function alone (figures) {
  const workloads = aloneOf(figures)
  if (!workloads.length) return null
  const hasPackages = figures.names.includes('kone-packages')
  return {
    heading: 'each middleware alone, CPU µs per request',
    table: [
      ['', 'kone', 'koa', 'kone ÷ koa', 'its cost: kone / koa', ...hasPackages ? ['kone ÷ kone with the package'] : []],
      ...workloads.map(workload => [
        nameOf(workload),
        ...['kone', 'koa'].map(name => short(figures.row(workload, name)?.median)),
        ratio(figures.ratio(workload, 'kone', 'koa')),
        ['kone', 'koa'].map(name => added(figures, workload, name)).join(' / '),
        ...hasPackages ? [ratio(figures.ratio(workload, 'kone', 'kone-packages'))] : []
      ])
    ],
    notes: [
      'its cost: above an app with nothing but a handler; csrf: with bodyParser, which reads its token, above session',
      ...hasPackages ? ['a handler alone, last column: the same app in two processes; as much can be by chance elsewhere'] : [],
      '– for koa: its users have no package that is commonly used',
      'static: kone keeps the file in memory and looks at the disk every 500 ms; koa-static opens and reads it for every request',
      'static, changed: a file that changes before every request; kone looks at the disk for each, too (`dev`)',
      ...figures.notes(workloads)
    ]
  }
}

/** What a middleware costs in a request that it acts on, µs as text: for the table of `middleware/README.md`. */
exports.costOf = (figures, name) => added(figures, name === 'csrf' ? 'csrf and session' : `${name} alone`, 'kone').replace(/^-.*/, '0.0')

function added (figures, workload, name) {
  const [it, base] = [workload, ABOVE[workload] ?? NOTHING].map(one => figures?.row(one, name))
  if (!it || !base || workload === NOTHING) return '–'
  return median(it.rounds.map((figure, i) => figure - base.rounds[i]).filter(Number.isFinite)).toFixed(1)
}

function report (figures) {
  return {
    ...beside(['', 'report, requests/s', 'here, requests/s', 'here, CPU: Koa ÷ kone'], [
      ...PAIRS.map(([heading, workload, ours, theirs, kone, koa]) =>
        [heading, kone / koa, figures.ratio(workload, ours, theirs, { metric: 'throughput' }), figures.ratio(workload, theirs, ours)]),
      [`Koa, Node ${figures.major}: cost with bluebird ÷ native`, 1313.4 / 2466.4, '–', figures.ratio('plain', 'koa-bluebird', 'koa')]
    ]),
    text: 'Ratio by ratio; above 1, kone is better. The last line is of Koa alone; there the report’s cost is 1 ÷ requests per second.'
  }
}
