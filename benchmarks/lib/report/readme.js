'use strict'

const { among } = require('./comparisons')
const { source } = require('./page')
const { markdown, short, two } = require('./text')
const { median } = require('../../../command/measure/stats')
const { costOf } = require('../../labs/mw/view')
const { workloads } = require('../../labs/dropin/workloads')

/*
 * What README.md and the first page of the documentation show of the results: a sentence that all of them support, and a
 * table of four rows; and the costs of middleware/README.md. A result of older code is left out.
 */

/**
 * The most commits of lib/ that may lie between a result and the page that shows it. `labs/compare --ref`, eight rounds, quiet,
 * found no difference above the spread over 47 of them: hello 0.99 (0.90–1.12), every middleware 0.97 (0.87–1.22).
 */
const MAX_AGE = 90

const NGINX = 'nginx with its defaults'
const ABOUT = new Map(workloads.map(({ workload, about }) => [workload, about]))
const FRAMEWORKS = new Set(workloads.filter(({ app }) => app?.isFramework).map(({ workload }) => workload))

/** The rows whose figures `make results` wants to be steady: lab → workload of the table, or else of the lab's own chart. */
exports.HEADLINES = { dropin: ['API'], mw: ['plain'], battle: ['hello, wrk', NGINX], front: ['hello'] }

/**
 * The results as the two pages need them.
 *
 * @param {Map<string, Figures[]>} labs
 * @param {(hash: string) => number|null} age how many commits of lib/ lie between a result and now, if that is known
 * @param {object[]} compared kone beside each other server
 */
exports.Shown = class Shown {
  constructor (labs, age, compared) {
    this.compared = compared
    this.age = ({ result }) => result.commit ? age(result.commit.hash) : null
    this.of = figures => source(figures, age)
    const isNew = figures => (this.age(figures) ?? 0) <= MAX_AGE
    this.newest = lab => labs.get(lab)?.slice(0, 1).filter(isNew)[0]
    this.ratios = [...labs.values()].flat().filter(isNew).flatMap(beside)
  }
}

// kone ÷ Koa 2 in every workload that has both, of one suffix, on every Node.
function beside (figures) {
  return figures.ours.flatMap(({ name, suffix }) => figures.workloads.map(workload => figures.ratio(workload, name, `koa${suffix}`)))
    .filter(Boolean).map(ratio => ratio.median)
}

/** The text of README.md with the blocks between `<!-- NAME -->` and `<!-- /NAME -->` made from the results. */
exports.fill = (text, { shown }) =>
  replaced(replaced(text, 'README.md', 'headline', `**${sentence(shown)}**`), 'README.md', 'table', table(shown, 'docs/'))

/** docs/index.md with the sentence in its front matter, between `# measured` and `# /measured`, and the table. */
exports.home = function (text, { shown }) {
  const [what, how] = sentence(shown).split(': ')
  const lines = [`  text: ${JSON.stringify(what)}`, `  tagline: ${JSON.stringify(how[0].toUpperCase() + how.slice(1))}`]
  const made = text.replace(/(?<=^ *# measured\n)[\s\S]*?(?=^ *# \/measured$)/m, () => `${lines.join('\n')}\n`)
  return replaced(made, 'docs/index.md', 'table', table(shown, ''))
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

// The median of all measurements beside Koa: in words only while it is about that.
function sentence ({ ratios }) {
  const all = ratios.length ? median(ratios) : NaN
  const share = Math.abs(all - 0.5) < 0.05 ? 'about half' : `${Math.round(all * 100)} %`
  return 'A web framework for Node with Koa 2’s API, on an HTTP/1.1 server of its own: runs unmodified Koa apps and middleware' +
    `${ratios.length ? `, at ${share} of Koa’s CPU time per request (median)` : ''}.`
}

function table (shown, base) {
  const lines = rows(shown)
  if (!lines.length) return 'No result of this code is committed: `make battle` measures on your machine.'
  const reports = `${base}reports/README.md`
  return [
    markdown([['CPU time per request', 'Koa 2, µs', 'kone, µs', 'kone ÷ Koa 2'], ...lines.map(({ figures, workload, what }) => [
      `[${what}](${base}reports/${figures.result.lab}.md)`,
      ...['koa', 'kone'].map(name => short(figures.row(workload, name).median)), two(figures.ratio(workload, 'kone', 'koa').median)
    ])]),
    `**[Where it loses](${reports}#where-kone-takes-more)** in CPU time, memory or latency: ${losses(shown)}. The time of your own handlers and ` +
    `of your database stays the same. All figures are medians: [all results](${reports}).` +
    `${lines.some(({ figures }) => figures.result.derived.quick) ? ' **A quick run, not a result.**' : ''}`
  ].join('\n\n')
}

const WORST = 3

// In words, the worst beside Koa 2 by name.
function losses ({ compared }) {
  const beside = kind => {
    const { all, lost } = among(compared, kind)
    return all.length ? { lost, share: `to ${kind} in ${lost.length || 'none'} of ${all.length}` } : null
  }
  const [koa, ...others] = ['Koa 2', '`node:http` by hand', 'nginx'].map(beside)
  const worst = koa.lost.slice(0, WORST).map(({ what, median }) => `${what.replace(/^\w+: /, '')}: ${two(median)}`).join('; ')
  return [`${koa.share} comparisons${worst && ` (${worst})`}`, ...others.filter(Boolean).map(({ share }) => share)].join(', ')
}

// An API of packages; the worst whole framework; the set in place of packages; hello world behind nginx.
function rows ({ newest }) {
  const ratioOf = ([lab, workload]) => newest(lab)?.ratio(workload, 'kone', 'koa')
  const whole = [...FRAMEWORKS].filter(workload => ratioOf(['dropin', workload]))
  const [worst] = whole.sort((a, b) => ratioOf(['dropin', b]).median - ratioOf(['dropin', a]).median)
  return [
    ['dropin', 'API', `an ${ABOUT.get('API').replace('API:', 'API of').replace(', JSON', '')}`],
    ['dropin', worst, `the worst of ${whole.length} whole frameworks: ${ABOUT.get(worst)?.split(/, | \(/)[0]}`],
    ['mw', 'plain', 'a site, with kone’s middleware in place of 11 packages'],
    ['battle', NGINX, 'hello world behind nginx with its defaults']
  ].filter(ratioOf).map(([lab, workload, what]) => ({ figures: newest(lab), workload, what }))
}
