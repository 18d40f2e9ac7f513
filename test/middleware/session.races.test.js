'use strict'

const assert = require('node:assert/strict')
const { after, before, describe, it } = require('node:test')
const session = require('kone/middleware/session')

const Kone = require('../helpers/kone')
const { missing, need } = require('../helpers/programs')
const { random } = require('../helpers/random')
const startRedis = require('../helpers/redis')
const storeOf = require('../helpers/sessions')

const KEY = 'sid'
const HOUR = 3600e3
const SEEDS = Array.from({ length: 12 }, (_, i) => i + 1)

// Parallel requests of one client. Each waits in its handler until the test lets it go on.

/** A store without `replace` and `touch`, whose operations take a random number of turns of the event loop. */
function slow ({ int } = { int: () => 3 }) {
  return storeOf(async (name, id, work) => {
    for (let i = int(6); i >= 0; i--) await new Promise(setImmediate)
    const result = work()
    for (let i = int(6); i >= 0; i--) await new Promise(setImmediate)
    return result
  })
}

/** The same, at once. */
const immediate = () => storeOf((name, id, work) => work())

const ACTIONS = {
  nothing () {},
  read: ctx => ctx.session.user,
  write (ctx, mark) { ctx.session.mark = mark },
  save: (ctx, mark) => ctx.session.save(),
  'sign out' (ctx) { ctx.session = null },
  async 'write, save and sign out' (ctx, mark) {
    ctx.session.mark = mark
    await ctx.session.save()
    ctx.session = null
  },
  renew (ctx) { ctx.sessionHandler.regenerateId() },
  async 'write and renew while it is saved' (ctx, mark) {
    ctx.session.mark = mark
    const saving = ctx.session.save()
    ctx.sessionHandler.regenerateId()
    await saving
  },
  async 'write and sign out while it is saved' (ctx, mark) {
    ctx.session.mark = mark
    ctx.session.save()
    ctx.session = null
  }
}
const DESTROYS = /sign out|renew/
const WRITES = /write/

/** An app whose handlers wait: `begin` resolves when a request has its session, its `end(action, mark)` with the response. */
function start (store, options = {}) {
  const app = new Kone()
  const errors = []
  const waiting = new Map()
  app.on('error', err => errors.push(err))
  app.use(session({ key: KEY, store, maxAge: HOUR, ...options }))
  app.use(async ctx => {
    if (ctx.get('x-reads')) ctx.session // eslint-disable-line no-unused-expressions
    const [action, mark] = await waiting.get(ctx.get('x-request'))()
    await ACTIONS[action](ctx, mark)
    ctx.body = ''
  })
  let requests = 0

  async function begin (id, reads = true) {
    const name = String(++requests)
    const headers = { 'x-request': name, ...(reads && { 'x-reads': '1' }), ...(id && { cookie: `${KEY}=${id}` }) }
    let release
    const begun = new Promise(resolve => {
      const released = new Promise(resolve => { release = resolve })
      waiting.set(name, () => { resolve(); return released })
    })
    const responded = app.inject({ url: '/', headers })
    await Promise.race([begun, responded])
    return async (action, mark) => {
      release([action, mark])
      const res = await responded
      const [, set] = /^sid=([^;]*)/.exec(res.headers['set-cookie']?.[0] ?? '') ?? []
      return { status: res.status, set } // '' clears the cookie
    }
  }

  return {
    errors,
    begin,
    signIn: async mark => (await (await begin())('write', mark)).set,
    /** What is stored under an id, without what the middleware adds. */
    async stored (id) {
      const { _expire, _maxAge, ...data } = await store.get(`${KEY}:${id}`) ?? { none: true }
      return data.none ? undefined : data
    }
  }
}

const STORES = { memory: () => session.memory(), 'a store of promises': slow, 'a synchronous store': immediate }

const CLIENTS = {
  ...startRedis.CLIENTS,

  /** A client of other software, which has these three commands. */
  async 'get, set and del' (port) {
    const { client, stop } = await startRedis.CLIENTS.ioredis(port)
    const few = Object.fromEntries(['get', 'set', 'del'].map(name => [name, (...args) => client[name](...args)]))
    return { client: few, stop }
  }
}

for (const [name, make] of Object.entries(STORES)) {
  describe(`parallel requests of a session in ${name}`, () => suite(make))
}

for (const [name, connect] of Object.entries(CLIENTS)) {
  describe(`parallel requests of a session in Redis, by ${name}`, { skip: missing('redis-server') }, () => {
    let server
    let connected
    before(async () => {
      server = await startRedis(need('redis-server'))
      connected = await connect(server.port)
    })
    after(async () => {
      connected?.stop()
      await server?.stop()
    })
    suite(() => session.redis(connected.client))
  })
}

