'use strict'

/*
 * The seeded fuzzer: `make fuzz ARGS="--seconds 300"`.
 *
 *   --seed N       the first case (default: a random one, printed); case i of a run has the seed N + i
 *   --cases N      how many cases
 *   --plans N      of output.model.js, which come first (default 20,000, with --cases or --replay none)
 *   --seconds N    or for how long (default 60)
 *   --replay FILE  one case, as a failure prints it
 *   --self         node:http against node:http: must never find anything
 *
 * A failure prints its seed, the difference, and the smallest case found that still shows it.
 */

const https = require('node:https')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { inspect } = require('node:util')

const commandLine = require('../../../tools/command-line')
const Kone = require('../../helpers/kone')
const { shrink } = require('../../helpers/shrink')
const { accepted, callback, differences, exchange, explain, front, open } = require('./harness')
const { Pairs } = require('./acts')
const { OPS, PROFILES, RULES, casesOf, generate, steps } = require('./grammar')
const { check } = require('./output.model')
const { run } = require('./program')
const { credentials, setUp } = require('./sides')

const THROWN = 'thrown by the fuzzer'

const LIB = path.join(__dirname, '../../../lib')

// What is compared of an app whose errors escape: what its other handlers notice then has no order.
const WIRE = ['requests', 'got', 'socket']

// Of the model below sockets.
const PLANS = 20_000

// How long app.close() may take when all connections are gone, in ms.
const CLOSES = 5000

// How long making a failing case smaller may take, in ms.
const SHRINK = 20_000

function define () {
  const app = new Kone()
  app.use(run)
  return app
}

/**
 * Two servers per profile, for as many cases as wanted.
 *
 *    const bench = await fuzzer()
 *    await bench.judge(generate(1))   // → null, or { found, text }
 *    await bench.close()
 */
async function fuzzer ({ other = front } = {}) {
  const counted = {}
  let requests = 0
  let kept = 0

  // What escapes would end the process: never from a module of kone, and node's own assertions (a flag of its own that
  // the app turns) on both sides. It belongs to the side that is running: one after the other, never both.
  let escaped = []
  const onEscape = err => escaped.push(err)
  process.on('uncaughtException', onEscape)

  const warned = []
  const onWarning = warning => warned.push(`${warning.name}: ${warning.message}`)
  process.on('warning', onWarning)

  const keys = await credentials()
  const secure = () => https.createServer(keys)
  const securePair = await Promise.all([
    open('node:https', app => setUp(secure(), app, false).listen(0, '127.0.0.1'), define),
    open('front', app => setUp(secure(), app, other !== callback).listen(0, '127.0.0.1'), define)
  ])

  const pairs = await Promise.all(PROFILES.map(profile => Promise.all([
    open('node:http', callback, define, profile),
    open('front', other, define, profile)
  ])))

  async function judge (one) {
    const script = steps(one)
    const { transport, programs } = one
    const [a, b] = [await record(0), await record(1)]
    requests += b.at(-1)?.count ?? 0
    if (b.length && !b.at(-1).node) kept++
    // The front's response has a method of kone in the stack of what node's code throws.
    const nodes = new Set(a.escaped.filter(err => !err.stack.includes(LIB)).map(err => err.code))
    const isOurs = err => err.message !== THROWN && err.stack.includes(LIB) && !nodes.has(err.code)
    const ours = [...a.escaped, ...b.escaped].filter(isOurs)
    if (ours.length) return { found: [{ what: 'escaped' }], text: ours.map(err => `escaped: ${err.stack}`).join('\n') }
    if (warned.length) return { found: [{ what: 'warning' }], text: warned.splice(0).join('\n') }
    const isFronts = b.length > 0 && !b.at(-1).node && b.escaped.length === 0
    if (isFronts && b.ends.some(count => count !== 1)) {
      return { found: [{ what: 'finish' }], text: `'finish' is not emitted once for each request: ${b.ends}` }
    }
    const escapes = throwsItself(one) || [a, b].every(steps => steps.escaped.length > 0)
    const found = differences(a, b, script).filter(({ what }) => !escapes || WIRE.includes(what))
    if (!found.length) return null
    const name = throwsItself(one) && goesOn(a, b) ? 'node stops at a listener that throws' : accepted(script, a, b, transport)
    if (name) {
      counted[name] = (counted[name] ?? 0) + 1
      return null
    }
    return { found, text: explain(script, found) }

    async function record (which) {
      escaped = []
      // A copy for each: an app may change the values it was given.
      const app = structuredClone(programs)
      const steps = await exchange((transport === 'records' ? securePair : pairs[one.profile])[which], script, { transport, app })
      if (programs.length === 1 && steps.length) {
        steps.at(-1).log.escaped = escaped.filter(err => err.message !== THROWN).map(err => `${err.name} ${err.code}`)
      }
      return Object.assign(steps, { escaped })
    }
  }

  /** The smallest case found that still differs in the same kind of thing. */
  function smallest (one, verdict) {
    const kinds = new Set(verdict.found.map(({ what }) => what))
    return shrink(one, verdict, RULES, async next => {
      const verdict = await judge(next)
      return verdict?.found.some(({ what }) => kinds.has(what)) && verdict
    }, SHRINK)
  }

  return {
    judge,
    smallest,
    counted,
    summary: () => ({ requests, 'connections the front kept': kept }),
    /** @return {Promise<boolean>} whether app.close() resolves at once, because all connections are gone */
    async close () {
      const sides = [...pairs.flat(), ...securePair]
      const closed = Promise.all(sides.map(({ app }) => app.close({ timeout: 10 * CLOSES, grace: 0 })))
      const isInTime = await Promise.race([closed.then(() => true), sleep(CLOSES, false, { ref: false })])
      await Promise.all(sides.map(side => side.close()))
      process.off('uncaughtException', onEscape)
      process.off('warning', onWarning)
      return isInTime
    }
  }
}

