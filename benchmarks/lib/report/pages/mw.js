'use strict'

const { beside, figure, list, ratio, table, two, whole } = require('../markdown')
const { ratios } = require('../drawn')
const { bars } = require('../svg')

// Of the report, requests per second, mean ms and bytes per second: [pair, workload here, contenders here, kone, koa]
const PAIRS = [
  ['no template: Koa with native promises, kone with bluebird', 'plain', ['kone-bluebird', 'koa'],
    [3467, 28.34, 1.06e6], [1313.4, 75.22, 208_900]],
  ['no template: both with bluebird', 'plain', ['kone-bluebird', 'koa-bluebird'], [3197.4, 30.77, 996_150], [2466.4, 40.05, 394_850]],
  ['nunjucks template: Koa with native promises, kone with bluebird', 'template', ['kone-bluebird', 'koa'],
    [1526.8, 64.67, 543_950], [1282.6, 76.94, 220_360]],
  ['nunjucks template: both with bluebird', 'template', ['kone-bluebird', 'koa-bluebird'], [1503, 65.56, 539_030], [1438, 68.73, 246_580]],
  ['the same, run again', 'template', ['kone-bluebird', 'koa-bluebird'], [1532.6, 64.57, 558_690], [1406, 70.49, 240_030]]
]
const TODAY = [
  ['no template: both with native promises', 'plain', ['kone', 'koa']],
  ['nunjucks template: both with native promises', 'template', ['kone', 'koa']]
]
const FLOOR = 'nothing alone'

module.exports = {
  lab: 'mw',
  title: 'Every middleware on',
  what: 'An app with the whole set: jsonp, router, logger, static, bodyParser, session, i18n, cors, csrf, helmet, ' +
    'favicon and a template. kone has its own set, Koa the packages that its users install. Then each middleware ' +
    'alone, beside its twin and beside an app with nothing but a handler.',
  run: 'make bench-mw',
  method: 'Both sides get the same request, of somebody who has signed in, and must respond with the same value: ' +
    'that is compared before a clock starts. Both loggers write to `/dev/null`. What counts is the server’s CPU time ' +
    'per request; a ratio is paired round by round.',

  trend: [
    { what: 'whole set ÷ koa', of: figures => figures.ratio('plain', 'kone', 'koa') },
    { what: 'with template ÷ koa', of: figures => figures.ratio('template', 'kone', 'koa') }
  ],

  charts: figures => [wholeSet(figures), ratios(figures, aloneOf(figures), {
    name: 'mw-alone',
    title: 'Each middleware alone: kone ÷ Koa',
    to: 'koa',
    label: 'Koa',
    nameOf,
    isSorted: true
  })],

  sections: (figures, { others }) => [
    pairs(figures),
    costs(figures),
    versions([figures, ...others]),
    ...eras(figures),
    report(figures),
    impossible()
  ],

  original: () => [{ heading: 'The original report', body: originals() }, impossible()]
}

function wholeSet (figures) {
  const rows = ['plain', 'template'].flatMap(workload => ['kone', 'koa'].map(name => [workload, figures.row(workload, name)])).filter(([, row]) => row)
  if (!rows.length) return null
  return {
    name: 'mw',
    above: true,
    alt: 'Bar chart: server CPU per request with every middleware on, kone and Koa, without and with a template',
    ...bars({
      title: `Every middleware on, Node ${figures.major}`,
      subtitle: 'server CPU per request, µs: shorter is better. Bars are medians, whiskers the lowest and the ' +
        'highest round.',
      unit: 'µs per request',
      rows: rows.map(([workload, { contender, median, min, max }]) => ({
        label: `${contender}, ${workload === 'plain' ? 'no template' : 'with a template'}`, median, min, max, kind: contender === 'kone' ? 'ours' : 'theirs'
      }))
    })
  }
}

const aloneOf = figures => figures.workloads.filter(workload => figures.ratio(workload, 'kone', 'koa') && !['plain', 'template'].includes(workload))

const nameOf = workload => workload === FLOOR ? 'a handler alone' : workload.replace(' alone', '')

function pairs (figures) {
  const lines = [...TODAY, ...PAIRS.slice(0, 4)].map(([what, workload, [ours, theirs]]) => {
    const [kone, koa] = [ours, theirs].map(name => figures.row(workload, name))
    return kone && koa && [what, whole(kone.requestsPerSecond), whole(koa.requestsPerSecond), figure(kone), figure(koa),
      ratio(figures.ratio(workload, ours, theirs))]
  }).filter(Boolean)
  if (!lines.length) return null
  return {
    heading: 'Measured: the whole set',
    body: [
      table(['', 'kone, requests/s', 'Koa, requests/s', 'kone, CPU µs', 'Koa, CPU µs', 'CPU, kone ÷ Koa'], lines),
      ...rendering(figures)
    ]
  }
}

// Why the template costs what it costs. The figures that are written here are of micro/template.js and of a CPU profile.
function rendering (figures) {
  const inAll = figures.ratio('template', 'kone', 'kone', { toWorkload: 'plain' })
  if (!inAll) return []
  return [
    `With the template, a request costs kone ${ratio(inAll)} times what it costs without. Rendering this page in a loop takes ` +
    'nunjucks alone 2.5 µs on Node 26 and 3.4 µs on Node 20, and `template` 1.3 µs and 1.4 µs, because its variables are ' +
    'in a scope that V8 optimises (the fastest rounds of `node benchmarks/micro/template.js`). In CPU profiles of the whole ' +
    'set under load, 1.5 to 2.4 µs of each request on Node 26 and 2.2 to 2.5 µs on Node 20 are in nunjucks, for escaping, ' +
    'variables and the page itself; 0.7 to 1.2 µs and 1.0 to 1.1 µs are in `template`. The time for the `write` of a response ' +
    'differs by more than these from one profile to the next.'
  ]
}

