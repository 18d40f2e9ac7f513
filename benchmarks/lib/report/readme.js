'use strict'

const { picture, source } = require('./page')
const { markdown, ratio, short, two } = require('./text')
const { median } = require('../../../command/measure/stats')
const { costOf } = require('../../labs/mw/view')
const { workloads } = require('../../labs/dropin/workloads')

/*
 * What README.md and the first page of the documentation show of the results: a sentence that all of them support, a
 * chart, and a table of four rows; and the costs of middleware/README.md. A result of older code is left out.
 */

/** The most commits of lib/ that may lie between a result and the page that shows it. */
const MAX_AGE = 60

const PLAIN = 'hello, wrk' // of battle
const BARS = { kone: 'kone', node: 'node:http', koa: 'Koa 2' }
const NONE = 'No result is committed yet: `make battle` measures on your machine.'

const ABOUT = new Map(workloads.map(({ workload, about }) => [workload, about.replace(/^the API under /, '')]))
const AGENTS = new Set(workloads.filter(({ agent, load }) => agent || load).map(({ workload }) => workload))
const FRAMEWORKS = new Set(workloads.filter(({ app }) => app?.isFramework).map(({ workload }) => workload))

/**
 * The results as the two pages need them.
 *
 * @param {Map<string, Figures[]>} labs
 * @param {(hash: string) => number|null} age how many commits of lib/ lie between a result and now, if that is known
 */
exports.Shown = class Shown {
  constructor (labs, age) {
    this.age = ({ result }) => result.commit ? age(result.commit.hash) : null
    this.of = figures => source(figures, age)
    const isNew = figures => (this.age(figures) ?? 0) <= MAX_AGE
    const all = [...labs.values()].flat()
    const newest = lab => labs.get(lab)?.slice(0, 1).filter(isNew)[0]
    this.isEmpty = !all.length
    this.battle = newest('battle')
    this.dropin = newest('dropin')
    this.compared = { koa: compared(all, 'koa', isNew), node: compared(all, 'node', isNew) }
  }
}

// kone ÷ another in every workload that has both, of one suffix, on every Node, the least first.
function compared (all, to, isNew) {
  return all.flatMap(figures => figures.ours.flatMap(({ name, suffix, isVersion, node }) => figures.workloads.map(workload => ({
    ...figures.ratio(workload, name, to + suffix),
    what: `${nameOf(figures, workload)}${isVersion ? '' : suffix.replace('-', ', ')}, Node ${node}`,
    isNew: isNew(figures)
  })))).filter(({ median }) => median).sort((a, b) => a.median - b.median)
}

function nameOf ({ result: { lab } }, workload) {
  return lab === 'dropin' ? ABOUT.get(workload) ?? workload : `${lab}, ${workload}`
}

const BLOCKS = { headline, chart, table }

/** The text of README.md with the blocks between `<!-- NAME -->` and `<!-- /NAME -->` made from the results. */
exports.fill = (text, from) => Object.entries(BLOCKS).reduce((text, [name, make]) => replaced(text, 'README.md', name, make(from)), text)

/** docs/index.md with its front matter between `# measured` and `# /measured`, and its table, made from the results. */
exports.home = function (text, { shown }) {
  const { battle } = shown
  const bars = Object.entries(BARS).map(([contender, name]) => ({ name, median: battle?.row(PLAIN, contender)?.median }))
    .filter(({ median }) => median)
  const lines = [
    'measured:', `  text: ${JSON.stringify(headline({ shown }).replaceAll(/\[([^\]]*)\]\([^)]*\)|`/g, '$1'))}`,
    `  of: ${JSON.stringify(battle ? `${shown.of(battle)}.`.replaceAll('`', '') : '')}`,
    `  bars:${bars.length ? '' : ' []'}`, ...bars.map(({ name, median }) => `    - { name: ${JSON.stringify(name)}, cpu: ${short(median)} }`)
  ]
  const made = text.replace(/(?<=^# measured\n)[\s\S]*?(?=^# \/measured$)/m, () => `${lines.join('\n')}\n`)
  return replaced(made, 'docs/index.md', 'table', table({ shown, base: '' }))
}

function replaced (text, file, name, made) {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const [begin, end] = [text.indexOf(open), text.indexOf(close)]
  if (begin < 0 || end < begin) throw new Error(`${file} must have ${open} and ${close}`)
  return `${text.slice(0, begin + open.length)}\n${made}\n${text.slice(end)}`
}

/** middleware/README.md with the last column of its table, what each middleware costs, made from the results. */
exports.costs = function (text, { labs, shown }) {
  const [mw] = labs.get('mw') ?? []
  const { cpu, cores } = mw?.result.machine ?? {}
  return text.replace(/^(\| \[(\w+)\].*\|)[^|]*\|$/gm, (row, start, name) => `${start} ${costOf(mw, name)} |`)
    .replace(/(?<=^<!-- measured -->\n)[^]*?(?=^<!-- \/measured -->$)/m, () => mw ? `[mw](../docs/reports/mw.md): ${shown.of(mw)}; ${cpu}, ${cores} cores.\n` : '')
}

// What kone takes of the others' CPU time in every measurement: the range, the median, the best and the worst by name.
function headline ({ shown: { compared, isEmpty } }) {
  if (isEmpty) return NONE
  const reports = '[The reports](docs/reports/README.md)'
  const old = Object.values(compared).flatMap(all => all.filter(({ isNew }) => !isNew))
  const said = [['koa', 'of Koa 2’s CPU time per request'], ['node', 'of the same by hand on node:http']].flatMap(([to, what]) => {
    const all = compared[to].filter(({ isNew }) => isNew)
    return all.length
      ? [`${two(all[0].median)} to ${two(all.at(-1).median)} ${what}, ${two(median(all.map(one => one.median)))} in the median of ${all.length} ` +
      `measurements; least in “${all[0].what}”, most in “${all.at(-1).what}”`]
      : []
  })
  const most = old.reduce((most, one) => one.median > most.median ? one : most, { median: 0 })
  const older = old.length ? `${reports} have ${old.length} measurements of code that is more than ${MAX_AGE} commits of lib older, up to ${two(most.median)} in “${most.what}”.` : ''
  if (!said.length) return `No result of this code is committed: \`make battle\` measures on your machine. ${older}`.trim()
  return [`kone takes ${said.join('. It takes ')}.`, older].filter(Boolean).join(' ')
}