/** Did the app get the requests that it got on node, and perhaps more? Node's parser may stop at a listener that throws. */
function goesOn (node, other) {
  const [seen, shown] = [node, other].map(record => JSON.stringify(record.flatMap(({ requests }) => requests)).slice(0, -1))
  return shown.startsWith(seen)
}

/** Does a listener of this case throw? */
function throwsItself ({ programs, touches }) {
  return programs.some(({ ops }) => ops.some(([name]) => name.startsWith('throw') && name !== 'throw')) ||
    touches.some(([, name]) => name.includes('throws'))
}

/** A failure for people. */
async function report (bench, title, one, verdict) {
  const { plan, found } = await bench.smallest(one, verdict)
  return [
    `${title}: ${process.release.name} ${process.version}, server ${inspect(PROFILES[plan.profile])}, ${plan.transport}`,
    found.text,
    'the case, for --replay:',
    `module.exports = ${inspect(plan, { depth: null, breakLength: 120, maxStringLength: null, maxArrayLength: null })}`
  ].join('\n')
}

/** Run cases until one differs, the time is over or they are done; `isPaired`: then one for each two acts that did not meet. */
async function fuzz ({ seed, cases = Infinity, seconds = Infinity, failures: most = 1, self = false, isPaired = false }) {
  const bench = await fuzzer({ other: self ? callback : front })
  const until = Date.now() + seconds * 1000
  const pairs = new Pairs(OPS)
  const failures = []
  let count = 0
  const judge = async (title, one) => {
    for (const { ops, later } of one.programs) pairs.add([...ops, ...later].map(([name]) => name))
    const verdict = await bench.judge(one)
    if (verdict) failures.push(await report(bench, title, one, verdict))
  }
  for (; count < cases && Date.now() < until && failures.length < most; count++) await judge(`--seed ${seed + count} --cases 1`, generate(seed + count))
  for (const one of isPaired ? casesOf(pairs) : []) if (failures.length < most) await judge('of a pair', one)
  for (const names of isPaired && failures.length < most ? pairs.left() : []) failures.push(`${names.join(' and ')} never came together`)
  if (!await bench.close()) failures.push(`seeds ${seed} to ${seed + count - 1}: app.close() waits although all connections are gone`)
  return { cases: count, failures, accepted: bench.counted, ...bench.summary(), 'of acts': String(pairs) }
}

async function replay (file) {
  const bench = await fuzzer()
  const verdict = await bench.judge(require(path.resolve(file)))
  await bench.close()
  return { cases: 1, failures: verdict ? [verdict.text] : [], accepted: bench.counted }
}

async function main () {
  const number = { type: 'string', value: 'number' }
  const flags = {
    seed: number,
    cases: number,
    seconds: number,
    failures: number,
    plans: number,
    replay: { type: 'string', value: 'file' },
    self: { type: 'boolean' }
  }
  const { values: { seed = Math.floor(Math.random() * 1e9), cases, ...values } } =
    commandLine('fuzz', flags, 'test/engines/http1/fuzz.js')
  const { seconds = cases ? Infinity : 60, plans = cases || values.replay ? 0 : PLANS, failures: most = 1, self } = values
  if (plans > 0) {
    const model = await check({ seed, runs: plans })
    if (model.failed) console.log(`${model.text}\n`)
    console.log(`model: seed ${seed}, ${model.runs} plans, ${model.pairs} of ways and touches, ${model.failed ? 'one fails' : 'all hold'}`)
    if (model.failed) process.exitCode = 1
  }
  const result = values.replay
    ? await replay(values.replay)
    : await fuzz({ seed, cases, seconds, failures: most, self, isPaired: cases === undefined })
  for (const failure of result.failures) console.log(`${failure}\n`)
  const { failures, ...summary } = result
  console.log(`fuzz: seed ${seed}, Node ${process.version}, ${inspect({ ...summary, differences: failures.length })}`)
  if (failures.length) process.exitCode = 1
}

module.exports = { fuzz, fuzzer, generate }

if (require.main === module) main()
