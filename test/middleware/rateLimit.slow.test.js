'use strict'

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { setImmediate } = require('node:timers/promises')
const koaRateLimit = require('koa-ratelimit')
const rateLimit = require('kone/middleware/rateLimit')
const session = require('kone/middleware/session')
const networkOf = require('../../middleware/rateLimit/network')

const frameworks = require('../helpers/frameworks')
const Kone = require('../helpers/kone')
const { missing } = require('../helpers/programs')
const startRedis = require('../helpers/redis')
const until = require('../helpers/until')

const NOW = 1_800_000_000_000 // ms: Date of a stopped clock
const HOUR = 3_600_000 // ms

/** A client of Redis whose commands do this. */
const client = command => ({ get () {}, set () {}, del () {}, eval: command })
const hi = ctx => { ctx.body = 'hi' }

/** Date and `performance.now()` stand still, but for what a test says. */
function stoppedClock (t) {
  let ms = 1000
  performance.now = () => ms // not t.mock, which keeps a stack for each call
  t.after(() => { delete performance.now })
  t.mock.timers.enable({ apis: ['Date'], now: NOW })
  const set = by => t.mock.timers.setTime(Date.now() + by)
  return {
    set,
    pass (by) {
      ms += by
      set(by)
    }
  }
}

/** The codes of the warnings that node prints from now on. */
function warningsOf (t) {
  const codes = []
  t.mock.method(process, 'emitWarning', (message, { code }) => { codes.push(code) })
  return codes
}

// What a visit shows: fields of a limit that ends in so many seconds, and a response with them.
const fields = (total, remaining, seconds) => ({
  'x-ratelimit-limit': String(total),
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset': String(NOW / 1000 + seconds)
})
const ietf = (policy, ratelimit) => ({ 'ratelimit-policy': policy, ratelimit })
const passed = fields => ({ status: 200, text: 'hi', ...fields })
const refused = (seconds, words, fields) => ({
  status: 429, text: `Rate limit exceeded, retry in ${words}.`, 'retry-after': String(seconds), ...fields
})
const passes = (total, remaining, seconds) => passed(fields(total, remaining, seconds))
const refuses = (total, seconds, words) => refused(seconds, words, fields(total, 0, seconds))

// Steps of a row: visits that differ in one field, and what happens before the next visit.
const by = (name, ...visits) => visits.map(([value, expected]) => [{ [name]: value }, expected])
const after = ms => clock => clock.pass(ms)
const clockSet = ms => clock => clock.set(ms)
const has = (db, ...keys) => () => assert.deepEqual([...db.keys()], keys)

const IETF_ALONE = { disableHeader: true, standardHeaders: 'draft-11' }
const DOWN = [['KONE_ERR_RATE_LIMIT_STORE', 'down']]
const LONG = 'x'.repeat(5000)
const PAGE = 'kone/middleware/rateLimit/README.md'

/**
 * A row: a title, the options of a limit (or a list of middleware, where they stand for one; `app` has settings of the app),
 * and visits. A visit is [the fields that are sent, what comes], or what comes alone: a status, or all of status, text, the
 * fields of a limit, errors of the app as [code, message of the cause], and warnings. The clock stands still during a row, but
 * for steps that move it.
 */
