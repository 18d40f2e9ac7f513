'use strict'

const { commit, picture } = require('./page')
const { overview } = require('./tables')
const { markdown, ratio, short, two } = require('./text')
const { costOf } = require('../../labs/mw/view')
const unmodified = require('../../labs/dropin/workloads').workloads.filter(({ to }) => to === 'koa')

/*
 * What README.md shows of the results, between markers: a headline, a chart, and two tables. The first screen of the
 * documentation has the headline, too, and its three bars.
 */

// [what, lab, workload, contenders under another name]
const SET = [
  ['five middleware, hello world', 'battle', 'hello, wrk'],
  ['the whole set', 'mw', 'plain'],
  ['the whole set, a nunjucks template', 'mw', 'template'],
  ['router, the last of 500 routes', 'mw', 'router alone, last of 500'],
  ['bodyParser, POST of 200 bytes of JSON', 'front', 'post', { kone: 'kone-bodyParser' }],
  ['static, a file of 100 bytes', 'mw', 'static alone'],
  ['rpc, a call in JSON', 'rpc', 'ping, 50 in flight']
]

const DROPIN = [
  ['koa-helmet, @koa/cors, koa-bodyparser, @koa/router, JSON', 'API'],
  ['that API, POST of 200 bytes of JSON', 'API, POST'],
  ['pino-http to a file, JSON', 'pino-http'],
  ['koa-helmet, etag, koa-session, koa-static, 2 KB of HTML', 'page'],
  ['koa-static, a file of 1 KB', 'koa-static, 1 KB'],
  ['koa-static, a file of 64 KB', 'koa-static, 64 KB'],
  ['`Readable.from`, 16 KB', 'Readable.from'],
  ['OpenTelemetry, instrumentation-http', 'OpenTelemetry'],
  ['`pm2 start app.js`, hello world', 'pm2']
]

const PLAIN = 'hello, wrk' // of battle
const BARS = { kone: 'kone', node: 'node:http', koa: 'Koa 2' }
const BLOCKS = { headline, chart, set, dropin }
const NONE = 'No result is committed yet: `make battle` measures on your machine.'
const ENGLISH = new Intl.ListFormat('en-GB') // a, b and c

/** The text of README.md with the blocks between `<!-- NAME -->` and `<!-- /NAME -->` made from the results. */
exports.fill = function (text, from) {
  for (const [name, make] of Object.entries(BLOCKS)) {
    const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
    const [begin, end] = [text.indexOf(open), text.indexOf(close)]
    if (begin < 0 || end < begin) throw new Error(`README.md must have ${open} and ${close}`)
    text = `${text.slice(0, begin + open.length)}\n${make(from)}\n${text.slice(end)}`
  }
  return text
}

