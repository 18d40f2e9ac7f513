'use strict'

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { createClient } = require('redis')
const session = require('kone/middleware/session')

const { missing } = require('../helpers/programs')
const startRedis = require('../helpers/redis')
const rows = require('../helpers/session-rows')

const { KEY, isUp, jar, together } = rows
const USERS = Array.from({ length: 20 }, (_, i) => `user${i}`)
const ANY = /^/ // of visits at the same time: the errors of one may be seen in another
const DOWN = { errors: ['KONE_ERR_SESSION_STORE: KONE_ERR_STORE_DOWN'] }
const options = { cookie: { maxAge: 60_000.5 } }

const kills = ({ server }) => server.kill()
const pauses = ({ server }) => server.pause()
const resumes = async ({ server, client }) => { server.resume(); await client.ping() }
const restarts = async ({ server, client }) => { await server.restart(); await client.ping() }

const TABLE = [
  ['should keep, renew and destroy a session, and let Redis forget it', options,
    ['add', { count: 1 }], ['add', { count: 2 }, { stored: { ann: { count: 2 } } }],
    async ({ client, ttlOf, jars }) => {
      const name = `${KEY}:${jars.ann[KEY]}`
      assert.equal(await client.get(name), '{"count":2}')
      const ttl = await ttlOf(name)
      assert.ok(ttl > 50_000 && ttl <= 60_001)
    },
    jar('thief', cookies => cookies), ['renew', { count: 2 }, { id: 'new', stored: { ann: { count: 2 } } }],
    ['thief: read', {}], ['read', { count: 2 }], ['null', null, { cookie: 'cleared', stored: {} }]],
  ['should begin anew for a record that is not JSON, and report it once', options,
    ['add', { count: 1 }], ['bob: add', { count: 1 }],
    async ({ client, jars }) => { for (const who of ['ann', 'bob']) await client.set(`${KEY}:${jars[who][KEY]}`, '{"count":') },
    ['read', {}, { errors: /^KONE_ERR_SESSION_RECORD: .*JSON.*$/ }],
    ...Array(7).fill(['read', {}, { errors: [] }]),
    ['add', { count: 1 }, { id: 'new' }],
    ['bob: read', {}, { errors: /^KONE_ERR_SESSION_RECORD: .*JSON.*$/ }]],
  ['should lose and mix up no session when Redis is killed and started again', options,
    together(...USERS.map(user => [`${user}: user="${user}"`, { user }])),
    kills,
    together(
      ...USERS.map(user => [`${user}: add`, 503, { lines: 0 }]),
      ['bob: read', {}, { errors: ANY }], // without a cookie he needs no store
      ['cid: nothing', 'hi', { errors: ANY }]),
    restarts,
    isUp,
    together(...USERS.map(user => [`${user}: read`, { user }]))],
  ['should fail at once after five failures, until Redis responds to a probe', options,
    ['add', { count: 1 }, { isStoreUp: true }],
    kills,
    together(...Array(5).fill(['read', 503])),
    ...Array(20).fill(['read', 503, { isStoreUp: false, ...DOWN }]), // else 5 s for each
    ...Array(20).fill(['nothing', 'hi', { errors: [] }]), // the failure is known
    restarts,
    isUp, ['read', { count: 1 }]],
  ['should fail after 5 s when Redis hangs, and go on afterwards', options,
    ['add', { count: 1 }],
    pauses,
    together(['read', 503, { lines: 0 }], ['add', 503, { lines: 0 }], ['bob: add', 503, { lines: 0 }]),
    resumes, ['read', { count: 1 }]]
]

// side by side, for some of them wait until an operation has failed
describe('session.redis()', { skip: missing('redis-server'), concurrency: true }, () => {
  for (const [name, connect] of Object.entries(startRedis.CLIENTS)) {
    rows(`a session in Redis, by ${name},`, TABLE, {
      only: ['kone'],
      clock: false,
      async setup (t) {
        const redis = await startRedis.connected(t, connect)
        return { ...redis, store: () => session.redis(redis.client) }
      }
    })
  }
})

rows('session.redis(client)', [
  ['should fail when the client is not connected', { store: () => session.redis(createClient()) },
    ['add', 503, { lines: 0 }]]
], { only: ['kone'] })

describe('session.redis(client)', () => {
  it('should take any client with get, set and del, that takes arguments as Redis does', async () => {
    const calls = []
    const client = Object.fromEntries(['get', 'set', 'del'].map(name => [name, async (...args) => { calls.push([name, ...args]) }]))
    const store = session.redis(client)
    await store.set('a', { b: 1 }, 1000.5)
    assert.equal(await store.get('a'), undefined)
    await store.destroy('a')
    assert.deepEqual(calls, [['set', 'a', '{"b":1}', 'PX', 1001], ['get', 'a'], ['del', 'a']])
  })
})