const rowsIn = (isKoa, db = new Map(), calls = []) => [
  ['should let max requests pass and tell what is left', { max: 2, duration: 60_000 },
    passes(2, 1, 60), passes(2, 0, 60), refuses(2, 60, '1 minute')],
  ['should count each id for itself', { max: 1, id: async ctx => ctx.get('X-User') }, ...by('x-user',
    ['ann', 200], ['bob', 200], ['ann', 429], ['__proto__', 200], [LONG, 200], ['__proto__', 429], [LONG, 429], [`${LONG}x`, 200]
  )],
  ['should count by ctx.ip, whatever the client claims', { max: 1 },
    200, [{ 'x-forwarded-for': '1.2.3.4' }, 429], [{ cookie: 'id=2' }, 429], [{ forwarded: 'for=1.2.3.4' }, 429]],
  ['should count an IPv6 network as one client, with the option', { max: 1, ipv6Subnet: 64, app: { proxy: true } }, ...by('x-forwarded-for',
    ['2001:db8:1:2::1', 200], ['2001:db8:1:2::2', 429], ['2001:DB8:1:2:ffff:ffff:ffff:ffff', 429],
    ['2001:0db8:0001:0002::9', 429], ['2001:db8:1:3::1', 200], ['2001:db8::1', 200], ['2001:db8:0:0:1::', 429],
    ['::1', 200], ['::2', 429], ['1.2.3.4', 200], ['1.2.3.5', 200], ['1.2.3.4', 429]
  )],
  ['should count every address for itself otherwise', { max: 1, app: { proxy: true } }, ...by('x-forwarded-for',
    ['2001:db8::1', 200], ['2001:db8::2', 200], ['2001:db8::1', 429]
  )],
  ['should count by the address without the port that a proxy sends', { max: 1, app: { proxy: true } }, ...by('x-forwarded-for',
    ['1.2.3.4', 200], ['1.2.3.4:678', 429], ['[2001:db8::1]:5', 200], ['[2001:db8::1]', 429], ['2001:db8::1', 429]
  )],
  ["should warn where a proxy sends no address, and count by the proxy's", { max: 1, disableHeader: true, app: { proxy: true } },
    [{ 'x-forwarded-for': '1.2.3.4' }, passed()],
    [{ 'x-forwarded-for': 'unknown' }, passed(isKoa ? {} : { warnings: ['KONE_RATE_LIMIT_ADDRESS'] })], // Koa's ctx.ip
    isKoa ? passed() : refused(3600, '1 hour')],
  ['should begin a new window when one is over', { max: 1, duration: 30 },
    200, after(29), refuses(1, 1, '1 ms'), after(1), passes(1, 0, 1)],
  ['should end a window in time when the clock is set back or forward', { max: 1, duration: 60_000 },
    200,
    clockSet(-5 * HOUR), refused(60, '1 minute', fields(1, 0, 60 - 5 * 3600)),
    clockSet(24 * HOUR), refused(60, '1 minute', fields(1, 0, 60 + 19 * 3600)),
    after(60_000), 200],
  ['should take max from a function, or a promise of it', {
    duration: HOUR, id: ctx => ctx.get('X-Plan'), max: ctx => ctx.get('X-Plan') === 'paid' ? Promise.resolve(2) : 1
  }, ...by('x-plan',
    ['free', passes(1, 0, 3600)], ['free', refuses(1, 3600, '1 hour')],
    ['paid', passes(2, 1, 3600)], ['paid', passes(2, 0, 3600)], ['paid', refuses(2, 3600, '1 hour')]
  )],
  ...[
    ['undefined', undefined], ['NaN', NaN], ['-1', -1], ["'5'", '5'], ['null', null], ["'5'", Promise.resolve('5'), 'a promise of ']
  ].map(([given, max, kind = '']) => [`should respond with 500 when max returns ${kind}${given}`, { max: () => max }, {
    status: 500,
    text: 'Internal Server Error',
    errors: [[undefined, `rateLimit: options.max must return a number of requests from 0 on, not ${given} (${PAGE})`]]
  }]),
  ['should send the fields of draft-ietf-httpapi-ratelimit-headers-11', [
    rateLimit({ max: 2, duration: 60_000, namespace: 'bur"st', standardHeaders: 'draft-11' }),
    rateLimit({ max: 1e30, duration: 24 * HOUR, namespace: 'daily', ...IETF_ALONE })
  ], passed({
    ...fields(2, 1, 60),
    ...ietf('"bur\\"st";q=2;w=60, "daily";q=999999999999999;w=86400', '"bur\\"st";r=1;t=60, "daily";r=999999999999999;t=86400')
  }), after(1500), 200, refused(59, '59 seconds', { ...fields(2, 0, 60), ...ietf('"bur\\"st";q=2;w=60', '"bur\\"st";r=0;t=59') })],
  ['should have these fields on a 429 that is thrown, too', { max: 0, duration: 60_000, ...IETF_ALONE, throw: true },
    refused(60, '1 minute', {
      ...ietf('"limit";q=0;w=60', '"limit";r=0;t=60'), errors: [[undefined, 'Rate limit exceeded, retry in 1 minute.']]
    })],
  ['should wait for onLimited, which has ctx.state.rateLimit', {
    max: 0, duration: 2 * HOUR, id: () => 'ann', onLimited: async ctx => { ctx.body = await setImmediate(ctx.state.rateLimit) }
  }, {
    ...refuses(0, 7200, '2 hours'),
    text: '{"after":7200,"headers":{"X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1800007200","X-RateLimit-Limit":"0"},' +
      '"id":"ann","message":"Rate limit exceeded, retry in 2 hours."}'
  }],
  ...Object.entries({
    rejects: async () => { throw new Error('down') }, throws () { throw new Error('down') }
  }).flatMap(([how, command]) => [
    [`should respond with 503 when the store ${how}`, { db: client(command) }, { status: 503, text: 'Service Unavailable', errors: DOWN }],
    [`should let pass with failOpen when the store ${how}`, { db: client(command), failOpen: true }, passed({ errors: DOWN })]
  ]),
  ['should not take an error of the app for one of the store', [
    rateLimit({ db: client(async () => [1, 1000]), failOpen: true, disableHeader: true }), ctx => ctx.throw(409, `${calls.push(1)} call`)
  ], { status: 409, text: '1 call', errors: [[undefined, '1 call']] }],
  ['should count in a Map that is given, and forget what is over', { db, duration: 60_000, max: 1, id: ctx => ctx.get('X-User') },
    ...by('x-user', ['ann', 200], ['bob', 200]), has(db, 'limit:ann', 'limit:bob'),
    after(60_000), ...by('x-user', ['cid', 200]), has(db, 'limit:cid'), ...by('x-user', ['ann', 200], ['ann', 429])]
]

