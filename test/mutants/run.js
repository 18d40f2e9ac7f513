'use strict'

/*
 * Mutation testing: `make mutants`. Stryker changes one expression of a file at a time, and runs the tests that belong to
 * the file: a mutant that no test notices survives. A file takes minutes. One whose source, tests and explanations are
 * unchanged is not run again, so that an interrupted run goes on where it was.
 *
 *    make mutants                                   the files that changed
 *    make mutants ARGS="lib/compose.js"             these files
 *    make mutants ARGS="--all"                      every file again
 *    make mutants ARGS="--matrix"                   a sample against each suite: matrix.js
 *
 * Exits with 1 when less than GOAL percent of a file's mutants are killed or explained (equal.js).
 */

const { spawnSync } = require('node:child_process')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const commandLine = require('../../tools/command-line')
const { install } = require('../helpers/area')
const EQUAL = require('./equal')
const FILES = require('./files')
const { AREAS, matrix } = require('./matrix')

const ROOT = path.join(__dirname, '../..')
const RESULTS = path.join(__dirname, 'results.json')

/** Percent of the mutants that are killed by a test, or listed in equal.js. */
const GOAL = 85

/** Of Stryker, for one file. */
function options (file, report) {
  return {
    mutate: [file],
    testRunner: 'tap',
    tap: {
      testFiles: FILES[file],
      nodeArgs: [`--test-reporter=${path.join(__dirname, 'bail.js')}`, '-r', '{{hookFile}}', '{{testFile}}']
    },
    plugins: ['@stryker-mutator/tap-runner'],
    coverageAnalysis: 'perTest',
    concurrency: 1,
    timeoutMS: 20_000, // long, because a mutant that runs out of time counts as killed, and the machine may be busy
    reporters: ['json', 'dots'],
    jsonReporter: { fileName: report },
    ignorePatterns: ['benchmarks', 'docs', 'create', 'coverage', 'examples', 'test/mutants'],
    tempDirName: path.join(path.dirname(report), 'sandbox'),
    disableTypeChecks: false
  }
}

/** What the mutants of a file and their fate depend on. */
function digest (file) {
  const hash = createHash('sha256')
  for (const name of [file, ...FILES[file]]) hash.update(fs.readFileSync(path.join(ROOT, name)))
  return hash.digest('hex').slice(0, 16)
}

/** Mutates one file, in a copy of the checkout. @return {object} Stryker's report */
function mutate (file) {
  const { bin } = install('mutants')
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-mutants-'))
  const report = path.join(folder, 'report.json')
  const config = path.join(folder, 'stryker.json')
  try {
    fs.writeFileSync(config, JSON.stringify(options(file, report)))
    const env = { ...process.env, KONE_MUTANTS: 'on' }
    const { status } = spawnSync(bin('stryker'), ['run', config], { cwd: ROOT, env, stdio: 'inherit' })
    // A run that was interrupted has a report, too: of the mutants so far.
    if (status !== 0 || !fs.existsSync(report)) throw new Error(`Stryker did not finish ${file}`)
    return JSON.parse(fs.readFileSync(report, 'utf8'))
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

/** What is kept of Stryker's report about a file. */
function summary ({ source, mutants }) {
  const lines = source.split('\n')
  const are = (...wanted) => mutants.filter(({ status }) => wanted.includes(status))
  return {
    killed: are('Killed', 'Timeout').length,
    survivors: are('Survived', 'NoCoverage').map(({ location: { start, end }, replacement }) => {
      const line = lines[start.line - 1]
      return {
        line: line.trim(),
        from: line.slice(start.column - 1, start.line === end.line ? end.column - 1 : undefined),
        to: replacement.split('\n')[0]
      }
    })
  }
}

/**
 * The score of a file, with what is open: survivors that equal.js does not explain, and explanations that explain none.
 */
function judge ({ killed, survivors }, equal = []) {
  const explains = (entry, { line, to }) => entry.line === line && (entry.to === undefined || entry.to === to)
  const open = survivors.filter(survivor => !equal.some(entry => explains(entry, survivor)))
  const unused = equal.filter(entry => !survivors.some(survivor => explains(entry, survivor)))
  const mutants = killed + survivors.length
  const percent = Math.floor(1000 * (mutants - open.length) / mutants) / 10
  return { mutants, killed, explained: survivors.length - open.length, percent, open, unused }
}

function main () {
  const { values, positionals } = commandLine('mutants', { all: { type: 'boolean' }, matrix: { type: 'boolean' } },
    'test/mutants/run.js', [...Object.keys(FILES), ...AREAS])
  if (values.matrix) return matrix(positionals)
  const files = positionals.length > 0 ? positionals : Object.keys(FILES)
  for (const file of files) {
    const known = digest(file)
    let result = read()[file]
    if (result?.digest !== known || values.all) {
      result = { digest: known, ...summary(mutate(file).files[file]) }
      // Read again: other files may run beside this one, for minutes.
      fs.writeFileSync(RESULTS, `${JSON.stringify({ ...read(), [file]: result }, null, 2)}\n`)
    }
    const { mutants, killed, explained, percent, open, unused } = judge(result, EQUAL[file])
    for (const { line, from, to } of open) console.log(`${file}: ${line}\n    ${from} → ${to}`)
    for (const { line } of unused) console.log(`${file}: equal.js explains what no mutant does: ${line}`)
    console.log(`${String(percent).padStart(5)} %  ${file}: ${killed} of ${mutants} killed, ${explained} explained\n`)
    if (percent < GOAL) process.exitCode = 1
  }
}

const read = () => fs.existsSync(RESULTS) ? JSON.parse(fs.readFileSync(RESULTS, 'utf8')) : {}

if (require.main === module) main()

module.exports = { GOAL, judge, summary }
