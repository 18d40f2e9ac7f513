'use strict'

const { figure, picture, ratio, table } = require('./markdown')
const { commit } = require('./page')

/*
 * What README.md shows of the results, between markers: a chart, and two tables of eight rows at most.
 */

// [what, lab, workload, kone's contender]
const SET = [
  ['five middleware, hello world', 'battle', 'hello'],
  ['the whole set', 'mw', 'plain'],
  ['the whole set, a nunjucks template', 'mw', 'template'],
  ['router, the last of 500 routes', 'mw', 'router alone, last of 500'],
  ['bodyParser, POST of 200 bytes of JSON', 'front', 'post', 'kone-bodyParser'],
  ['static, a file of 100 bytes', 'mw', 'static alone'],
  ['rpc, a call in JSON', 'rpc', 'ping, 50 in flight']
]

const DROPIN = [
  ['koa-helmet, @koa/cors, koa-bodyparser, @koa/router, JSON', 'API'],
  ['the same, POST of 200 bytes of JSON', 'API, POST'],
  ['koa-helmet, etag, koa-session, koa-static, 2 KB of HTML', 'page'],
  ['koa-static, a file of 64 KB', 'koa-static, 64 KB'],
  ['`Readable.from`, 16 KB', 'Readable.from'],
  ['OpenTelemetry, instrumentation-http', 'OpenTelemetry'],
  ['`pm2 start app.js`, hello world', 'pm2']
]

const BLOCKS = { chart, set, dropin }

const ENGLISH = new Intl.ListFormat('en-GB') // a, b and c

/**
 * The text of README.md with the blocks between `<!-- NAME -->` and `<!-- /NAME -->` made from the results.
 *
 *    fill('<!-- set -->\n<!-- /set -->\n', { labs, hasChart: () => true }).text
 *
 * @param {string} text
 * @param {{ labs: Map<string, Figures[]>, hasChart: (name: string) => boolean }} from
 * @return {{ text: string, notes: string[] }} notes: a line for each block without a place
 * @throws {Error} a marker without its end
 */
exports.fill = function (text, from) {
  const notes = []
  for (const [name, make] of Object.entries(BLOCKS)) {
    const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
    const begin = text.indexOf(open)
    if (begin < 0) {
      notes.push(`README.md has no ${open}: this part is not written`)
      continue
    }
    const end = text.indexOf(close, begin)
    if (end < 0) throw new Error(`README.md: ${open} has no ${close}`)
    text = `${text.slice(0, begin + open.length)}\n${make(from)}\n${text.slice(end)}`
  }
  return { text, notes }
}

function chart ({ labs, hasChart }) {
  const [figures] = labs.get('battle') ?? []
  if (!figures || !hasChart('battle')) return NONE
  const load = figures.load(figures.judged('hello'))
  return picture({
    name: 'battle',
    folder: 'docs/reports/charts',
    alt: 'Bar chart: server CPU per request of hello world behind five middleware, kone beside bare node:http, Koa ' +
      `and other frameworks${load && `; measured by ${load}`}`
  })
}

const NONE = 'No result is committed yet: `make battle` measures on your machine.'

function set ({ labs }) {
  const lines = SET.flatMap(([what, lab, workload, kone = 'kone']) => {
    const figures = labs.get(lab)?.[0]
    const rows = figures?.judged(workload)
    const row = figures?.row(rows, kone)
    if (!row) return []
    const over = to => ratio(figures.ratio(rows, kone, to))
    return [{ figures, row, cells: [what, figure(figures.row(rows, 'koa')), figure(row), over('koa'), over('node')] }]
  })
  if (!lines.length) return NONE
  return [
    table(['CPU per request, µs', 'Koa 2', 'kone', 'kone ÷ Koa', 'kone ÷ bare `node:http`'], lines.map(({ cells }) => cells)),
    footer(lines, 'Koa with the packages that its users install, kone with [its own set](middleware/README.md)')
  ].join('\n\n')
}

function dropin ({ labs }) {
  const all = labs.get('dropin') ?? []
  const [figures] = all
  const lines = DROPIN.filter(([, workload]) => figures?.row(workload, 'kone'))
  if (!lines.length) return 'No result of unmodified packages is committed yet: `make bench-dropin` measures on your machine.'
  const older = all.slice(1)
  return [
    table(
      ['CPU per request, µs', 'Koa 2', 'kone', 'kone ÷ Koa', ...older.map(({ major }) => `on Node ${major}`)],
      lines.map(([what, workload]) => [
        what, figure(figures.row(workload, 'koa')), figure(figures.row(workload, 'kone')), ratio(figures.ratio(workload, 'kone', 'koa')),
        ...older.map(one => ratio(one.ratio(workload, 'kone', 'koa')))
      ])),
    footer(lines.map(([, workload]) => ({ figures, row: figures.row(workload, 'kone') })), 'The same published packages on both sides')
  ].join('\n\n')
}

// Where the figures come from: one line.
function footer (lines, what) {
  const nodes = [...new Set(lines.map(({ figures }) => figures.node))]
  const commits = [...new Set(lines.map(({ figures }) => commit(figures.result)))]
  const generators = [...new Set(lines.map(({ row }) => row.generator).filter(Boolean))].sort()
  const { machine } = lines[0].figures.result
  const pages = [...new Set(lines.map(({ figures }) => figures.result.lab))].map(lab => `[${lab}](docs/reports/${lab}.md)`)
  const quick = lines.some(({ figures }) => figures.result.derived?.quick) ? ' **A quick run, not a result.**' : ''
  return `${what}. Node ${nodes.join(', ')}, ${machine.cpu}, ${machine.cores} cores, commit ${commits.join(', ')}; ` +
    `${generators.length > 0 ? `load by ${ENGLISH.format(generators)}; ` : ''}medians, lowest–highest round in parentheses.${quick} ${pages.join(', ')}.`
}
