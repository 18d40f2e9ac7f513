'use strict'

const { describe, it, before, after } = require('node:test')
const assert = require('node:assert/strict')
const path = require('node:path')
const { missing, which } = require('../helpers/programs')
const startRedis = require('../helpers/redis')
const visitor = require('../helpers/visitor')
const { make } = require('./instance')

const STATE = `module.exports = require('${path.join(__dirname, 'fixtures/state.js')}')`

/** A browser's fetch of JSON, with its cookies. */
const browser = url => visitor(async (url, method, { headers, body }) => {
  const res = await fetch(url, { method, headers: { ...headers, 'content-type': 'application/json' }, body: body && JSON.stringify(body) })
  const { token, count, worker } = res.ok ? await res.json() : {}
  return { status: res.status, headers: { 'set-cookie': res.headers.getSetCookie() }, token, count, worker }
}, url)

/** Posts with the token of the first page until two workers of each generation have counted. */
async function signedIn (t, env) {
  const instance = await make(t, 'node', env)
  instance.write(STATE)
  await instance.start()
  const ask = browser(instance.url)
  const { token } = await ask('GET')
  assert.equal((await ask('POST')).status, 403)

  let count = 0
  for (const reloaded of [false, true]) {
    if (reloaded) assert.equal((await instance.run('reload')).code, 0)
    const workers = new Set()
    while (workers.size < 2) {
      const answer = await ask('POST', { body: { _csrf: token } })
      assert.equal(answer.status, 200)
      assert.equal(answer.count, ++count)
      workers.add(answer.worker)
      assert.ok(count < 30)
    }
  }
  return { instance, ask }
}

describe('state across workers and reloads', () => {
  it('should hold sessions and csrf tokens by the sealed cookie', t => signedIn(t))

  describe('by Redis', { skip: missing('redis-server') }, () => {
    let redis
    before(async () => { redis = await startRedis(which('redis-server')) })
    after(() => redis?.stop())

    it('should hold sessions and csrf tokens, and count rate limits together', async t => {
      const { ask } = await signedIn(t, { REDIS: redis.port })
      let asked = 0
      while ((await ask('GET')).status !== 429) assert.ok(++asked <= 40)
      for (let i = 0; i < 6; i++) assert.equal((await ask('GET')).status, 429)
    })
  })
})
