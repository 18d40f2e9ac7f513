'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { measured, updated } = require('./claims')
const { BESIDE, among, comparisons } = require('./comparisons')
const { newest } = require('./figures')
const { commit, page } = require('./page')
const readme = require('./readme')
const { markdown, ratio } = require('./text')

/** The labs that have a page, in the order of the index; and those that share one. */
const PAGES = ['battle', 'mw', 'dropin', 'front']
const OTHERS = ['static', 'connections', 'versions']
exports.LABS = [...PAGES, ...OTHERS]

const FOLDER = 'docs/reports'
const unknown = () => null

/** What a lab shows: its view.js, and the text of its page. */
const viewOf = exports.viewOf = function (lab) {
  const folder = path.join(__dirname, '../../labs', lab)
  const text = fs.readFileSync(path.join(folder, 'page.md'), 'utf8')
  return { lab, title: /^# (.*)/.exec(text)[1], text, ...require(path.join(folder, 'view')) }
}

/**
 * All that people look at, made of committed results: README.md, the site's first screen, docs/reports/ and its charts;
 * with the claims, those that results break, and notes.
 */
exports.generate = function ({ results, readme: text, home, set, claims: kept, accept, age = unknown }) {
  const labs = newest(results)
  const views = exports.LABS.map(lab => ({ ...viewOf(lab), all: labs.get(lab) ?? [] }))
  const compared = views.flatMap(({ all }) => all.slice(0, 1)).flatMap(comparisons)
  const shown = new readme.Shown(labs, age, compared)
  const { claims, broken } = updated(views.flatMap(view => measured(view, view.all)), kept, { accept })
  const files = new Map()
  const pages = views.map(view => ({ ...view, ...page(view, view.all, { claims, age }) }))
  for (const { lab, text, charts } of pages.filter(({ lab }) => PAGES.includes(lab))) {
    files.set(`${FOLDER}/${lab}.md`, text)
    for (const [name, svg] of charts) files.set(`${FOLDER}/charts/${name}`, svg)
  }
  files.set(`${FOLDER}/others.md`, together(pages.filter(({ lab }) => OTHERS.includes(lab))))
  files.set(`${FOLDER}/README.md`, index(views, claims, shown, compared))
  files.set('README.md', readme.fill(text, { shown }))
  if (home) files.set('docs/index.md', readme.home(home, { shown }))
  if (set) files.set('middleware/README.md', readme.costs(set, { labs, shown }))
  const notes = views.filter(({ all }) => !all.length).map(({ lab }) => `${lab}: no result is committed; its page says so`)
  return { files, claims, broken, notes }
}

const together = pages => `# Other labs

What kone takes as a server of files, of thousands of connections, and on the versions of Node. Each lab prints more tables
than are here.

${pages.map(({ text }) => text.replace(/^#/gm, '##')).join('\n')}`

/** The ages of results as the index of the reports has them: how many commits of lib/ lay between each and the page. */
exports.agesOf = function (index) {
  const ages = new Map([...index.matchAll(/`(\w{9})`[^|]*\| \S+ \| (\d+) \|$/gm)].map(([, hash, age]) => [hash, Number(age)]))
  return hash => ages.get(hash.slice(0, 9)) ?? null
}

/** whether a file of docs/reports is one of those that are made here */
exports.isGenerated = file => ['.md', '.svg'].includes(path.extname(file))

function index (views, claims, shown, compared) {
  const claimed = (lab, on) => Object.entries(claims).filter(([name, nodes]) => name.startsWith(`${lab}: `) && on in nodes).length
  const row = (lab, figures) => {
    const { node, major, result } = figures ?? {}
    if (!figures) return ['no result', '0', '–', '–', '–']
    return [node, String(claimed(lab, major)), commit(result), result.date.slice(0, 10), String(shown.age(figures) ?? '–')]
  }
  const link = ({ lab, title }) => OTHERS.includes(lab) ? `others.md#${title.toLowerCase().replaceAll(' ', '-')}` : `${lab}.md`
  const rows = view => (view.all.length ? view.all : [null]).map(figures => [`[${view.title}](./${link(view)})`, ...row(view.lab, figures)])
  return `${[
    '# Reports',
    compared.length && 'In how many comparisons kone takes less than another server of the same run: CPU time, memory or latency (99th percentile), ' +
      `on the newest Node that was measured (${[...new Set(compared.map(({ on }) => on))].join(', ')}).`,
    compared.length && markdown([['beside', 'less in every round', 'less by the median', 'not less'],
      ...BESIDE.map(([what]) => counted(what, among(compared, what))).filter(Boolean)]),
    markdown([['', 'Node', 'claims', 'commit', 'measured', 'commits of lib since'], ...views.flatMap(rows)]),
    ...losses(compared),
    '## How to read them',
    'Every table and chart is made from `benchmarks/results/` by `make report`, and a test compares them. A figure is the median of the ' +
    'rounds, a ratio that of two medians, with the lowest and the highest round beside it; requests per second beside CPU time are ' +
    `those of one round, in the middle. A claim is what every round supports, rounded up. ${views.filter(({ text }) => text.includes('\n## The original report\n')).length} ` +
    'labs set our figures beside reports of other years and machines, and say where those cannot be true. ' +
    '`benchmarks/README.md` of the repository says how to run a lab.'
  ].filter(Boolean).join('\n\n')}\n`
}

// A row: in how many comparisons kone takes less.
function counted (what, { all, lost }) {
  if (!all.length) return null
  const surely = all.filter(({ max }) => max < 1).length
  return [what, ...[surely, all.length - surely - lost.length, lost.length].map(String)]
}

const named = ({ other }, all) => all.some(one => one.other !== other) ? ` (${other})` : ''

const MOST = 12 // of a kind of others

// What speaks against kone.
function losses (compared) {
  const rows = BESIDE.filter(([what]) => !what.startsWith('a raw socket')).flatMap(([what]) => {
    const { lost } = among(compared, what)
    return lost.slice(0, MOST).map((one, i) => [i ? '' : `${what}${lost.length > MOST ? `, the most of ${lost.length}` : ''}`, one.what + named(one, lost), ratio(one)])
  })
  return rows.length ? ['## Where kone takes more', markdown([['beside', 'in', 'kone ÷ the other'], ...rows])] : []
}
