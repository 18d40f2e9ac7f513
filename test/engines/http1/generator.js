'use strict'

/*
 * What the generators of this folder do with their cases, which are plain data: take them from seeds, judge them, make what
 * fails smaller, print it so that it is its own reproduction, and count which acts came together. A generator has
 *
 *   generate  (seed) => case
 *   lanes     a judge for each case at a time: (case) => findings, each with `what` and `detail`, and `side` where there are
 *             several
 *   confirm   (case, findings) => those that return, when no other case is judged; without it: all
 *   RULES     of helpers/shrink.js
 *   namesOf   (case) => what comes together in it, of all that `names` lists
 *   casesOf   (pairs) => [title, case] for each two that did not
 *   plans     [title, case] that come first
 *   summary, close   what else is printed; at the end, findings of all cases together
 *
 * Flags that all have:
 *
 *   --seed N       the first random case (default: a random one, printed); the i-th has the seed N + i
 *   --cases N      how many
 *   --seconds N    or for how long
 *   --failures N   end after so many (default 1)
 *   --pairs        then a case for each two acts that did not come together: none may be left
 *   --no-shrink    print cases as they were found
 *   --replay FILE  one case, as a failure prints it
 */

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { inspect } = require('node:util')

const commandLine = require('../../../tools/command-line')
const { shrink } = require('../../helpers/shrink')

/** How long making a case smaller may take, in ms. */
const SHRINK = 20_000

/** Between two lines of progress, in ms. */
const PROGRESS = 10_000

/**
 * Which of some names come together in a case.
 *
 *    const pairs = new Pairs(['write', 'end', 'res'])
 *    pairs.add(['write', 'end'])
 *    pairs.left()   // [['write', 'res'], ['end', 'res']]
 *    String(pairs)  // '1 of 3 pairs'
 */
class Pairs {
  constructor (names) {
    this.names = [...new Set(names)]
    this.seen = new Set()
  }

  add (names) {
    for (const [a, b] of pairsOf(this.names.filter(name => names.includes(name)))) this.seen.add(`${a} + ${b}`)
  }

  left () { return pairsOf(this.names).filter(([a, b]) => !this.seen.has(`${a} + ${b}`)) }

  toString () { return `${this.seen.size} of ${this.names.length * (this.names.length - 1) / 2} pairs` }
}

const pairsOf = names => names.flatMap((a, i) => names.slice(i + 1).map(b => [a, b]))

/**
 * Judge cases until there are no more, the time is over or so many have failed.
 *
 *    const { failures } = await run(generator, { seed: 1, cases: 100 })
 *
 * `least`: so many random ones, whatever the time.
 */
async function run (generator, {
  seed = 1, cases = Infinity, seconds = Infinity, least = 0, failures: most = 1, pairs: isPaired, shrinks = true, print = () => {}
}) {
  const until = performance.now() + seconds * 1000
  const { plans = [], lanes, confirm = (plan, found) => found, namesOf, casesOf, RULES } = generator
  const pairs = new Pairs(generator.names)
  const failures = []
  const unconfirmed = []
  const suspects = []
  let count = 0
  let isOver = false
  const all = (function * () {
    yield * plans
    for (let i = 0; i < cases && (i < least || performance.now() < until); i++) {
      yield [`--seed ${seed + i} --cases 1`, generator.generate(seed + i)]
    }
    if (isPaired) yield * casesOf(pairs)
  })()
  const isDone = () => isOver || failures.length >= most
  const work = async judge => {
    while (suspects.length + failures.length < most) {
      const { done, value } = all.next()
      if (done) return (isOver = true)
      const [title, plan] = value
      count++
      pairs.add(namesOf(plan))
      const found = await judge(plan)
      if (found.length > 0) suspects.push({ title, plan, found })
    }
  }
  const [judge] = lanes
  const progress = setInterval(() => print(`${count} cases, ${suspects.length} to be confirmed, ${failures.length} failures`), PROGRESS)
  try {
    while (!isDone()) {
      await Promise.all(lanes.map(work))
      for (const { title, plan, found } of suspects) {
        const confirmed = await confirm(plan, found)
        if (confirmed.length === 0) {
          unconfirmed.push([title, ...linesOf(found)].join(' '))
          continue
        }
        const small = shrinks ? await smallest(plan, confirmed, judge, RULES) : { plan, found: confirmed }
        failures.push(explain(title, confirmed, small))
        print(failures.at(-1))
      }
      suspects.length = 0
    }
  } finally {
    clearInterval(progress)
    failures.push(...await generator.close?.() ?? [])
  }
  if (isPaired && failures.length === 0) failures.push(...pairs.left().map(names => `${names.join(' and ')} never came together`))
  return { failures, cases: count, ...generator.summary?.(), 'of acts': String(pairs), unconfirmed }
}

