'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { READ_ON, commandLine } = require('./lib/run/options')
const { commitsSince } = require('./lib/run/commit')
const { RESULTS, read } = require('./lib/run/result')
const claims = require('./lib/report/claims')
const { generate, isGenerated } = require('./lib/report/report')

/*
 * make report: the sentence and the table of README.md and of the site's first page, the costs of
 * middleware/README.md, docs/reports/ with its charts, and the claims, from results.
 *
 *   --from FOLDER   results to take instead of benchmarks/results: out, for the runs of this machine
 *   --to FOLDER     write there instead of into this checkout
 *   --accept        also claims that are higher than before
 */

const ROOT = path.join(__dirname, '..')
const FLAGS = { from: { type: 'string', value: 'folder' }, to: { type: 'string', value: 'path' }, accept: { type: 'boolean' } }
const { values: { accept, ...folders } } = commandLine('report', FLAGS)
const [from, to] = [folders.from ?? RESULTS, folders.to ?? ROOT].map(folder => path.resolve(folder))
const ages = new Map()
report()

function report () {
  if (!fs.existsSync(from)) {
    console.error(`report: --from: there is no folder ${from}${READ_ON}`)
    process.exit(2)
  }
  const { results, faults } = read(from)
  for (const fault of faults) console.error(`${fault}${READ_ON}`)
  const text = name => fs.readFileSync(fs.existsSync(path.join(to, name)) ? path.join(to, name) : path.join(ROOT, name), 'utf8')
  const isOurs = to === ROOT && from === RESULTS
  const made = generate({
    results,
    readme: text('README.md'),
    home: text('docs/index.md'),
    set: text('middleware/README.md'),
    claims: isOurs ? claims.read() : {},
    accept,
    age
  })
  for (const [name, content] of made.files) {
    fs.mkdirSync(path.dirname(path.join(to, name)), { recursive: true })
    fs.writeFileSync(path.join(to, name), content)
  }
  const folder = path.join(to, 'docs/reports')
  const present = fs.readdirSync(folder, { recursive: true }).map(name => path.join('docs/reports', name))
  const strays = present.filter(name => isGenerated(name) && !made.files.has(name)) // of an earlier report
  for (const name of strays) fs.rmSync(path.join(to, name))
  if (isOurs) claims.write(made.claims)
  for (const note of made.notes) console.error(note)
  console.log(`README.md and docs/reports: ${made.files.size} files of ${results.length} results`)
  if (!made.broken.length) return
  console.error(['These results break claims: measure again, or accept the higher figures (--accept).', ...made.broken].join('\n'))
  process.exitCode = 1
}

// How many commits have changed lib/ since a commit: a result is asked for more than once.
function age (hash) {
  if (!ages.has(hash)) ages.set(hash, commitsSince(hash))
  return ages.get(hash)
}