/** docs/index.md with the lines between `# measured` and `# /measured` of its front matter made from the results. */
exports.home = function (text, { labs }) {
  const [battle] = labs.get('battle') ?? []
  const bars = Object.entries(BARS).map(([contender, name]) => ({ name, median: battle?.row(PLAIN, contender)?.median }))
    .filter(({ median }) => median)
  const lines = [
    'measured:', `  text: ${JSON.stringify(scoped(labs) ?? NONE)}`, `  node: ${JSON.stringify(battle?.node ?? '')}`,
    '  bars:', ...bars.map(({ name, median }) => `    - { name: ${JSON.stringify(name)}, cpu: ${short(median)} }`)
  ]
  return text.replace(/(?<=^# measured\n)[\s\S]*?(?=^# \/measured$)/m, () => `${lines.join('\n')}\n`)
}

/** middleware/README.md with the last column of its table, what each middleware costs, made from the results. */
exports.costs = function (text, { labs }) {
  const [mw] = labs.get('mw') ?? []
  return text.replace(/^(\| \[(\w+)\].*\|)[^|]*\|$/gm, (row, start, name) => `${start} ${costOf(mw, name)} |`)
    .replace(/(?<=^<!-- measured -->\n)[^]*?(?=^<!-- \/measured -->$)/m, () => mw ? `${machineOf(mw)}: [mw](../docs/reports/mw.md).\n` : '')
}

const machineOf = ({ node, result }) => `Node ${node}, ${result.machine.cpu}, ${result.machine.cores} cores, commit ${commit(result)}`

function headline ({ labs }) {
  return scoped(labs) ?? NONE
}

// What kone takes of the others' CPU time, of plain requests and of published packages, with what it loses.
function scoped (labs) {
  const [battle] = labs.get('battle') ?? []
  const [dropin] = labs.get('dropin') ?? []
  const plain = ['koa', 'node'].map(to => battle?.ratio(PLAIN, 'kone', to)?.median)
  if (!plain.every(Boolean)) return undefined
  const [koa, node] = ['koa', 'node'].map(to => range(unmodified.map(({ workload }) => dropin?.ratio(workload, 'kone', to)?.median)))
  const packages = koa && node ? ` Apps of unmodified packages take ${koa} of their time on Koa 2, and ${node} of that of the same response by hand.` : ''
  return `On Node ${battle.major}, hello world behind five middleware takes ${two(plain[0])} of Koa 2’s CPU time and ` +
    `${two(plain[1])} of a bare node:http handler’s.${packages}`
}

function range (medians) {
  const known = medians.filter(Boolean)
  return known.length ? `${two(Math.min(...known))} to ${two(Math.max(...known))}` : undefined
}

function chart ({ chart }) {
  return chart ? picture('battle', chart, 'docs/reports/charts') : NONE
}

function set ({ labs }) {
  const lines = SET.map(([what, lab, workload, as]) => ({ what, workload, as, figures: labs.get(lab)?.[0] }))
    .filter(({ figures, workload, as }) => figures?.row(workload, as?.kone ?? 'kone'))
  if (!lines.length) return NONE
  const { table: [head, ...rows], notes } = overview(lines, { isBrief: true })
  const footer = source(lines, 'Koa with the packages that its users install, kone with [its own set](middleware/README.md)')
  return [markdown([['CPU per request, µs', ...head.slice(1)], ...rows]), notes.join(' '), footer].join('\n\n')
}

function dropin ({ labs }) {
  const [figures, ...older] = labs.get('dropin') ?? []
  const lines = DROPIN.filter(([, workload]) => figures?.row(workload, 'kone')).map(([what, workload]) => ({ what, workload, figures }))
  if (!lines.length) return 'No result of unmodified packages is committed yet: `make bench-dropin` measures on your machine.'
  return [
    markdown([
      ['CPU per request, µs', 'kone', '`node:http`', 'Koa 2', 'kone ÷ `node:http`', 'kone ÷ Koa', ...older.map(({ major }) => `on Node ${major}`)],
      ...lines.map(({ what, workload }) => [
        what, ...['kone', 'node', 'koa'].map(name => short(figures.row(workload, name)?.median)),
        ratio(figures.ratio(workload, 'kone', 'node')), ...[figures, ...older].map(one => ratio(one.ratio(workload, 'kone', 'koa')))
      ])
    ]),
    `${losses(lines)}${source(lines, 'The same published packages on kone and Koa 2; `node:http` is the same response by hand')}`
  ].join('\n\n')
}

function losses (lines) {
  const lost = lines.filter(({ workload, figures }) => figures.ratio(workload, 'kone', 'node')?.median > 1).map(({ what }) => what)
  return lost.length ? `kone takes more than \`node:http\` by hand in: ${lost.join('; ')}. ` : ''
}

// Where the figures come from: one line.
function source (lines, what) {
  const of = read => [...new Set(lines.map(read))]
  const results = of(({ figures }) => figures.result)
  const generators = of(({ figures, workload }) => figures.rows(workload)[0].generator).filter(Boolean).sort()
  const quick = results.some(({ derived }) => derived.quick) ? ' **A quick run, not a result.**' : ''
  return `${what}. Node ${of(({ figures }) => figures.node).join(', ')}, ${results[0].machine.cpu}, ${results[0].machine.cores} cores, commit ` +
    `${[...new Set(results.map(commit))].join(', ')}; load by ${ENGLISH.format(generators)}; medians, lowest–highest round in ` +
    `parentheses.${quick} ${results.map(({ lab }) => `[${lab}](docs/reports/${lab}.md)`).join(', ')}.`
}
