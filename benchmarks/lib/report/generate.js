'use strict'

const path = require('node:path')
const { checked } = require('./claims')
const { newest } = require('./committed')
const { extended, of } = require('./history')
const { index } = require('./pages/index')
const { page } = require('./page')
const readme = require('./readme')

/** The labs that have a page, in the order of the index. */
const LABS = exports.LABS =
  ['battle', 'mw', 'dropin', 'front', 'static', 'connections', 'rpc', 'growth', 'versions', 'soak']

const FOLDER = 'docs/reports'

/**
 * Everything that people look at, made of committed results: README.md, docs/reports/ and its charts.
 *
 * @param {object} from
 * @param {object[]} from.results
 * @param {string} from.readme the text of README.md
 * @param {object[]} from.history of docs/reports/history.json
 * @param {(result: object) => boolean} [from.isStale] whether lib/ has changed since the result's commit
 * @return {{ files: Map<string, string>, notes: string[] }} texts by path from the root; notes: lines for who runs it
 */
exports.generate = function ({ results, readme: text, history, isStale = () => false }) {
  const labs = newest(results)
  const claims = checked(results)
  const templates = LABS.map(lab => require(`./pages/${lab}`))
  const grown = extended(history, labs, templates)
  const files = new Map([[`${FOLDER}/history.json`, `${JSON.stringify(grown, null, 1)}\n`]])
  const notes = []

  for (const template of templates) {
    const { lab } = template
    const [figures, ...others] = labs.get(lab) ?? []
    if (!figures) notes.push(`${lab}: no result is committed; its page says so`)
    const made = page(template, {
      figures,
      others,
      isStale,
      claims: claims.filter(claim => claim.lab === lab),
      history: of(grown, lab)
    })
    files.set(`${FOLDER}/${lab}.md`, made.text)
    for (const { name, light, dark } of made.charts) {
      files.set(`${FOLDER}/charts/${name}-light.svg`, light)
      files.set(`${FOLDER}/charts/${name}-dark.svg`, dark)
    }
  }
  files.set(`${FOLDER}/README.md`, index({ templates, labs, claims, isStale }))

  const filled = readme.fill(text, { labs, hasChart: name => files.has(`${FOLDER}/charts/${name}-light.svg`) })
  files.set('README.md', filled.text)
  for (const [lab, figures] of labs) {
    if (!LABS.includes(lab)) notes.push(`${lab}: there is no page for this lab in benchmarks/lib/report/pages`)
    for (const { result } of figures) {
      if (isStale(result)) notes.push(`${result.lab}, Node ${parseInt(result.node.slice(1))}: lib/ has changed since it was measured`)
    }
  }
  return { files, notes: [...notes, ...filled.notes] }
}

/**
 * A page without the warning that depends on the history of the repository, for comparing.
 *
 * @param {string} text
 * @return {string}
 */
exports.timeless = text => text.replace(/<!-- stale -->[\s\S]*?<!-- \/stale -->\n*/g, '')

/**
 * @param {string} file a path in docs/reports
 * @return {boolean} whether it is one of those that are made here
 */
exports.isGenerated = file => path.extname(file) === '.svg'
