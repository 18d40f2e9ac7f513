'use strict'

/*
 * The seeded fuzzer: `make fuzz ARGS="--seconds 300"`, with the flags of generator.js (without --cases, --seconds is 60) and
 *
 *   --self   node:http against node:http: must never find anything
 */

const https = require('node:https')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')

const Kone = require('../../helpers/kone')
const { accepted, callback, differences, exchange, explain, front, open } = require('./harness')
const { main } = require('./generator')
const { OPS, PROFILES, RULES, casesOf, generate, steps } = require('./grammar')
const { run } = require('./program')
const { credentials, setUp } = require('./sides')

const THROWN = 'thrown by the fuzzer'

const LIB = path.join(__dirname, '../../../lib')

// What is compared of an app whose errors escape: what its other handlers notice then has no order.
const WIRE = ['requests', 'got', 'socket']

// How long app.close() may take when all connections are gone, in ms.
const CLOSES = 5000

function define () {
  const app = new Kone()
  app.use(run)
  return app
}

/**
 * Two servers per profile, for as many cases as wanted.
 *
 *    const bench = await fuzzer()
 *    await bench.lanes[0](generate(1))   // → [{ what, detail }, …]
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
    if (ours.length > 0) return ours.map(({ stack }) => ({ what: 'escaped', detail: stack }))
    if (warned.length > 0) return warned.splice(0).map(detail => ({ what: 'warning', detail }))
    const isFronts = b.length > 0 && !b.at(-1).node && b.escaped.length === 0
    if (isFronts && b.ends.some(count => count !== 1)) {
      return [{ what: "'finish' is not emitted once for each request", detail: String(b.ends) }]
    }
    const escapes = throwsItself(one) || [a, b].every(steps => steps.escaped.length > 0)
    const found = differences(a, b, script).filter(({ what }) => !escapes || WIRE.includes(what))
    if (found.length === 0) return found
    const name = throwsItself(one) && goesOn(a, b) ? 'node stops at a listener that throws' : accepted(script, a, b, transport)
    if (name) {
      counted[name] = (counted[name] ?? 0) + 1
      return []
    }
    return found.map(difference => ({ what: difference.what, detail: explain(script, [difference]) }))

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

  return {
    generate,
    lanes: [judge],
    RULES,
    names: OPS,
    namesOf: ({ programs }) => programs.flatMap(({ ops, later }) => [...ops, ...later].map(([name]) => name)),
    casesOf,
    summary: () => ({ requests, 'connections the front kept': kept, accepted: counted }),
    async close () {
      const sides = [...pairs.flat(), ...securePair]
      const closed = Promise.all(sides.map(({ app }) => app.close({ timeout: 10 * CLOSES, grace: 0 })))
      const isInTime = await Promise.race([closed.then(() => true), sleep(CLOSES, false, { ref: false })])
      await Promise.all(sides.map(side => side.close()))
      process.off('uncaughtException', onEscape)
      process.off('warning', onWarning)
      return isInTime ? [] : ['app.close() waits although all connections are gone']
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

module.exports = { fuzzer }

if (require.main === module) {
  main(__filename, async ({ self: isSelf, cases }) => ({
    ...await fuzzer({ other: isSelf ? callback : front }), options: { seconds: cases === undefined ? 60 : Infinity }
  }), { self: { type: 'boolean' } })
}