/** The smallest case found that is wrong in one of the same ways. */
function smallest (plan, found, judge, rules) {
  const kinds = new Set(found.map(kindOf))
  return shrink(plan, found, rules, async next => {
    const again = (await judge(next)).filter(one => kinds.has(kindOf(one)))
    return again.length > 0 && again
  }, SHRINK)
}

const kindOf = ({ side, what }) => side === undefined ? what : `${side}: ${what}`

/** A failure for people. */
function explain (title, findings, { plan, found }) {
  const file = path.join(os.tmpdir(), `kone-case-${process.pid}-${files++}.js`)
  fs.writeFileSync(file, `module.exports = ${inspect(plan, { depth: null, maxArrayLength: null, maxStringLength: null })}\n`)
  return [
    `${title}, Node ${process.version}`,
    ...linesOf(findings),
    `the smallest case found: --replay ${file}`,
    ...linesOf(found),
    inspect(plan, { depth: null, breakLength: 120, maxArrayLength: 20, maxStringLength: 100 })
  ].join('\n')
}

let files = 0

/** One line for each kind. */
function linesOf (findings) {
  const kinds = findings.map(kindOf)
  const isFirst = (kind, i) => kinds.indexOf(kind) === i
  return kinds.filter(isFirst).map(kind => {
    const { detail } = findings[kinds.indexOf(kind)]
    return `  ${kinds.filter(other => other === kind).length} × ${kind}${detail && `: ${detail}`}`
  })
}

/**
 * The command of a generator: `make` gives it for what is on the command line, with the `options` of run() it then has.
 *
 *    if (require.main === module) main(__filename, ({ long }) => ({ ...generator, plans: plansOf(long) }), { long: flag })
 */
async function main (file, make, flags) {
  const number = { type: 'string', value: 'number' }
  const boolean = { type: 'boolean' }
  const page = path.relative(path.join(__dirname, '../../..'), file)
  const all = {
    seed: number,
    cases: number,
    seconds: number,
    failures: number,
    pairs: boolean,
    replay: { type: 'string', value: 'file' },
    'no-shrink': boolean,
    ...flags
  }
  const { values } = commandLine(path.relative(__dirname, file), all, page)
  const { seed = Math.floor(Math.random() * 1e9), replay, 'no-shrink': isShown = false, ...rest } = values
  const { options, ...generator } = await make(values)
  if (replay !== undefined) Object.assign(generator, { plans: [[replay, require(path.resolve(replay))]] })
  console.log(`${page}: seed ${seed}, Node ${process.version}`)
  const { failures, ...summary } = await run(generator, {
    ...options,
    ...rest,
    seed,
    shrinks: !isShown && replay === undefined,
    print: console.log,
    ...replay !== undefined && { cases: 0 }
  })
  for (const failure of failures) if (!failure.includes('\n')) console.log(failure)
  console.log(`${page}: seed ${seed}, Node ${process.version}, ${inspect(summary)}, ${failures.length} failures`)
  process.exitCode = failures.length > 0 ? 1 : 0
}

module.exports = { Pairs, main, run }
