'use strict'

const assert = require('node:assert/strict')
const minimal = require('koa-session-minimal')
const MinimalMemory = require('koa-session-minimal/src/memory_store')
const session = require('kone/middleware/session')

const frameworks = require('../helpers/frameworks')
const { random } = require('../helpers/random')
const storeOf = require('../helpers/sessions')
const visitor = require('../helpers/visitor')

// Intentional differences, all tested in session.test.js: SameSite and Secure; an id that the store does
// not know is not used; a write is awaited and its failure is a 503; a failing read is a 503, not a
// 500; an array is no session; what was changed before a throw is saved; a new session is saved before the old one goes.

const PROGRAMS = 18
const STEPS = 14
const CLIENTS = 3

frameworks('session beside koa-session-minimal', ({ it, Koa, ask }) => {
  it('should live the same lives over fast, slow and failing stores', async () => {
    for (let seed = 1; seed <= PROGRAMS; seed++) {
      const rnd = random(seed)
      const slow = rnd.chance(0.5)
      const failing = rnd.chance(0.3)
      const byUser = ctx => ({ maxAge: ctx.session.a ? 60_000 : 0 })
      const cookie = rnd.pick([undefined, { maxAge: 60_000 }, byUser])
      const sides = [minimal, session].map(make => side(make, cookie, slow, seed))
      for (let step = 0; step < STEPS; step++) {
        const client = rnd.int(CLIENTS)
        const actions = Array.from({ length: rnd.int(4) }, () => action(rnd))
        const broken = failing && rnd.chance(0.2)
        const [theirs, ours] = await Promise.all(sides.map(side => side.visit(client, actions, broken)))
        assert.deepEqual(ours, theirs, `seed ${seed}, step ${step}: ${JSON.stringify(actions)}`)
      }
    }
  })

  it('should live the same lives in memory', async () => {
    for (let seed = 1; seed <= PROGRAMS; seed++) {
      const rnd = random(seed)
      const memory = new MinimalMemory()
      const sides = [
        side(options => minimal({ ...options, store: memory }), undefined, false, seed),
        side(options => session({ ...options, store: session.memory() }), undefined, false, seed)
      ]
      for (let step = 0; step < STEPS; step++) {
        const client = rnd.int(CLIENTS)
        const actions = Array.from({ length: rnd.int(4) }, () => action(rnd))
        const [theirs, ours] = await Promise.all(sides.map(side => side.visit(client, actions)))
        assert.deepEqual(ours, theirs, `seed ${seed}, step ${step}: ${JSON.stringify(actions)}`)
      }
      Object.values(memory.timeouts).forEach(clearTimeout) // a day long, each
    }
  })

  it('should keep racing requests of many clients apart, and let the last write of one win', async () => {
    for (let seed = 1; seed <= 5; seed++) {
      const rnd = random(seed)
      const { visit, cookies, store } = side(session, undefined, true, seed)
      const clients = [0, 1, 2, 3, 4]
      await Promise.all(clients.map(client => visit(client, [['set', 'owner', client]])))
      const ids = cookies.map(cookie => cookie['koa:sess'])
      assert.equal(new Set(ids).size, clients.length)
      const races = clients.flatMap(client => [1, 2, 3, 4].map(n => [client, n]))
      races.sort(() => rnd.next() - 0.5)
      const bodies = await Promise.all(races.map(([client, n]) => visit(client, [['set', 'n', n]])))
      races.forEach(([client, n], i) => assert.deepEqual(bodies[i].body, { owner: client, n }))
      for (const client of clients) {
        const { owner, n } = JSON.parse(store.sessions.get(`koa:sess:${ids[client]}`))
        assert.equal(owner, client)
        assert.ok([1, 2, 3, 4].includes(n))
      }
      assert.equal(store.sessions.size, clients.length)
    }
  })

  it('should change nothing when a write fails, in any way, at any time', async () => {
    const failures = [
      () => { throw new Error('down') },
      async () => { throw new Error('down') },
      () => new Promise((resolve, reject) => setImmediate(reject, new Error('down'))),
      () => ({ then (resolve, reject) { reject(new Error('down')) } })
    ]
    let refused = 0
    for (let seed = 1; seed <= 3 * PROGRAMS; seed++) {
      const rnd = random(seed)
      const { visit, cookies, store } = side(session, undefined, rnd.chance(0.3), seed)
      const known = Array.from({ length: CLIENTS }, () => ({}))
      for (let step = 0; step < STEPS; step++) {
        const client = rnd.int(CLIENTS)
        const actions = Array.from({ length: rnd.int(4) }, () => action(rnd))
        const method = rnd.chance(0.4) ? rnd.pick(['set', 'destroy']) : undefined
        const before = [...store.sessions]
        const cookie = { ...cookies[client] }
        if (method) store.failing[method] = rnd.pick(failures)
        const { failed, body } = await visit(client, actions)
        store.failing = {}
        const told = `seed ${seed}, step ${step}: ${JSON.stringify(actions)}, ${method} fails`
        const read = await visit(client, [])
        if (failed) {
          refused++
          assert.deepEqual(cookies[client], cookie, told)
          assert.deepEqual(read.body, known[client], told)
          // what is new is saved before the old one goes
          for (const [id, text] of before) assert.equal(store.sessions.get(id), text, told)
        } else {
          known[client] = read.body
          assert.deepEqual(read.body, body && typeof body === 'object' ? body : {}, told)
        }
      }
    }
    assert.ok(refused > 50, String(refused))
  })

  /** An app with its store and clients, and a way to let a client act in it. */
  function side (make, cookie, slow, seed) {
    const store = unreliable(slow, seed)
    const app = [make({ store, cookie }), ctx => {
      for (const [kind, key, value] of JSON.parse(decodeURIComponent(ctx.querystring))) act(ctx, kind, key, value)
      ctx.body = JSON.stringify(ctx.session) // before Koa sends it, as it is now
      ctx.type = 'json'
    }]
    const cookies = Array.from({ length: 5 }, () => ({}))
    const clients = cookies.map(jar => visitor(ask, app, jar))

    async function visit (client, steps, broken = false) {
      store.broken = broken
      const res = await clients[client](`GET /?${encodeURIComponent(JSON.stringify(steps))}`)
      const failed = res.status >= 500
      await store.idle()
      return {
        failed,
        body: failed ? undefined : res.json(),
        cookie: kindOf(res.setCookie['koa:sess']),
        stored: Array.from(store.sessions.values()).sort()
      }
    }

    return { visit, cookies, store }
  }
})

