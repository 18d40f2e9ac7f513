'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { PAGE, faultOf } = require('./lib/run/options')
const { changedSince } = require('./lib/run/commit')
const { OUT, RESULTS } = require('./lib/run/result')
const { read } = require('./lib/report/committed')
const { tighten } = require('./lib/report/claims')
const { generate, isGenerated } = require('./lib/report/generate')
const { write } = require('./lib/report/site')

/*
 * Everything that people look at, made from results: the tables and the chart of README.md, docs/reports/ with its
 * charts, and an HTML page of all results, those of the last runs included.
 */

const ROOT = path.join(__dirname, '..')
const HISTORY = 'docs/reports/history.json'
const USAGE = `usage: make report ARGS="…"

  --from FOLDER   results to take instead of benchmarks/results
  --to FOLDER     write there instead of into this checkout: README.md, docs/reports/
  --html          only the HTML page, of the results and of the last runs in benchmarks/out
  --help`

const { from = RESULTS, to = ROOT, html, help } = options()
if (help) {
  console.log(USAGE)
  process.exit()
}

const { results, faults } = read(from)
for (const fault of faults) console.error(`${fault}${PAGE}`)
if (!html) documents()

const runs = from === RESULTS ? read(OUT) : { results: [], faults: [] }
for (const fault of runs.faults) console.error(`out/${fault}${PAGE}`)
const [index] = write([...results, ...runs.results], path.join(from === RESULTS ? OUT : from, 'report'))
console.log(`${path.relative(process.cwd(), index)}: all results as HTML`)

function documents () {
  for (const { says, on, worst, ...threshold } of to === ROOT ? tighten(results) : []) {
    console.log(`claim tightened: ${says}, Node ${on}: at most ${threshold.to} instead of ${threshold.from} (the worst round is ${worst.toFixed(2)})`)
  }
  const text = name => fs.readFileSync(fs.existsSync(path.join(to, name)) ? path.join(to, name) : path.join(ROOT, name), 'utf8')
  const history = fs.existsSync(path.join(to, HISTORY)) ? JSON.parse(text(HISTORY)) : []
  const { files, notes } = generate({ results, readme: text('README.md'), history, isStale })
  for (const [name, content] of files) {
    fs.mkdirSync(path.dirname(path.join(to, name)), { recursive: true })
    fs.writeFileSync(path.join(to, name), content)
  }
  for (const name of strays(files)) fs.rmSync(path.join(to, name))
  for (const note of notes) console.error(note)
  console.log(`README.md and docs/reports: ${files.size} files of ${results.length} results`)
}

// What an earlier report has written and this one has not.
function strays (files) {
  const folder = path.join(to, 'docs/reports')
  const present = fs.readdirSync(folder, { recursive: true }).map(name => path.join('docs/reports', name))
  return present.filter(name => isGenerated(name) && !files.has(name))
}

// Whether code that a result is of has changed since. Not known without git, or where the commit is not.
function isStale ({ commit }) {
  return Boolean(commit?.hash && changedSince(commit.hash)?.length)
}

function options () {
  try {
    const { values } = parseArgs({
      options: { from: { type: 'string' }, to: { type: 'string' }, html: { type: 'boolean' }, help: { type: 'boolean' } }
    })
    for (const name of ['from', 'to']) if (values[name]) values[name] = path.resolve(values[name])
    if (values.from && !fs.existsSync(values.from)) throw new Error(`--from must be a folder with results, not ${values.from}`)
    return values
  } catch (err) {
    console.error(`report: ${faultOf(err)}${PAGE}\n\n${USAGE}`)
    process.exit(2)
  }
}
