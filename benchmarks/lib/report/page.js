'use strict'

const { table: claimsOf } = require('./claims')
const { draw } = require('./charts')
const { overview } = require('./tables')
const { escape, markdown, targetOf } = require('./text')
const { median } = require('../../../command/measure/stats')

/*
 * A page of docs/reports: one lab, its committed results, and the report that it goes back to. What a lab shows is in
 * its view.js; this is the frame that all of them have.
 */

/** The most columns of a table of a page: a laptop shows them without scrolling. */
const WIDTH = 6

/**
 * The sections of a result: its first table, then what its view shows. The terminal shows them, too. A view's `overview`
 * gives the lines of the first table, `[what, workload, as]`, as tables.js takes them.
 *
 * @param {object} view
 * @param {Figures} figures
 * @return {object[]} `{ heading, text?, table?, each?, notes? }`; each: columns of a page’s table, if not as many as fit
 */
exports.sectionsOf = function (view, figures, { isBrief } = {}) {
  const { lines, ...how } = (!isBrief && view.overview?.(figures)) || {}
  const first = lines?.map(([what, workload = what, as]) => ({ figures, what, workload, as }))
  return [first && overview(first, how), ...view.sections(figures)].filter(Boolean)
}

/**
 * The page of a lab: its page.md, with the figures of the results in place of the two comments. It begins with the
 * title of its chart, or with its view's `answer`. A lab without a chart
 * shows its first table, those that are `isShown`, and what it has beside a report of other years: the terminal has the others.
 *
 * @param {object} view as `viewOf` gives it
 * @param {Figures[]} all results, the newest Node first; none where nothing is committed
 * @param {{ claims: object, age?: (hash: string) => number|null }} context age: how many commits of lib/ lie between a result
 *   and now, if that is known
 * @return {{ text: string, charts: Map<string, string> }} markdown, and SVG documents by the names of their files
 */