/** What a response did to the cookie, but for the intentional differences. */
function kindOf (line) {
  if (line === undefined) return 'none'
  if (/expires=Thu, 01 Jan 1970/.test(line)) return 'cleared'
  return /expires=/.test(line) ? 'kept' : 'until closed'
}

function action (rnd) {
  return rnd.pick([
    () => ['set', rnd.pick(['a', 'b', 'c']), rnd.pick([1, 'x', null, true, { d: [1, 2] }])],
    () => ['set', rnd.pick(['a', 'b', 'c']), rnd.int(3)],
    () => ['delete', rnd.pick(['a', 'b', 'c'])],
    () => ['replace', rnd.pick([null, {}, { a: 1 }, { b: { c: [] } }, 'text', 0])],
    () => ['renew'],
    () => ['nothing']
  ])()
}

function act (ctx, kind, key, value) {
  if (kind === 'replace') ctx.session = key
  if (kind === 'renew') ctx.sessionHandler.regenerateId()
  if (ctx.session === null || typeof ctx.session !== 'object') return
  if (kind === 'set') ctx.session[key] = value
  if (kind === 'delete') delete ctx.session[key]
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

  const down = () => { throw new Error('down') }
  const store = storeOf((name, id, work) => store.failing[name]?.() ?? answer(name === 'get' && store.broken ? down : work))
  return Object.assign(store, {
    broken: false,
    failing: {}, // method → what it does instead
    async idle () {
      while (pending.size > 0) await Promise.allSettled(pending)
    }
  })
}
