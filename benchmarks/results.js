'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { PAGE, faultOf } = require('./lib/run/options')
const { changedSince } = require('./lib/run/commit')
const { lacks } = require('./lib/run/complete')
const { OUT, RESULTS, firstOf, nameOf, save } = require('./lib/run/result')

/*
 * make results: copies complete runs from out/ to results/, which is committed. What is not complete, or was not
 * measured on a quiet machine, is refused with a line that says why.
 */

const USAGE = `usage: make results ARGS="…"

  battle.node26 …  only these (default: every result of the folder)
  --from FOLDER    where runs are (default: benchmarks/out)
  --to FOLDER      where results are committed (default: benchmarks/results)`

const { values: { from = OUT, to = RESULTS, help }, positionals } = options()
if (help) {
  console.log(USAGE)
} else {
  const names = positionals.length ? positionals.map(name => `${path.basename(name, '.json')}.json`) : jsons(from)
  if (!names.length) console.error(`no result in ${from}: make battle ARGS="--node 26"${PAGE}`)
  const copied = names.filter(copy)
  jsons(to).forEach(warn)
  process.exitCode = names.length > 0 && copied.length === names.length ? 0 : 1
}

function options () {
  try {
    return parseArgs({
      options: { from: { type: 'string' }, to: { type: 'string' }, help: { type: 'boolean' } },
      allowPositionals: true
    })
  } catch (err) {
    console.error(`results: ${faultOf(err)}${PAGE}\n\n${USAGE}`)
    process.exit(2)
  }
}

function jsons (folder) {
  return fs.existsSync(folder) ? fs.readdirSync(folder).filter(name => name.endsWith('.json')).sort() : []
}

// Whether it was copied.
function copy (name) {
  try {
    const text = fs.readFileSync(path.join(from, name), 'utf8')
    const result = parsed(text)
    const reasons = lacks(result)
    if (reasons.length) {
      console.error(`${name} is refused: ${firstOf(reasons)}${PAGE}`)
      return false
    }
    save(path.join(to, `${nameOf(result)}.json`), text)
    const missing = result.missing?.map(one => one.name) ?? []
    console.log(`${name} is copied${missing.length ? `, without ${missing.join(', ')}` : ''}`)
    return true
  } catch (err) {
    console.error(`${name} is refused: ${err.message}${PAGE}`)
    return false
  }
}

function parsed (text) {
  const result = JSON.parse(text)
  if (!Array.isArray(result?.rows) || !result.machine) throw new Error('it is not the result of a lab: machine and rows are expected')
  return result
}

function warn (name) {
  try {
    const { commit } = parsed(fs.readFileSync(path.join(to, name), 'utf8'))
    const files = commit && changedSince(commit.hash)
    if (files?.length) console.error(`${name}: ${files.length} files of lib/ changed since ${commit.hash.slice(0, 7)}: measure it again`)
  } catch (err) {
    console.error(`${name} in ${to} cannot be read: ${err.message}${PAGE}`)
  }
}