exports.page = function (view, all, { claims, age = () => null }) {
  const charts = new Map()
  const [figures] = all
  const chart = figures && view.chart?.(figures)
  const answer = chart?.title ?? (figures && view.answer?.(figures))
  const first = figures
    ? [
        all.some(({ result }) => result.derived.quick) && '> **Warning:** this is a quick run, for a first look. It is not a result.',
        answer && `${answer}.`,
        `${source(figures, age)}.`,
        chart && drawn(chart, figures, charts)
      ]
    : []
  const parts = figures
    ? [
        ...exports.sectionsOf(view, figures)
          .filter(({ isLast, isShown }, i) => view.chart || i === 0 || isLast || isShown).flatMap(written),
        ...claimed(claimsOf(view, all, claims), all.map(one => source(one, age)))
      ]
    : [`No result of this lab is committed. To get one: \`make ${targetOf(view.lab)}\`, which writes to \`benchmarks/out/\`; \`make results\` ` +
      'copies a complete run to `benchmarks/results/`, and `make report` makes this page from it.']
  const facts = figures ? [factsOf(all), ...remarksOf(all)] : []
  const joined = list => list.filter(Boolean).join('\n\n')
  const text = view.text.replace(/^# .*\n/, title => `${title}\n${joined(first)}\n`)
    .replace('<!-- figures -->', () => joined(parts)).replace('<!-- facts -->', () => joined(facts))
  return { text: `${text.trim()}\n`, charts }
}

const claimed = (rows, sources) => rows
  ? ['## What kone claims', 'Ratios of CPU time, or of memory, with the lowest and highest round. A *claim* is ' +
    'what every round supports, rounded up.', `${sources.join('; ')}.`, markdown(rows)]
  : []

function written ({ heading, text, table, each, notes = [] }) {
  const title = `## ${heading[0].toUpperCase()}${heading.slice(1)}`
  return [title, text, ...narrow(table, each).map(markdown), notes.map(note => `- ${note}`).join('\n')]
}

/** A table in parts of so many columns beside the first one, which each part has, with the rows that have a figure there. */
function narrow (table, each = WIDTH - 1) {
  const part = i => table.map(([what, ...cells]) => [what, ...cells.slice(i * each, (i + 1) * each)])
    .filter(([, ...cells]) => cells.some(cell => cell !== '–'))
  return Array.from({ length: Math.ceil((table[0].length - 1) / each) }, (_, i) => part(i))
}

/** A chart as two files, and the picture of both. */
function drawn (chart, figures, charts) {
  const { lab } = figures.result
  const of = source(figures).replaceAll('`', '')
  for (const [theme, svg] of Object.entries(draw({ ...chart, of }))) charts.set(`${lab}-${theme}.svg`, svg)
  return picture(lab, chart)
}

/** Where figures come from: Node, commit and date, and how many commits of lib ago that was, if that is known. */
const source = exports.source = function ({ node, result }, age = () => null) {
  const commits = result.commit ? age(result.commit.hash) : null
  const since = commits === null ? '' : `, ${commits} ${commits === 1 ? 'commit' : 'commits'} of lib ago`
  return `${result.lab === 'versions' ? 'The lab on ' : ''}Node ${node}, commit ${commit(result)} of ${result.date.slice(0, 10)}${since}`
}

/** A picture in light and dark, as HTML, which markdown takes as it is. */
const picture = (name, { title, unit }) => `<picture>
<source media="(prefers-color-scheme: dark)" srcset="./charts/${name}-dark.svg">
<img src="./charts/${name}-light.svg" alt="${escape(`Chart: ${title}; ${unit}`)}">
</picture>`

/** The commit of a result, short, and whether the checkout had changes that were not committed. */
const commit = exports.commit = ({ commit }) => commit ? `\`${commit.hash.slice(0, 9)}\`${commit.dirty ? ' with changes' : ''}` : 'unknown'

function factsOf (all) {
  const rows = [
    ['Rounds', ({ derived, rows }) => `${derived.rounds ?? rows[0].rounds.length}${lengths(rows)}${fewer(rows)}`],
    ['Machine', ({ machine }) => `${machine.cpu}, ${machine.cores} cores, ${machine.kernel}`],
    ['Command', ({ command }) => `\`${command.replace(/\S*\/(?=bin\/node\b)/, '…/')}\``],
    ['Machine during the rounds (medians)', conditions]
  ]
  return markdown([['', ...all.map(({ node }) => `Node ${node}`)], ...rows.map(([name, of]) => [name, ...all.map(({ result }) => of(result))])])
}

/** How quiet the machine was: medians of the rounds; '–' where it was not recorded. */
const conditions = exports.conditions = function ({ conditions: all }) {
  if (!all.length) return '–'
  const of = name => median(all.map(one => Number(one[name]) || 0))
  const percent = share => `${(share * 100).toFixed(1)} %`
  return `load average ${of('load').toFixed(2)}, stolen by the hypervisor ${percent(of('steal'))}, taken by other processes ${percent(of('others'))}`
}

function lengths (rows) {
  const seconds = new Set(rows.map(({ seconds }) => seconds).filter(Boolean).sort().map(String))
  return seconds.size ? `, of ${new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(seconds)} s` : ''
}

const fewer = rows => rows.some(({ isPrecise }) => isPrecise) ? '; fewer where kone ÷ Koa is precise' : ''

function remarksOf (all) {
  const items = all.flatMap(({ node, result: { missing, skipped, rejected, derived: { discarded, why } } }) => [
    ...why ? [`Its rounds differ by more than a tenth: ${why}.`] : [],
    ...missing.map(({ name, how }) => `Not measured: ${name}. ${how}`),
    ...skipped.map(({ part, reason }) => `Not measured: ${part}: ${reason}.`),
    ...rejected.map(({ workload, contender, reason }) => `Rejected: ${contender} in “${workload}”: ${reason}.`),
    ...discarded.length ? [`Rounds discarded and measured again, for errors, a busy machine, or because they break Little’s law: ${discarded.length}.`] : []
  ].map(item => all.length > 1 ? `Node ${node}: ${item}` : item))
  return [items.map(item => `- ${item}`).join('\n')]
}