/** Options with which koa-ratelimit responds the same. */
const AS_KOA_RATELIMIT = [
  { max: 0 }, { max: 2 }, { max: 1, disableHeader: true }, { max: 1, headers: { remaining: 'Left', total: 'All' } },
  { max: 1, errorMessage: 'slow down', status: 503 }, { max: 1, errorMessage: { error: 'slow down' } },
  { max: 1, throw: true }, { max: 1, throw: true, errorMessage: 'no', status: 420, disableHeader: true },
  { max: 1, id: () => false }, { max: 1, id: ctx => ctx.get('X-User') },
  { max: 1, whitelist: async () => true }, { max: 1, whitelist: () => false, blacklist: () => false },
  { max: 5, blacklist: async () => true }, { max: 5, whitelist: () => true, blacklist: () => true }
]

frameworks('rateLimit', ({ it, Koa, ask, errors, name }) => {
  const limited = middleware => [].concat(middleware, hi).reduce((app, fn) => app.use(fn), new Koa())

  for (const [title, given, ...steps] of rowsIn(name.startsWith('koa'))) {
    it(title, async t => {
      const clock = stoppedClock(t)
      const warnings = warningsOf(t)
      const { app: settings, ...options } = given
      const app = Object.assign(limited(Array.isArray(given) ? given : rateLimit(options)), settings)
      for (const [i, step] of steps.entries()) {
        if (typeof step === 'function') {
          step(clock)
          continue
        }
        const [sent, expected] = Array.isArray(step) ? step : [{}, step]
        errors.length = warnings.length = 0
        const { status, text, headers } = await ask(app, 'GET /', { headers: sent })
        const seen = { status, text, ...Object.fromEntries(Object.entries(headers).filter(([name]) => /^x-|ratelimit|^retry/.test(name))) }
        if (errors.length) seen.errors = errors.map(({ code, cause, message }) => [code, cause?.message ?? message])
        if (warnings.length) seen.warnings = [...warnings]
        assert.deepEqual([i, sent, typeof expected === 'number' ? status : seen], [i, sent, expected])
      }
    })
  }

  for (const options of AS_KOA_RATELIMIT) {
    const words = JSON.stringify(options, (key, value) => typeof value === 'function' ? String(value) : value)
    it(`should respond as koa-ratelimit does with ${words}`, async () => {
      const full = { duration: 2 * HOUR, driver: 'memory', ...options }
      const apps = [koaRateLimit({ ...full, db: new Map() }), rateLimit(full)].map(limited)
      for (let i = 0; i < 4; i++) {
        const [theirs, ours] = await Promise.all(apps.map(async app => {
          const res = await ask(app, 'GET /', { headers: { 'X-User': 'ann' } })
          const { date, ...headers } = res.headers
          // theirs has a fraction in the one, and rounds the other down, to 0 at the end
          for (const [name, from] of [['x-ratelimit-reset', Date.now() / 1000], ['retry-after', 0]]) {
            if (name in headers) headers[name] = Math.abs(headers[name] - from - 7200) < 5
          }
          return { status: res.status, text: res.text, headers }
        }))
        assert.deepEqual(ours, theirs)
      }
    })
  }

  it('should count exactly however many requests come at once', async () => {
    const app = limited(rateLimit({ max: 7 }))
    const all = await Promise.all(Array.from({ length: 30 }, () => ask(app, 'GET /')))
    assert.equal(all.filter(({ status }) => status === 200).length, 7)
  })
})

