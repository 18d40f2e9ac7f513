'use strict'

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const koaRateLimit = require('koa-ratelimit')
const rateLimit = require('kone/middleware/rateLimit')
const session = require('kone/middleware/session')
const networkOf = require('../../middleware/rateLimit/network')

const frameworks = require('../helpers/frameworks')
const Kone = require('../helpers/kone')
const { missing } = require('../helpers/programs')
const { random } = require('../helpers/random')
const startRedis = require('../helpers/redis')
const until = require('../helpers/until')

const failing = (eval_ = async () => { throw new Error('down') }) => ({ get () {}, set () {}, del () {}, eval: eval_ })

/** What is left at least of so many seconds from now on, in whole seconds. */
function secondsOf (seconds) {
  const end = performance.now() + seconds * 1000
  return () => Math.floor((end - performance.now()) / 1000)
}

/** `performance.now()` stands still, but for the ticks. */
function stoppedClock (t) {
  let now = performance.now()
  t.mock.method(performance, 'now', () => now)
  return ms => { now += ms }
}

const hi = ctx => { ctx.body = 'hi' }
const limited = options => new Kone({ silent: true }).use(rateLimit(options)).use(hi)

const address = i => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`

/** What `run` returns while `Replacement` stands in for Map. */
function withMap (Replacement, run) {
  const { Map: real } = globalThis
  globalThis.Map = Replacement
  try {
    return run()
  } finally {
    globalThis.Map = real
  }
}

frameworks('rateLimit', ({ it, Koa, ask, errors, name }) => {
  function limited (options, make = rateLimit) {
    return new Koa().use(make(options)).use(hi)
  }

  it('should let max requests pass and tell what is left', async () => {
    const app = limited({ max: 2, duration: 60_000 })
    const before = Date.now()
    const left = secondsOf(60)
    for (const remaining of ['1', '0']) {
      const { text, headers } = await ask(app, 'GET /')
      assert.deepEqual([text, headers['x-ratelimit-limit']], ['hi', '2'])
      assert.equal(headers['x-ratelimit-remaining'], remaining)
      assert.match(headers['x-ratelimit-reset'], /^\d{10}$/)
      const reset = headers['x-ratelimit-reset'] * 1000
      assert.ok(reset >= before + 60_000 && reset <= Date.now() + 61_000)
      assert.equal(headers['retry-after'], undefined)
    }
    const { status, text, headers } = await ask(app, 'GET /')
    assert.equal(status, 429)
    const [, amount, unit] = /^Rate limit exceeded, retry in (\d+) (minute|seconds?)\.$/.exec(text)
    const seconds = amount * (unit === 'minute' ? 60 : 1)
    assert.ok(seconds >= left() && seconds <= 60, text)
    assert.equal(headers['x-ratelimit-remaining'], '0')
    assert.ok(headers['retry-after'] >= left() && headers['retry-after'] <= 60)
  })

  it('should respond as koa-ratelimit does', async () => {
    for (const options of [
      { max: 2 },
      { max: 1, errorMessage: 'slow down', status: 503 },
      { max: 1, errorMessage: { error: 'slow down' } },
      { max: 1, throw: true },
      { max: 1, throw: true, errorMessage: 'no', status: 420, disableHeader: true },
      { max: 1, disableHeader: true },
      { max: 1, headers: { remaining: 'Left', total: 'All' } },
      { max: 0 },
      { max: 1, id: () => false },
      { max: 1, id: ctx => ctx.get('X-User') },
      { max: 1, whitelist: async () => true },
      { max: 1, whitelist: () => false, blacklist: () => false },
      { max: 5, blacklist: async () => true },
      { max: 5, whitelist: () => true, blacklist: () => true }
    ]) {
      const full = { duration: 7_200_000, driver: 'memory', ...options }
      const apps = [limited({ ...full, db: new Map() }, koaRateLimit), limited(full)]
      for (let i = 0; i < 4; i++) {
        const [theirs, ours] = await Promise.all(apps.map(async app => {
          const res = await ask(app, 'GET /', { headers: { 'X-User': 'ann' } })
          const { date, ...headers } = res.headers
          // theirs has a fraction in the one, and rounds the other down, to 0 at the end
          const now = Date.now() / 1000
          for (const [name, from] of [['x-ratelimit-reset', now], ['retry-after', 0]]) {
            if (name in headers) headers[name] = Math.abs(headers[name] - from - 7200) < 5
          }
          return { status: res.status, text: res.text, headers }
        }))
        assert.deepEqual(ours, theirs, JSON.stringify(options))
      }
    }
  })

  it('should count each id for itself', async () => {
    const app = limited({ max: 1, id: async ctx => ctx.get('X-User') })
    const as = async user => (await ask(app, 'GET /', { headers: { 'X-User': user } })).status
    assert.deepEqual([await as('ann'), await as('bob'), await as('ann')], [200, 200, 429])
    assert.deepEqual([await as('__proto__'), await as('x'.repeat(5000))], [200, 200])
    assert.deepEqual([await as('__proto__'), await as('x'.repeat(5000))], [429, 429])
  })

  it('should count by ctx.ip, whatever the client claims', async () => {
    const app = limited({ max: 1 })
    assert.equal((await ask(app, 'GET /')).status, 200)
    for (const headers of [{ 'X-Forwarded-For': '1.2.3.4' }, { Cookie: 'id=2' }, { Forwarded: 'for=1.2.3.4' }]) {
      assert.equal((await ask(app, 'GET /', { headers })).status, 429)
    }
  })

  it('should count an IPv6 network as one client, with the option', async () => {
    const app = limited({ max: 1, ipv6Subnet: 64 })
    app.proxy = true
    const from = async ip => (await ask(app, 'GET /', { headers: { 'X-Forwarded-For': ip } })).status
    assert.equal(await from('2001:db8:1:2::1'), 200)
    for (const same of ['2001:db8:1:2::2', '2001:DB8:1:2:ffff:ffff:ffff:ffff', '2001:0db8:0001:0002::9']) {
      assert.equal(await from(same), 429, same)
    }
    for (const other of ['2001:db8:1:3::1', '2001:db8::1', '::1', '1.2.3.4', '1.2.3.5']) assert.equal(await from(other), 200, other)
    for (const same of ['2001:db8:0:0:1::', '::2', '1.2.3.4']) assert.equal(await from(same), 429, same)
  })

  it('should count every address for itself otherwise', async () => {
    const app = limited({ max: 1 })
    app.proxy = true
    for (const ip of ['2001:db8::1', '2001:db8::2']) {
      assert.equal((await ask(app, 'GET /', { headers: { 'X-Forwarded-For': ip } })).status, 200)
    }
  })

  it('should begin a new window when one is over', async t => {
    const tick = stoppedClock(t)
    const app = limited({ max: 1, duration: 30 })
    assert.equal((await ask(app, 'GET /')).status, 200)
    tick(29)
    const { status, text, headers } = await ask(app, 'GET /')
    assert.deepEqual([status, headers['retry-after'], text], [429, '1', 'Rate limit exceeded, retry in 1 ms.'])
    tick(1)
    assert.equal((await ask(app, 'GET /')).status, 200)
  })

  it('should end a window in time when the clock is set back or forward', async t => {
    const tick = stoppedClock(t)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const app = limited({ max: 1, duration: 60_000 })
    assert.equal((await ask(app, 'GET /')).status, 200)
    for (const hours of [-5, 24]) {
      t.mock.timers.setTime(Date.now() + hours * 3600e3)
      const { status, headers } = await ask(app, 'GET /')
      assert.deepEqual([status, headers['retry-after']], [429, '60'])
      assert.equal(headers['x-ratelimit-reset'], String(Math.ceil((Date.now() + 60_000) / 1000)))
    }
    tick(60_000)
    assert.equal((await ask(app, 'GET /')).status, 200)
  })

  it('should take max from a function, or a promise of it', async () => {
    const max = ctx => ctx.get('X-Plan') === 'paid' ? Promise.resolve(2) : 1
    const app = limited({ max, id: ctx => ctx.get('X-Plan') })
    const as = async plan => {
      const { status, headers } = await ask(app, 'GET /', { headers: { 'X-Plan': plan } })
      return [status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]
    }
    assert.deepEqual([await as('free'), await as('free')], [[200, '1', '0'], [429, '1', '0']])
    assert.deepEqual([await as('paid'), await as('paid'), await as('paid')], [[200, '2', '1'], [200, '2', '0'], [429, '2', '0']])
  })

  it('should respond with 500 when max returns no number', async () => {
    for (const max of [undefined, NaN, -1, '5', null, Promise.resolve('5')]) {
      errors.length = 0
      assert.equal((await ask(limited({ max: () => max }), 'GET /')).status, 500)
      assert.match(errors[0].message, /^rateLimit: options\.max must return a number of requests from 0 on, not /)
    }
  })

  it('should send the fields of draft-ietf-httpapi-ratelimit-headers-11', async t => {
    const tick = stoppedClock(t)
    const app = [
      rateLimit({ max: 2, duration: 60_000, namespace: 'bur"st', standardHeaders: 'draft-11' }),
      rateLimit({ max: 1e30, duration: 86_400_000, namespace: 'daily', standardHeaders: 'draft-11', disableHeader: true }),
      hi
    ]
    const fields = async () => {
      const { headers } = await ask(app, 'GET /')
      return [headers['ratelimit-policy'], headers.ratelimit]
    }
    assert.deepEqual(await fields(), [
      '"bur\\"st";q=2;w=60, "daily";q=999999999999999;w=86400',
      '"bur\\"st";r=1;t=60, "daily";r=999999999999999;t=86400'
    ])
    tick(1500)
    await fields()
    assert.deepEqual(await fields(), ['"bur\\"st";q=2;w=60', '"bur\\"st";r=0;t=59'])
  })

  it('should have these fields on a 429 that is thrown, too', async () => {
    const app = limited({ max: 0, duration: 60_000, standardHeaders: 'draft-11', disableHeader: true, throw: true })
    const { status, headers } = await ask(app, 'GET /')
    assert.deepEqual([status, headers['ratelimit-policy'], headers.ratelimit], [429, '"limit";q=0;w=60', '"limit";r=0;t=60'])
    assert.deepEqual(Object.keys(headers).filter(name => name.startsWith('x-')), [])
  })

  it('should count by the address without the port that a proxy sends, and warn where it sends none', async t => {
    const warnings = []
    t.mock.method(process, 'emitWarning', (message, { code }) => { warnings.push(code) })
    const counted = []
    const app = limited({ max: 0, onLimited: ctx => { counted.push(ctx.state.rateLimit.id) } })
    app.proxy = true
    for (const ip of ['1.2.3.4', '1.2.3.4:678', '[2001:db8::1]:5', '[2001:db8::1]']) {
      await ask(app, 'GET /', { headers: { 'X-Forwarded-For': ip } })
    }
    assert.deepEqual([counted, warnings], [['1.2.3.4', '1.2.3.4', '2001:db8::1', '2001:db8::1'], []])
    await ask(app, 'GET /', { headers: { 'X-Forwarded-For': 'unknown' } })
    const isKoa = name.startsWith('koa') // whose ctx.ip is the text
    assert.deepEqual([counted[4], warnings], isKoa ? ['unknown', []] : ['127.0.0.1', ['KONE_RATE_LIMIT_ADDRESS']])
  })

  it('should count exactly however many requests come at once', async () => {
    const app = limited({ max: 7 })
    const all = await Promise.all(Array.from({ length: 30 }, () => ask(app, 'GET /')))
    assert.equal(all.filter(({ status }) => status === 200).length, 7)
  })

  it('should tell onLimited, with ctx.state.rateLimit', async () => {
    const seen = []
    const onLimited = async ctx => { seen.push(ctx.state.rateLimit) }
    const app = limited({ max: 0, duration: 7_200_000, id: () => 'ann', onLimited })
    await ask(app, 'GET /')
    assert.deepEqual([seen.length, seen[0].id, seen[0].after], [1, 'ann', 7200])
    assert.equal(seen[0].message, 'Rate limit exceeded, retry in 2 hours.')
    assert.deepEqual(Object.keys(seen[0].headers), ['X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-RateLimit-Limit'])
  })

  it('should respond with 503 when the store fails, or let pass with failOpen', async () => {
    for (const fail of [async () => { throw new Error('down') }, () => { throw new Error('down') }]) {
      errors.length = 0
      const closed = await ask(limited({ db: failing(fail) }), 'GET /')
      assert.deepEqual([closed.status, closed.text], [503, 'Service Unavailable'])
      const open = await ask(limited({ db: failing(fail), failOpen: true }), 'GET /')
      assert.equal(open.text, 'hi')
      assert.deepEqual(errors.map(err => [err.code, err.cause.message]), [
        ['KONE_ERR_RATE_LIMIT_STORE', 'down'],
        ['KONE_ERR_RATE_LIMIT_STORE', 'down']
      ])
    }
  })

  it('should not take an error of the app for one of the store', async () => {
    let calls = 0
    const app = [rateLimit({ db: failing(async () => [1, 1000]), failOpen: true }), ctx => {
      calls++
      ctx.throw(409)
    }]
    assert.equal((await ask(app, 'GET /')).status, 409)
    assert.equal(calls, 1)
  })
})

// side by side, for some of them wait until an operation has failed
describe('rateLimit in Redis', { skip: missing('redis-server'), concurrency: true }, () => {
  for (const [name, connect] of Object.entries(startRedis.CLIENTS)) {
    it(`should count for all instances together with ${name}`, async t => {
      const { client, limited, ttlOf } = await start(t, connect)
      const apps = [limited({ max: 5, duration: 60_000 }), limited({ max: 5, duration: 60_000.5 })]
      const left = secondsOf(60)
      const all = await Promise.all(Array.from({ length: 20 }, (_, i) => apps[i % 2].inject('/')))
      assert.equal(all.filter(({ status }) => status === 200).length, 5)
      const refused = all.find(({ status }) => status === 429)
      assert.ok(refused.headers['retry-after'] >= left() && refused.headers['retry-after'] <= 60)
      const [key] = await client.keys('*')
      const ttl = await ttlOf(key)
      assert.match(key, /^limit:count:/)
      assert.ok(ttl > 50_000 && ttl <= 60_000)
    })

    it(`should begin a new window when one is over with ${name}`, async t => {
      const { limited } = await start(t, connect)
      const app = limited({ max: 1, duration: 50, driver: 'redis' })
      assert.equal((await app.inject('/')).status, 200)
      await until(async () => (await app.inject('/')).status === 200)
      // refused requests have not made the window longer: it ended
      const app2 = limited({ max: 1, duration: 60_000, driver: 'redis', namespace: 'long' })
      assert.deepEqual([(await app2.inject('/')).status, (await app2.inject('/')).status], [200, 429])
    })

    it(`should give a count without an end one, with ${name}`, async t => {
      const { client, limited, ttlOf } = await start(t, connect)
      await client.set('limit:count:ann', '7')
      assert.equal((await limited({ max: 5, duration: 60_000, id: () => 'ann' }).inject('/')).status, 429)
      assert.ok(await ttlOf('limit:count:ann') > 0)
    })

    it(`should fail after 5 s, closed or open, when Redis is killed or hangs with ${name}`, async t => {
      const { server, limited } = await start(t, connect)
      const closed = limited({ max: 50 })
      const open = limited({ max: 50, failOpen: true })
      const both = async () => (await Promise.all([closed, open].map(app => app.inject('/')))).map(res => res.status)
      assert.deepEqual(await both(), [200, 200])
      if (name === 'redis') await server.pause()
      else await server.kill()
      assert.deepEqual(await both(), [503, 200])
      if (name === 'redis') server.resume()
      else await server.restart()
      await until(async () => (await closed.inject('/')).status === 200)
    })

    it(`should let requests pass at once with failOpen while Redis is down, shared with session, with ${name}`, async t => {
      const { server, client, limited } = await start(t, connect)
      const middleware = rateLimit({ db: client, failOpen: true })
      const sessions = session({ store: session.redis(client) })
      const errors = []
      const app = new Kone().use(middleware).use(hi)
      app.on('error', err => errors.push(err.cause.code))
      await app.inject('/')
      await server.kill()
      await Promise.all(Array.from({ length: 5 }, () => app.inject('/')))
      assert.deepEqual([middleware.isStoreUp, sessions.isStoreUp, errors.length], [false, false, 5])
      for (let i = 0; i < 20; i++) assert.equal((await app.inject('/')).status, 200) // else 5 s for each
      assert.equal((await limited({}).inject('/')).status, 503)
      assert.equal(errors.length, 5, 'the failure is known')
      await server.restart()
      await until(() => middleware.isStoreUp && sessions.isStoreUp)
      assert.equal((await limited({}).inject('/')).status, 200)
    })
  }

  async function start (t, connect) {
    const redis = await startRedis.connected(t, connect)
    return { ...redis, limited: options => limited({ db: redis.client, ...options }) }
  }
})

describe('rateLimit(options)', () => {
  it('should announce no wait that is longer than the window', async () => {
    let n = 0
    const app = limited({ duration: 60_000, disableHeader: true, standardHeaders: 'draft-11', id: () => String(n++) })
    for (let i = 0; i < 500; i++) assert.match((await app.inject('/')).headers.ratelimit, /;t=60$/)
  })

  it('should know every spelling of an address', () => {
    for (const [address, bits, network] of [
      ['2001:db8::1', 64, '2001:db8:0:0:0:0:0:0/64'],
      ['2001:db8:ffff:ffff::', 56, '2001:db8:ffff:ff00:0:0:0:0/56'],
      ['2001:db8:ffff:ffff::', 33, '2001:db8:8000:0:0:0:0:0/33'],
      ['::', 1, '0:0:0:0:0:0:0:0/1'],
      ['ffff::', 1, '8000:0:0:0:0:0:0:0/1'],
      ['1:2:3:4:5:6:7:8', 128, '1:2:3:4:5:6:7:8/128'],
      ['64:ff9b::1.2.3.4', 128, '64:ff9b:0:0:0:0:102:304/128'],
      ['fe80::1%eth0', 64, 'fe80:0:0:0:0:0:0:0/64'],
      ['::ffff:1.2.3.4', 64, '1.2.3.4'],
      ['1.2.3.4', 64, '1.2.3.4'],
      ['', 64, '']
    ]) assert.equal(networkOf(address, bits), network, address)
  })

  it('should count in a Map that is given, and forget what is over', async t => {
    const tick = stoppedClock(t)
    const db = new Map()
    const app = limited({ db, duration: 60_000, max: 1, id: ctx => ctx.path })
    for (const path of ['/a', '/b', '/c']) await app.inject(path)
    assert.deepEqual([...db.keys()], ['limit:/a', 'limit:/b', 'limit:/c'])
    tick(60_000)
    await app.inject('/d')
    assert.deepEqual([...db.keys()], ['limit:/d'])
    assert.equal((await app.inject('/a')).status, 200)
    assert.equal((await app.inject('/a')).status, 429)
  })

  it('should count a window to its end, whenever it began, of limiters that share a Map, too', async t => {
    const tick = stoppedClock(t)
    const db = new Map()
    const visit = [1000, 300].map((duration, i) => {
      const app = limited({ db, duration, max: 1, namespace: String(i), id: ctx => ctx.path })
      const ends = new Map()
      return async (path, now) => {
        const isOver = !(ends.get(path) > now)
        if (isOver) ends.set(path, now + duration)
        assert.equal((await app.inject(path)).status, isOver ? 200 : 429, `${path} at ${now}`)
      }
    })
    const { int } = random(1)
    for (let now = 0; now < 20_000;) {
      await visit[int(2)](`/${int(5)}`, now)
      const ms = int(150)
      now += ms
      tick(ms)
    }
  })

  it('should take no more steps for a request the more addresses there are', t => {
    const tick = stoppedClock(t)
    t.mock.timers.enable({ apis: ['Date'], now: 1e12 })
    const most = count => withMap(steppedMap(), () => {
      const Counting = Map
      // each address sends one request in a duration, so each request begins a window, and another one is over
      const limit = rateLimit({ max: 1, duration: count, disableHeader: true })
      let most = 0
      for (let i = 0; i < 3 * count; i++) {
        Counting.steps = 0
        limit({ app: {}, ip: address(i) }, () => {})
        most = Math.max(most, Counting.steps)
        tick(1)
        t.mock.timers.tick(1)
      }
      return most
    })
    assert.deepEqual([1000, 20_000].map(count => most(count) <= 4), [true, true])
  })

  it('should hold at most 500,000 windows of as many addresses as a stranger has', () => {
    const maps = new Set()
    class Seen extends Map {
      constructor (...args) {
        super(...args)
        maps.add(this)
      }
    }
    withMap(Seen, () => {
      const limit = rateLimit({ disableHeader: true })
      for (let i = 0; i < 600_000; i++) limit({ app: {}, ip: address(i) }, () => {})
    })
    const last = [...maps].slice(-2).map(map => map.size)
    assert.ok(last[0] + last[1] <= 500_000, String(last))
  })

  it('should warn once of clients without an address, which are counted as one', async t => {
    const warnings = []
    t.mock.method(process, 'emitWarning', (message, { code }) => { warnings.push(code) })
    const app = limited({ max: 2 })
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await app.fetch(new Request('http://a/'))).status)
    assert.deepEqual([statuses, warnings], [[200, 200, 429], ['KONE_RATE_LIMIT_ADDRESS']])
    const known = limited({ id: ctx => ctx.get('x-user') })
    await known.fetch(new Request('http://a/'))
    assert.equal(warnings.length, 1)
  })
})

/**
 * A Map that counts what V8 does for it: one step for each key that is looked up, and one for each entry that an iteration
 * visits, deleted ones, too, which stay in the table until it is full.
 */
function steppedMap () {
  const { Map } = globalThis
  return class Counting {
    static steps = 0
    #entries = []
    #index = new Map()
    #capacity = 4

    get size () { return this.#index.size }

    get (key) {
      Counting.steps++
      return this.#index.get(key)?.[1]
    }

    set (key, value) {
      Counting.steps++
      const entry = this.#index.get(key)
      if (entry !== undefined) {
        entry[1] = value
        return this
      }
      if (this.#entries.length === this.#capacity) {
        this.#entries = this.#entries.filter(entry => entry !== undefined && entry[2])
        if (this.#entries.length > this.#capacity / 2) this.#capacity *= 2
      }
      const made = [key, value, true]
      this.#entries.push(made)
      this.#index.set(key, made)
      return this
    }

    delete (key) {
      Counting.steps++
      const entry = this.#index.get(key)
      if (entry !== undefined) entry[2] = false
      return this.#index.delete(key)
    }

    * [Symbol.iterator] () {
      for (const [key, value, isKept] of this.#entries) {
        Counting.steps++
        if (isKept) yield [key, value]
      }
    }
  }
}
