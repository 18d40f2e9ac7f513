'use strict'

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const session = require('kone/middleware/session')

const Kone = require('../helpers/kone')
const { missing } = require('../helpers/programs')
const startRedis = require('../helpers/redis')
const until = require('../helpers/until')

/** An app on a Redis of its own. */
async function start (t, connect) {
  const { client, ...redis } = await startRedis.connected(t, connect)
  const app = new Kone()
  const errors = []
  app.on('error', err => errors.push(err))
  const sessions = session({ store: session.redis(client), cookie: { maxAge: 60_000.5 } })
  app.use(sessions)
  app.use(ctx => {
    const { path } = ctx
    if (path === '/untouched') {
      ctx.body = 'hi'
      return
    }
    if (path.startsWith('/user/')) ctx.session.user = path.slice(6)
    if (path === '/add') ctx.session.count = (ctx.session.count || 0) + 1
    if (path === '/clear') ctx.session = null
    if (path === '/renew') ctx.sessionHandler.regenerateId()
    ctx.body = { ...ctx.session }
  })

  return {
    ...redis,
    client,
    sessions,
    errors,
    ready: () => client.ping(),
    async ask (url, cookie) {
      const res = await app.inject({ url, headers: cookie ? { cookie } : {} })
      const [set] = res.headers['set-cookie']?.[0].split(';') ?? []
      return { status: res.status, set, json: res.json }
    }
  }
}

// side by side, for some of them wait until an operation has failed
describe('session.redis()', { skip: missing('redis-server'), concurrency: true }, () => {
  for (const [name, connect] of Object.entries(startRedis.CLIENTS)) {
    it(`should keep, renew and destroy a session, and let Redis forget it, with ${name}`, async t => {
      const { client, ttlOf, ask } = await start(t, connect)
      const { set } = await ask('/add')
      assert.deepEqual((await ask('/add', set)).json(), { count: 2 })
      const key = set.replace('=', ':')
      assert.equal(await client.get(key), '{"count":2}')
      const ttl = await ttlOf(key)
      assert.ok(ttl > 50_000 && ttl <= 60_001)
      const { set: renewed } = await ask('/renew', set)
      assert.deepEqual((await ask('/', set)).json(), {})
      assert.equal(await client.get(key), null)
      assert.deepEqual((await ask('/', renewed)).json(), { count: 2 })
      await ask('/clear', renewed)
      assert.equal(await client.get(renewed.replace('=', ':')), null)
    })

    it(`should begin anew for a record that is not JSON, and report it once, with ${name}`, async t => {
      const { client, ask, errors } = await start(t, connect)
      const [{ set }, other] = [await ask('/add'), await ask('/add')]
      for (const one of [set, other.set]) await client.set(one.replace('=', ':'), '{"count":')
      for (let i = 0; i < 8; i++) assert.deepEqual((await ask('/', set)).json(), {})
      const { set: renewed, json } = await ask('/add', set)
      assert.deepEqual(json(), { count: 1 })
      assert.notEqual(renewed, set)
      assert.deepEqual(errors.map(({ code, cause }) => [code, cause.name]), [['KONE_ERR_SESSION_RECORD', 'SyntaxError']])
      await ask('/', other.set)
      assert.equal(errors.length, 2, 'each record is reported')
    })

    it(`should lose and mix up no session when Redis is killed and started again with ${name}`, async t => {
      const { server, ready, sessions, ask } = await start(t, connect)
      const users = await Promise.all(Array.from({ length: 20 }, async (_, i) => {
        const { status, set } = await ask(`/user/${i}`)
        assert.equal(status, 200)
        return set
      }))
      await server.kill()
      const [down, fresh, free] = await Promise.all([
        Promise.all(users.map(cookie => ask('/add', cookie))),
        ask('/'),
        ask('/untouched')
      ])
      for (const { status, set } of down) {
        assert.equal(status, 503)
        assert.equal(set, undefined)
      }
      assert.equal(fresh.status, 200, 'a visitor without a cookie needs no store')
      assert.equal(free.status, 200)
      await server.restart()
      await ready()
      await until(() => sessions.isStoreUp)
      await Promise.all(users.map(async (cookie, i) => {
        const res = await ask('/', cookie)
        assert.equal(res.status, 200)
        assert.deepEqual(res.json(), { user: String(i) })
      }))
    })

    it(`should fail at once after five failures, until Redis responds to a probe, with ${name}`, async t => {
      const { server, ready, sessions, errors, ask } = await start(t, connect)
      const { set } = await ask('/add')
      assert.equal(sessions.isStoreUp, true)
      await server.kill()
      await Promise.all(Array.from({ length: 5 }, () => ask('/', set)))
      assert.equal(sessions.isStoreUp, false)
      errors.length = 0
      for (let i = 0; i < 20; i++) assert.equal((await ask('/', set)).status, 503) // else 5 s for each
      assert.deepEqual([...new Set(errors.map(err => err.cause.code))], ['KONE_ERR_STORE_DOWN'])
      errors.length = 0
      for (let i = 0; i < 20; i++) assert.equal((await ask('/untouched', set)).status, 200)
      assert.deepEqual(errors, [], 'the failure is known')
      await server.restart()
      await ready()
      await until(() => sessions.isStoreUp)
      assert.deepEqual((await ask('/', set)).json(), { count: 1 })
    })

    it(`should fail after 5 s when Redis hangs, and go on afterwards with ${name}`, async t => {
      const { server, ready, ask } = await start(t, connect)
      const { set } = await ask('/add')
      await server.pause()
      const answers = await Promise.all([ask('/', set), ask('/add', set), ask('/add')])
      server.resume()
      assert.deepEqual(answers.map(({ status }) => status), [503, 503, 503])
      assert.deepEqual(answers.map(({ set }) => set), [undefined, undefined, undefined])
      await ready()
      assert.deepEqual((await ask('/', set)).json(), { count: 1 })
    })
  }
})

describe('session.redis(client)', () => {
  it('should take any client with get, set and del, that takes arguments as Redis does', async () => {
    const calls = []
    const client = {
      get: async key => { calls.push(['get', key]) },
      set: async (...args) => { calls.push(['set', ...args]) },
      del: async key => { calls.push(['del', key]) }
    }
    const store = session.redis(client)
    await store.set('a', { b: 1 }, 1000.5)
    assert.equal(await store.get('a'), undefined)
    await store.destroy('a')
    assert.deepEqual(calls, [['set', 'a', '{"b":1}', 'PX', 1001], ['get', 'a'], ['del', 'a']])
  })

  it('should fail when the client fails or is not connected', async () => {
    const { createClient } = require('redis')
    const app = new Kone()
    app.silent = true
    app.use(session({ store: session.redis(createClient()) }))
    app.use(ctx => { ctx.session.a = 1; ctx.body = '' })
    assert.equal((await app.inject('/')).status, 503)
  })
})