const limited = options => new Kone({ silent: true }).use(rateLimit(options)).use(hi)

/** The statuses of requests, one after the other. */
async function statusesOf (app, ...paths) {
  const statuses = []
  for (const path of paths) statuses.push((await app.inject(path)).status)
  return statuses
}

// side by side, for some of them wait until an operation has failed
describe('rateLimit in Redis', { skip: missing('redis-server'), concurrency: true }, () => {
  for (const [name, connect] of Object.entries(startRedis.CLIENTS)) {
    const test = (title, run) => it(`should ${title}, with ${name}`, async t => {
      const redis = await startRedis.connected(t, connect)
      await run({ ...redis, limited: options => limited({ db: redis.client, ...options }) })
    })

    test('count for all instances together', async ({ client, limited, ttlOf }) => {
      const apps = [60_000, 60_000.5].map(duration => limited({ max: 5, duration }))
      const all = await Promise.all(Array.from({ length: 20 }, (_, i) => apps[i % 2].inject('/')))
      const refused = all.filter(({ status }) => status === 429).map(({ headers }) => Number(headers['retry-after']))
      assert.deepEqual([all.filter(({ status }) => status === 200).length, refused.length], [5, 15])
      const [key] = await client.keys('*')
      assert.match(key, /^limit:count:/)
      for (const ms of [await ttlOf(key), ...refused.map(seconds => seconds * 1000)]) assert.ok(ms > 50_000 && ms <= 60_000, ms)
    })

    test('begin a new window when one is over', async ({ limited }) => {
      const app = limited({ max: 1, duration: 50, driver: 'redis' })
      assert.deepEqual(await statusesOf(app, '/'), [200])
      await until(async () => (await app.inject('/')).status === 200) // refused requests did not make the window longer
      const long = limited({ max: 1, duration: 60_000, driver: 'redis', namespace: 'long' })
      assert.deepEqual(await statusesOf(long, '/', '/'), [200, 429])
    })

    test('give a count without an end one', async ({ client, limited, ttlOf }) => {
      await client.set('limit:count:ann', '7')
      assert.deepEqual(await statusesOf(limited({ max: 5, duration: 60_000, id: () => 'ann' }), '/'), [429])
      assert.ok(await ttlOf('limit:count:ann') > 0)
    })

    test('respond after 5 s while Redis is killed or hangs, and at once when it is down, shared with session', async redis => {
      const { server, client, limited } = redis
      const [stop, start] = name === 'redis' ? ['pause', 'resume'] : ['kill', 'restart']
      const open = rateLimit({ db: client, failOpen: true })
      const sessions = session({ store: session.redis(client) })
      const errors = []
      const app = new Kone().use(open).use(hi).on('error', err => errors.push(err.cause.code))
      const closed = limited({})
      assert.deepEqual([await statusesOf(app, '/'), await statusesOf(closed, '/')], [[200], [200]])
      await server[stop]()
      const all = await Promise.all([closed, app, app, app, app, app].map(app => statusesOf(app, '/')))
      assert.deepEqual(all.flat(), [503, 200, 200, 200, 200, 200])
      assert.deepEqual([open.isStoreUp, sessions.isStoreUp, errors.length], [false, false, 5])
      for (let i = 0; i < 20; i++) assert.deepEqual(await statusesOf(app, '/'), [200]) // else 5 s for each
      assert.deepEqual(await statusesOf(closed, '/'), [503])
      assert.equal(errors.length, 5, 'the failure is known')
      await server[start]()
      await until(() => open.isStoreUp && sessions.isStoreUp)
      assert.deepEqual([await statusesOf(app, '/'), await statusesOf(closed, '/')], [[200], [200]])
    })
  }
})