function suite (make) {
  for (const options of [{}, { rolling: true }, { renew: true }]) {
    const title = Object.keys(options)[0] ?? 'neither rolling nor renew'

    for (const action of ['write', 'read', 'save', 'nothing']) {
      it(`should not undo a sign-out (${action}, ${title})`, async () => {
        const app = start(make(), options)
        const id = await app.signIn('ada')
        const late = await app.begin(id, action !== 'nothing')
        const signOut = await app.begin(id)
        assert.equal((await signOut('sign out')).set, '')
        const { status, set } = await late(action, 'late')
        assert.deepEqual([status, set], [200, undefined])
        assert.equal(await app.stored(id), undefined)
        assert.deepEqual(app.errors, [])
      })
    }

    for (const action of ['read', 'save', 'nothing']) {
      it(`should not revert a write (${action}, ${title})`, async () => {
        const app = start(make(), options)
        const id = await app.signIn('old')
        const late = await app.begin(id, action !== 'nothing')
        const writer = await app.begin(id)
        await writer('write', 'new')
        await late(action)
        assert.deepEqual(await app.stored(id), { mark: 'new' })
      })
    }

    it(`should clear the cookie of a sign-out whose session has got another id (${title})`, async () => {
      for (const action of ['sign out', 'write, save and sign out']) {
        const app = start(make(), options)
        const id = await app.signIn('ada')
        const late = await app.begin(id)
        await (await app.begin(id))('renew')
        assert.deepEqual(await late(action, 'late'), { status: 200, set: '' })
        assert.equal(await app.stored(id), undefined)
      }
    })

    it(`should give a new id although a save is not finished (${title})`, async () => {
      const app = start(make(), options)
      const planted = await app.signIn('stranger')
      const { set } = await (await app.begin(planted))('write and renew while it is saved', 'ada')
      assert.match(set, /^[\w-]{32}$/)
      assert.notEqual(set, planted)
      assert.equal(await app.stored(planted), undefined)
      assert.deepEqual(await app.stored(set), { mark: 'ada' })
    })

    it(`should destroy a session although a save is not finished (${title})`, async () => {
      const app = start(make(), options)
      const id = await app.signIn('ada')
      assert.equal((await (await app.begin(id))('write and sign out while it is saved', 'late')).set, '')
      assert.equal(await app.stored(id), undefined)
    })

    it(`should bring back no id, and revert no write, of random requests (${title})`, async () => {
      for (const seed of SEEDS) await model(seed, rnd => start(make(rnd), options))
    })
  }
}

/**
 * Rounds of requests that have one id and overlap at random. An id that one of them has destroyed stays unknown; what is stored
 * otherwise is what a request of this round has written, or what was there before.
 */
async function model (seed, startApp) {
  const rnd = random(seed)
  const app = startApp(rnd)
  const gone = new Set()
  let id = await app.signIn('first')
  let before = 'first'

  for (let round = 0; round < 6; round++) {
    const log = []
    const ends = []
    for (let i = 2 + rnd.int(4); i > 0; i--) ends.push(await app.begin(id, rnd.chance(0.7)))
    const running = ends.map(async (end, i) => {
      const action = rnd.pick(Object.keys(ACTIONS))
      const mark = `${round}.${i}`
      for (let turns = rnd.int(8); turns > 0; turns--) await new Promise(setImmediate)
      const { status, set } = await end(action, mark)
      assert.equal(status, 200)
      log.push({ action, mark, set })
    })
    await Promise.all(running)

    const what = `seed ${seed}, round ${round}: ${JSON.stringify(log)}`
    if (log.some(({ action }) => DESTROYS.test(action))) gone.add(id)
    for (const one of gone) assert.equal(await app.stored(one), undefined, what)
    const marks = log.filter(({ action }) => WRITES.test(action)).map(({ mark }) => mark)
    const stored = (await app.stored(id))?.mark
    if (!gone.has(id)) assert.ok((marks.length === 0 ? [before] : marks).includes(stored), `${stored}, ${what}`)

    const next = log.map(({ set }) => set).filter(set => set && !gone.has(set))
    const alive = []
    for (const one of next) if (await app.stored(one) !== undefined) alive.push(one)
    if (alive.length > 0) id = rnd.pick(alive)
    else if (gone.has(id)) id = await app.signIn(`again ${round}`)
    before = (await app.stored(id)).mark
  }
  assert.deepEqual(app.errors, [])
}