function costs (figures) {
  const workloads = aloneOf(figures)
  if (!workloads.length) return null
  const derived = figures.result.derived?.costs ?? []
  const cost = (workload, contender) => {
    const found = derived.find(one => one.workload === workload && one.contender === contender)
    return found ? found.median.toFixed(1) : '–'
  }
  return {
    heading: 'Measured: each middleware alone',
    body: [
      table(['', 'kone, CPU µs', 'Koa, CPU µs', 'kone ÷ Koa', 'it adds, kone', 'it adds, Koa'], workloads.map(workload => [
        nameOf(workload),
        figure(figures.row(workload, 'kone')),
        figure(figures.row(workload, 'koa')),
        ratio(figures.ratio(workload, 'kone', 'koa')),
        cost(workload, 'kone'),
        cost(workload, 'koa')
      ])),
      '*It adds*: the CPU time above an app with nothing but a handler, µs; for csrf above session, which it needs.'
    ]
  }
}

function versions (all) {
  if (all.length < 2) return null
  return {
    heading: 'By version of Node',
    body: table(['Node', 'whole set ÷ Koa', 'with a template ÷ Koa'], all.map(figures =>
      [figures.node, ratio(figures.ratio('plain', 'kone', 'koa')), ratio(figures.ratio('template', 'kone', 'koa'))]))
  }
}

function eras (figures) {
  return figures.workloads.filter(workload => /^(?:plain|template), Node /.test(workload)).map(workload => ({
    heading: `The packages of 2017: ${workload}`,
    body: table(['', 'requests/s', 'CPU µs/request'], figures.rows(workload).map(row => [row.contender, whole(row.requestsPerSecond), figure(row)]))
  }))
}

function originals () {
  return [
    'kone’s first report, of 2017, measured both sides by autocannon with 100 connections for five seconds, one run ' +
    'each, on a laptop with two cores at 1.4 GHz. Requests per second, and the mean latency:',
    table(['', 'kone', 'Koa', 'kone ÷ Koa'], PAIRS.map(([what, , , kone, koa]) =>
      [what, `${whole(kone[0])} (${kone[1]} ms)`, `${whole(koa[0])} (${koa[1]} ms)`, two(kone[0] / koa[0])]))
  ]
}

function report (figures) {
  const [[, , , , native], [, , , , bluebird]] = PAIRS
  const lines = PAIRS.slice(0, 4).map(([what, workload, [ours, theirs], kone, koa]) => [
    what,
    two(kone[0] / koa[0]),
    ratio(figures.ratio(workload, ours, theirs, { metric: 'throughput' })),
    ratio(figures.ratio(workload, theirs, ours))
  ])
  return {
    heading: 'Beside the original report',
    body: [
      ...originals(),
      'Ratio by ratio; above 1, kone is better:',
      table(['', 'report, requests/s', 'here, requests/s', 'here, CPU: Koa ÷ kone'], lines),
      'Koa with bluebird ÷ Koa with native promises, in the report on Node 6 and here. The report’s cost is 1 ÷ ' +
      'requests per second:',
      beside(promises(figures).map(([what, here]) => ({ what, report: native[0] / bluebird[0], here })),
        { report: 'report, cost', here: 'here, CPU (lowest–highest round)' })
    ]
  }
}

// Koa with bluebird ÷ Koa with native promises: today, and on the Node of the report where the run had --era.
function promises (figures) {
  const eras = figures.workloads.filter(workload => workload.startsWith('plain, Node '))
  return [
    ...eras.map(workload =>
      [`Koa 2.0.1, ${workload.slice('plain, '.length)}`, figures.ratio(workload, 'koa-2.0.1-bluebird', 'koa-2.0.1')]),
    [`Koa today, Node ${figures.major}`, figures.ratio('plain', 'koa-bluebird', 'koa')]
  ]
}

function impossible () {
  const size = ([rate, , bytes]) => Math.round(bytes / rate)
  const [[, , , kone, koa], both, template] = PAIRS
  return {
    heading: 'Where the report cannot be true',
    body: list([
      `**The two sides sent different responses.** Bytes per second ÷ requests per second is ${size(kone)} bytes ` +
      `from kone and ${size(koa)} from Koa. The bodies differ by a few letters (\`xxx("aaa");\` and ` +
      '`;xxx("hello");`), so the rest is headers: those of helmet, cors and the session were in kone’s response and ' +
      'not, or not all, in Koa’s. Koa did less work, and was slower even so.',
      '**The templates were not the same**: `<h2>kone is a framework base on Koa2 for node.js</h2>` beside ' +
      `\`<h2>aaa</h2>\` (${size(template[3])} and ${size(template[4])} bytes for each response).`,
      `**“kone is still 24 % faster with bluebird on both sides”**: its own table says ${whole(both[3][0])} to ` +
      `${whole(both[4][0])}, which is ${Math.round((both[3][0] / both[4][0] - 1) * 100)} %.`,
      '**“With a dozen middleware less than 2,000 requests a second”**: with a template, yes; without one its own ' +
      `table has ${whole(kone[0])}.`,
      '**“With a template both are about equal”** is of one run of five seconds each: the same pair, run twice, gave ' +
      `${two(PAIRS[3][3][0] / PAIRS[3][4][0])} and ${two(PAIRS[4][3][0] / PAIRS[4][4][0])}. The report says itself ` +
      'that kone’s rendering was not optimised yet.'
    ])
  }
}
