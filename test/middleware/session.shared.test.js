'use strict'

const assert = require('node:assert/strict')
const { after, before, describe, it } = require('node:test')
const session = require('kone/middleware/session')

const Kone = require('../helpers/kone')
const { missing, need } = require('../helpers/programs')
const startRedis = require('../helpers/redis')
const storeOf = require('../helpers/sessions')

const HOUR = 3600e3
const LOOK = { role: 'guest', prefs: { theme: 'light' }, seen: [{ page: 1 }] }

class Guest {
  constructor () { Object.assign(this, structuredClone(LOOK)) }
}

class Hidden {
  #look = structuredClone(LOOK)
  toJSON () { return this.#look }
}

/** Objects that an app keeps and assigns to the sessions of all clients. */
const SHARED = {
  'a plain object': () => structuredClone(LOOK),
  'a frozen object': () => freeze(structuredClone(LOOK)),
  'a sealed object': () => Object.seal(structuredClone(LOOK)),
  'an object without a prototype': () => Object.assign(Object.create(null), structuredClone(LOOK)),
  'an instance': () => new Guest(),
  'an instance that makes its JSON itself': () => new Hidden(),
  'an object with getters': () => ({ get role () { return 'guest' }, prefs: { theme: 'light' }, seen: [{ page: 1 }] }),
  'the session of another request': async visit => {
    let theirs
    await visit(ctx => {
      ctx.session = structuredClone(LOOK)
      theirs = ctx.session
    })
    return theirs
  }
}

/** Ways to change one client's session. What the other one has must stay as it was. */
const CHANGES = {
  data (ctx) { Object.assign(ctx.session, { role: 'admin', user: 'ann' }) },
  'a nested object' (ctx) { ctx.session.prefs.theme = 'dark' },
  'a nested array' (ctx) { ctx.session.seen.push(2); ctx.session.seen[0].page = 2 },
  maxAge (ctx) { ctx.session.maxAge = 9 * HOUR },
  'its id' (ctx) { return ctx.session.regenerate() },
  save (ctx) { return ctx.session.save() },
  null (ctx) { ctx.session = null }
}

const STORES = {
  memory: () => session.memory(),
  'the cookie': () => session.sealedCookie({ keys: ['k'.repeat(32)] }),
  'a store of promises': () => storeOf(),
  'a store of objects': () => objects()
}

/** A store that keeps and gives back the very objects, and the same one for all ids that it does not know. */
function objects () {
  const nobody = structuredClone(LOOK)
  const sessions = new Map()
  return {
    get: id => sessions.get(id) ?? nobody,
    set (id, value) { sessions.set(id, value) },
    destroy (id) { sessions.delete(id) }
  }
}

/** Visits of an app: each runs its function as the handler, as the client whose cookies are given. */
function start (store, options) {
  const app = new Kone({ keys: ['a key'] })
  app.silent = true
  let handler
  app.use(session({ key: 'sid', maxAge: HOUR, store, ...options }))
  app.use(async ctx => {
    await handler(ctx)
    ctx.body = ''
  })
  return async (fn, cookies = {}) => {
    handler = fn
    const cookie = Object.entries(cookies).map(pair => pair.join('=')).join('; ')
    const res = await app.inject({ url: '/', headers: cookie ? { cookie } : {} })
    assert.equal(res.status, 200)
    for (const line of res.headers['set-cookie'] ?? []) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)
      cookies[name] = value
    }
  }
}

for (const [name, make] of Object.entries(STORES)) {
  describe(`one object given to two sessions in ${name}`, () => suite(make))
}

for (const [name, connect] of Object.entries(startRedis.CLIENTS)) {
  describe(`one object given to two sessions in Redis, by ${name}`, { skip: missing('redis-server') }, () => {
    let server
    let connected
    before(async () => {
      server = await startRedis(need('redis-server'))
      connected = await connect(server.port)
    })
    after(async () => {
      await connected?.stop()
      await server?.stop()
    })
    suite(() => session.redis(connected.client))
  })
}

function suite (make) {
  for (const [kind, of] of Object.entries(SHARED)) {
    it(`should give each client a session of its own: ${kind}`, async () => {
      for (const options of [{}, { renew: true }, { rolling: true, signed: true }]) {
        for (const [what, change] of Object.entries(CHANGES)) {
          await apart(start(make(), options), of, change, `${what}, ${JSON.stringify(options)}`)
        }
      }
    })
  }

  it('should keep the session that is assigned to itself', async () => {
    const visit = start(make())
    const ann = {}
    await visit(ctx => {
      const { session } = ctx
      ctx.session = session
      session.user = 'ann'
      ctx.session.maxAge = 9 * HOUR
    }, ann)
    await visit(ctx => assert.deepEqual([{ ...ctx.session }, ctx.session.maxAge], [{ user: 'ann' }, 9 * HOUR]), ann)
  })
}

/** Ann changes her session while Bob's request, which was given the same object, is not over. */
async function apart (visit, of, change, what) {
  const shared = await of(visit)
  const [ann, bob] = [{}, {}]
  const lookOf = ({ session }) => [JSON.parse(JSON.stringify(session)), session.maxAge, session.isNew, session.externalKey]
  await visit(async annsCtx => {
    annsCtx.session = shared
    await visit(async bobsCtx => {
      bobsCtx.session = shared
      const before = lookOf(bobsCtx)
      assert.deepEqual(before[0], LOOK, what)
      await change(annsCtx)
      assert.deepEqual(lookOf(bobsCtx), before, what)
    }, bob)
  }, ann)
  assert.deepEqual(JSON.parse(JSON.stringify(shared)), LOOK, what)
  await visit(ctx => assert.deepEqual([{ ...ctx.session }, ctx.session.maxAge], [LOOK, HOUR], what), bob)
}

function freeze (value) {
  for (const inner of Object.values(value)) if (typeof inner === 'object') freeze(inner)
  return Object.freeze(value)
}