describe('rateLimit(options)', () => {
  it('should announce no wait that is longer than the window', async () => {
    let n = 0
    const app = limited({ duration: 60_000, ...IETF_ALONE, id: () => String(n++) })
    for (let i = 0; i < 500; i++) assert.match((await app.inject('/')).headers.ratelimit, /;t=60$/)
  })

  for (const [address, bits, network] of [
    ['2001:db8::1', 64, '2001:db8:0:0:0:0:0:0/64'],
    ['2001:db8:ffff:ffff::', 56, '2001:db8:ffff:ff00:0:0:0:0/56'],
    ['2001:db8:ffff:ffff::', 33, '2001:db8:8000:0:0:0:0:0/33'],
    ['::', 1, '0:0:0:0:0:0:0:0/1'],
    ['ffff::', 1, '8000:0:0:0:0:0:0:0/1'],
    ['1:2:3:4:5:6:7:8', 128, '1:2:3:4:5:6:7:8/128'],
    ['64:ff9b::1.2.3.4', 128, '64:ff9b:0:0:0:0:102:304/128'],
    ['fe80::1%eth0', 64, 'fe80:0:0:0:0:0:0:0/64'],
    ...['::ffff:1.2.3.255', '::FFFF:102:3ff', '0:0:0:0:0:ffff:1.2.3.255', '0000:0000::ffff:0102:03ff'].map(ip => [ip, 64, '1.2.3.255']),
    ['1.2.3.4', 64, '1.2.3.4'],
    ['', 64, '']
  ]) it(`should know the network of '${address}', ${bits} bits`, () => assert.equal(networkOf(address, bits), network))

  // in the first each address sends one request in a duration: each request begins a window, and another one is over
  for (const [title, duration, visits, ms] of [
    ['as many addresses come as windows end', 20_000, 60_000, 1], ['more come than a stranger has', HOUR, 600_000, 0]
  ]) {
    it(`should take at most four steps for a request and hold at most 500,000 windows, when ${title}`, t => {
      const clock = stoppedClock(t)
      const Counted = countedMap(t)
      const limit = rateLimit({ max: 1, duration, disableHeader: true })
      for (let i = 0; i < visits; i++) {
        const before = Counted.steps
        limit({ app: {}, ip: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` }, () => {})
        assert.ok(Counted.steps - before <= 4, `${i}`)
        if (ms > 0) clock.pass(ms)
      }
      const [one, other] = Counted.made.slice(-2).map(map => map.size)
      assert.ok(one + other <= 500_000, `${one} and ${other}`)
    })
  }

  it('should warn once of clients without an address, which are counted as one', async t => {
    const warnings = warningsOf(t)
    const visit = async app => (await app.fetch(new Request('http://a/'))).status
    const app = limited({ max: 2 })
    assert.deepEqual([await visit(app), await visit(app), await visit(app)], [200, 200, 429])
    await visit(limited({ id: ctx => ctx.get('x-user') }))
    assert.deepEqual(warnings, ['KONE_RATE_LIMIT_ADDRESS'])
  })
})

/** A class that stands in for Map until the test is over, counts what is looked up in it, and cannot be walked over. */
function countedMap (t) {
  const { Map: Real } = globalThis
  t.after(() => { globalThis.Map = Real })
  class Counted extends Real {
    static steps = 0
    static made = []
    constructor () { super(); Counted.made.push(this) }
    get (key) { Counted.steps++; return super.get(key) }
    set (key, value) { Counted.steps++; return super.set(key, value) }
  }
  for (const other of ['clear', 'delete', 'entries', 'forEach', 'has', 'keys', 'values', Symbol.iterator]) Counted.prototype[other] = undefined
  globalThis.Map = Counted
  return Counted
}
