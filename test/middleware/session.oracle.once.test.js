'use strict'

const assert = require('node:assert/strict')
const minimal = require('koa-session-minimal')
const MinimalMemory = require('koa-session-minimal/src/memory_store')

const frameworks = require('../helpers/frameworks')
const { random } = require('../helpers/random')
const rows = require('../helpers/session-rows')
const storeOf = require('../helpers/sessions')
const share = require('../helpers/share')

const { act, open } = rows

// Intentional differences, all tested in session.test.js: SameSite and Secure; an id that the store does
// not know is not used; a write is awaited and its failure is a 503; a failing read is a 503, not a
// 500; what is neither an object nor null is no session; what was changed before a throw is saved; a new session is saved
// before the old one goes.

const PROGRAMS = share(6, 9, 18)
const STEPS = 14
const CLIENTS = 3
const down = () => { throw new Error('down') }

const COOKIES = [undefined, { maxAge: 60_000 }, ctx => ({ maxAge: ctx.session.a ? 60_000 : 0 })]

const FAILURES = [
  down,
  async () => down(),
  () => new Promise((resolve, reject) => setImmediate(reject, new Error('down'))),
  () => ({ then (resolve, reject) { reject(new Error('down')) } })
]

frameworks('session beside koa-session-minimal', suite => {
  /** Visits of random clients, the same to koa-session-minimal and to this package. */
  async function beside (seed, rnd, sides, isBroken = () => false) {
    for (let step = 0; step < STEPS; step++) {
      const client = rnd.int(CLIENTS)
      const acts = actsOf(rnd)
      const broken = isBroken()
      const [theirs, ours] = await Promise.all(sides.map(world => {
        world.store.broken = broken
        return visit(world, client, acts)
      }))
      assert.deepEqual(ours, theirs, `seed ${seed}, step ${step}: ${acts}`)
    }
  }

  suite.it('should live the same lives over fast, slow and failing stores', async () => {
    for (let seed = 1; seed <= PROGRAMS; seed++) {
      const rnd = random(seed)
      const [slow, failing, cookie] = [rnd.chance(0.5), rnd.chance(0.3), rnd.pick(COOKIES)]
      const store = () => unreliable(slow, seed)
      const sides = [minimal, undefined].map(make => open(suite, { store, cookie }, { make }))
      await beside(seed, rnd, sides, () => failing && rnd.chance(0.2))
    }
  })

  suite.it('should live the same lives in memory', async () => {
    for (let seed = 1; seed <= PROGRAMS; seed++) {
      const memory = new MinimalMemory()
      const sides = [{ store: () => memory }, { store: 'memory' }]
      await beside(seed, random(seed), sides.map((options, i) => open(suite, options, { make: i === 0 ? minimal : undefined })))
      Object.values(memory.timeouts).forEach(clearTimeout) // a day long, each
    }
  })

  suite.it('should keep racing visits of many clients apart, and let the last write of one win', async () => {
    for (let seed = 1; seed <= 5; seed++) {
      const rnd = random(seed)
      const world = open(suite, { store: () => unreliable(true, seed) })
      const clients = [0, 1, 2, 3, 4]
      const seen = await Promise.all(clients.map(client => world.visit(`${client}: owner=${client}`)))
      const races = clients.flatMap(client => [1, 2, 3, 4].map(n => [client, n]))
      races.sort(() => rnd.next() - 0.5)
      await Promise.all(races.map(([client, n]) => world.check(`${client}: n=${n}`, { owner: client, n })))
      const records = await world.records()
      assert.equal(records.size, clients.length)
      for (const client of clients) {
        const { owner, n } = records.get(seen[client].value)
        assert.equal(owner, client)
        assert.ok([1, 2, 3, 4].includes(n))
      }
    }
  })

  suite.it('should change nothing when a write fails, in any way, at any time', async () => {
    let refused = 0
    for (let seed = 1; seed <= 3 * PROGRAMS; seed++) {
      const rnd = random(seed)
      const slow = rnd.chance(0.3)
      const world = open(suite, { store: () => unreliable(slow, seed) })
      const { store } = world
      const known = Array.from({ length: CLIENTS }, () => ({}))
      for (let step = 0; step < STEPS; step++) {
        const client = rnd.int(CLIENTS)
        const acts = actsOf(rnd)
        const method = rnd.chance(0.4) ? rnd.pick(['set', 'destroy']) : undefined
        const before = [...store.sessions]
        const jar = { ...world.jars[client] }
        if (method) store.failing[method] = rnd.pick(FAILURES)
        const { failed, body } = await visit(world, client, acts)
        store.failing = {}
        const what = `seed ${seed}, step ${step}: ${acts}, ${method} fails`
        const read = await visit(world, client, [])
        if (failed) {
          refused++
          assert.deepEqual(world.jars[client], jar, what)
          assert.deepEqual(read.body, known[client], what)
          // what is new is saved before the old one goes
          for (const [id, text] of before) assert.equal(store.sessions.get(id), text, what)
        } else {
          known[client] = read.body
          assert.deepEqual(read.body, body && typeof body === 'object' ? body : {}, what)
        }
      }
    }
    assert.ok(refused > 2.8 * PROGRAMS, String(refused))
  })
})

/** What a visit did, but for the intentional differences. */
async function visit (world, client, acts) {
  const { status, body, cookie, attributes } = await world.visit([`${client}: read`, ...acts.map(guarded)])
  await world.store.idle?.()
  return {
    failed: status >= 500,
    body: status >= 500 ? undefined : body,
    cookie,
    isKept: /expires=/.test(attributes),
    stored: world.store.idle && Array.from(world.store.sessions.values()).sort()
  }
}

function actsOf (rnd) {
  return Array.from({ length: rnd.int(4) }, () => rnd.pick([
    () => `${rnd.pick(['a', 'b', 'c'])}=${rnd.pick(['1', '"x"', 'null', 'true', '{"d":[1,2]}'])}`,
    () => `${rnd.pick(['a', 'b', 'c'])}=${rnd.int(3)}`,
    () => `delete ${rnd.pick(['a', 'b', 'c'])}`,
    () => `session=${rnd.pick(['null', '{}', '{"a":1}', '{"b":{"c":[]}}', 'null', 'null'])}`,
    () => 'renew',
    () => 'read'
  ])())
}

/** null has no properties. */
const guarded = text => ctx => {
  if (/^(\w=|delete)/.test(text) && ctx.session === null) return
  return act(text)(ctx)
}

/** A store whose operations are slow or failing on demand, that tells when it is at rest. */
function unreliable (slow, seed) {
  const rnd = random(seed)
  const pending = new Set()

  function answer (work) {
    const done = new Promise(resolve => slow ? setTimeout(resolve, rnd.int(4)) : resolve()).then(work)
    pending.add(done)
    const forget = () => pending.delete(done)
    done.then(forget, forget)
    return done
  }

  const store = storeOf((name, id, work) => store.failing[name]?.() ?? answer(name === 'get' && store.broken ? down : work))
  return Object.assign(store, {
    broken: false,
    failing: {}, // method → what it does instead
    async idle () {
      while (pending.size > 0) await Promise.allSettled(pending)
    }
  })
}