function chart ({ shown: { battle }, chart }) {
  return battle && chart ? picture('battle', chart, 'docs/reports/charts') : ''
}

function table ({ shown, base = 'docs/' }) {
  const lines = rows(shown)
  if (!lines.length) return ''
  const labs = new Map(lines.map(({ figures }) => [figures.result.lab, figures]))
  const page = lab => `[${lab}](${base}reports/${lab}.md)`
  const { machine } = lines[0].figures.result
  const isQuick = [...labs.values()].some(({ result }) => result.derived.quick)
  return [
    markdown([['÷ Koa 2', '÷ node:http', 'what it is'], ...lines.map(({ koa, node, what, figures }) => [koa, node, `${what} (${figures.result.lab})`])]),
    'CPU time per request of kone ÷ that of Koa 2, and of the same response by hand; medians, lowest–highest round in parentheses. ' +
      `${[...labs].map(([lab, figures]) => `${page(lab)}: ${shown.of(figures)}`).join('; ')}. ${machine.cpu}, ${machine.cores} cores.` +
      `${isQuick ? ' **A quick run, not a result.**' : ''}`
  ].join('\n\n')
}

// Hello world; an API of unmodified packages; the best and the worst of whole frameworks, and of agents.
function rows ({ battle, dropin }) {
  const loads = to => spreadOf(battle.workloads.map(workload => battle.ratio(workload, 'kone', to)))
  const line = (figures, workload, what) => {
    if (!figures?.ratio(workload, 'kone', 'koa')) return []
    return [{ figures, what, koa: ratio(figures.ratio(workload, 'kone', 'koa')), node: ratio(figures.ratio(workload, 'kone', 'node')) }]
  }
  return [
    ...line(battle, PLAIN, battle && `hello world behind five middleware, ${battle.load(PLAIN)}; over all loads ${loads('koa')} and ${loads('node')}`),
    ...line(dropin, 'API', ABOUT.get('API')?.replace('API:', 'an API of')),
    ...extremes(dropin, FRAMEWORKS, 'whole framework'),
    ...extremes(dropin, AGENTS, 'agent')
  ]
}

function spreadOf (ratios) {
  const medians = ratios.filter(Boolean).map(({ median }) => median)
  return medians.length ? `${two(Math.min(...medians))}–${two(Math.max(...medians))}` : '–'
}

function extremes (figures, set, kind) {
  const all = (figures?.workloads ?? []).filter(workload => set.has(workload)).map(workload => ({
    name: ABOUT.get(workload) ?? workload, koa: figures.ratio(workload, 'kone', 'koa'), node: figures.ratio(workload, 'kone', 'node')
  })).filter(({ koa }) => koa).sort((a, b) => a.koa.median - b.koa.median)
  if (!all.length) return []
  const ends = [...new Set([all[0], all.at(-1)])]
  const node = ends.filter(({ node }) => node).map(({ name, node }) => ends.length > 1 ? `${name}: ${ratio(node)}` : ratio(node))
  const what = ends.length > 1 ? `the best and the worst ${kind} of ${all.length}: ${ends.map(({ name }) => name).join('; ')}` : `${kind}: ${all[0].name}`
  return [{ figures, what, koa: ends.map(({ koa }) => ratio(koa)).join(' to '), node: node.join(', ') || '–' }]
}
