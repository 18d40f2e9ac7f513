'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { READ_ON, commandLine } = require('./lib/run/options')
const { commitsSince } = require('./lib/run/commit')
const Figures = require('./lib/report/figures')
const { HEADLINES } = require('./lib/report/readme')
const { lacks, unsteady } = require('./lib/run/complete')
const { OUT, RESULTS, firstOf, nameOf, parse, read, save, stringify } = require('./lib/run/result')

/*
 * make results: copies complete runs from out/ to results/, which is committed. What is not complete, or was not
 * measured on a quiet machine, is refused with a line that says why.
 *
 *   battle.node26 …  only these (default: every result of the folder)
 *   --from FOLDER    where runs are (default: benchmarks/out)
 *   --to FOLDER      where results are committed (default: benchmarks/results)
 *   --why TEXT       why the figures of README's table vary by more than a tenth: the page has it
 */

const FOLDER = { type: 'string', value: 'path' }
const { values: { from = OUT, to = RESULTS, why }, positionals } =
  commandLine('results', { from: FOLDER, to: FOLDER, why: { type: 'string', value: 'text' } }, { hasWords: true })
results()

function results () {
  const present = fs.existsSync(from) ? fs.readdirSync(from).filter(name => name.endsWith('.json')).sort() : []
  const names = positionals.length ? positionals.map(name => `${path.basename(name, '.json')}.json`) : present
  if (!names.length) console.error(`no result in ${from}: make battle ARGS="--node 26"${READ_ON}`)
  const copied = names.filter(copy)
  const committed = read(to)
  for (const fault of committed.faults) console.error(`${fault}${READ_ON}`)
  for (const { commit, ...result } of committed.results) {
    const age = commit && commitsSince(commit.hash)
    if (age) console.error(`${nameOf(result)}.json: commits of lib since ${commit.hash.slice(0, 7)}: ${age}; measure it again`)
  }
  process.exitCode = names.length > 0 && copied.length === names.length ? 0 : 1
}

// Whether it was copied.
function copy (name) {
  try {
    const result = parse(fs.readFileSync(path.join(from, name), 'utf8'))
    const steady = why || lacks(result).length ? [] : unsteady(new Figures(result), HEADLINES[result.lab] ?? [])
    const reasons = [...lacks(result), ...steady]
    if (reasons.length) throw new Error(firstOf(reasons))
    if (why) result.derived.why = why
    save(path.join(to, `${nameOf(result)}.json`), stringify(result))
    const missing = result.missing.map(one => one.name)
    console.log(`${name} is copied${missing.length ? `, without ${missing.join(', ')}` : ''}`)
    return true
  } catch (err) {
    console.error(`${name} is refused: ${err.message}${READ_ON}`)
    return false
  }
}
