'use strict'

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const path = require('node:path')
const { Readable } = require('node:stream')
const { describe, it } = require('node:test')
const { promisify } = require('node:util')
const session = require('kone/middleware/session')

const { ATTRIBUTES } = require('../../middleware/session/options')
const rows = require('../helpers/session-rows')
const storeOf = require('../helpers/sessions')
const until = require('../helpers/until')

const { KEY, STORES, breaks, inHeader, isUp, jar, tick, together } = rows
const DAY = 24 * 3600e3
const ID = 'A'.repeat(32) // that no store knows

const down = new Error('down')
const FAILS = { rejected: async () => { throw down }, thrown: () => { throw down } }
const SHARED = Object.assign(new Error('no'), { status: 403, expose: true, headers: { 'X-A': '1' } })
const LEAKY = Object.assign(new Error('secret path'), { code: 'ENOENT', status: 200, expose: true })
const BOOM = new Error('boom')
const NO_SESSIONS = [[1, 2], [], 7, 'text', true, NaN, null, undefined, () => {}]
const NO_IDS = ['x', '../../etc/passwd', '*', '__proto__', 'A'.repeat(33), 'A'.repeat(31) + '%']

const DOWN = { errors: ['KONE_ERR_SESSION_STORE: down'] }
const ends = ctx => { ctx.respond = false; ctx.res.end('done') }
const refusesLate = async ({ errors }) => {
  await until(() => errors.length > 0)
  assert.equal(errors.splice(0)[0].code, 'ERR_HTTP_HEADERS_SENT')
}

/** A body that fails before it is read; `when(fail)` decides when. */
const fails = when => ctx => {
  const stream = ctx.body = new Readable({ read () {} })
  when(() => stream.destroy(new Error('of the body')))
}

function before (store, name, fn) {
  const method = store[name]
  store[name] = (...args) => { fn(); return method.apply(store, args) }
}

const BY_ID = [{ store: 'promises' }, { store: 'memory', rolling: true }, { externalKey: inHeader }]

const LEFT_OUT = Object.fromEntries(Object.keys(ATTRIBUTES).map(name => [name, undefined]))

const cacheControl = value => ctx => { if (value !== undefined) ctx.set('Cache-Control', value) }

const where = ctx => { ctx.body = String(ctx.session.where) }
const handler = ctx => { ctx.body = typeof ctx.sessionHandler }

function onlyOnce ({ state }) {
  assert.equal(state.isAsked, undefined)
  state.isAsked = true
  return { maxAge: 60_000 }
}

// middleware in place of one session
const nested = () => [session({ key: 'outer' }), setsOuter, session({ key: 'inner' })]
const nestedAgain = (options, outer = session({ key: 'outer' })) => [outer, setsOuter, session({ key: 'inner' }), outer]
const sometimes = (options, fn = session()) => [(ctx, next) => ctx.get('x-with') ? fn(ctx, next) : next()]

async function setsOuter (ctx, next) {
  ctx.session.where = 'outer'
  const failure = await next().catch(err => err.message)
  ctx.body = [failure ?? ctx.body, ctx.session.where]
}

/** Cache-Control that an app sets, and that of a response with the session's cookie. */
const PRIVATE = [
  [undefined, 'private'],
  ['public, max-age=600', 'private, max-age=600'],
  ['max-age=600, s-maxage=60, Public', 'private, max-age=600'],
  ['no-cache', 'private, no-cache'],
  ['private="x-field", max-age=1', 'private, private="x-field", max-age=1'],
  ['no-store', 'no-store'],
  ['max-age=600, Private', 'max-age=600, Private'],
  [['public', 'max-age=600'], 'private, max-age=600']
]

const OTHER = STORES.promises()
const TWO_STORES = ['should be one session, in the store of the first, if two have one cookie and two stores',
  ['promises', 'memory'].map(store => ({ store, app: { use: options => [session(options), session({ store: OTHER })] } })),
  ['add', { count: 1 }, { cookie: 'sent', lines: 1, stored: { ann: { count: 1 } } }],
  ['add, throw 401', 401, { stored: { ann: { count: 2 } } }],
  ['renew', { count: 2 }, { id: 'new', lines: 1, stored: { ann: { count: 2 } } }],
  ['null', null, { cookie: 'cleared', lines: 1, stored: {} }],
  () => assert.deepEqual(OTHER.calls, [])]

rows('session over HTTP/2', [TWO_STORES], { only: ['koa 2', 'koa 3', 'kone'], over: 'http2' })

rows('session', [
  ['should send an HttpOnly, SameSite=Lax cookie without Secure over plain HTTP, and keep its session for a day', { store: 'promises' },
    ['add', { count: 1 }, { cookie: 'sent', value: /^[\w-]{32}$/, attributes: 'path=/; samesite=lax; httponly', ttls: [DAY] }]],
  ['should send a Secure cookie when ctx.secure', {},
    ['add', { count: 1 }, { sends: { 'X-Forwarded-Proto': 'https' }, attributes: 'path=/; samesite=lax; secure; httponly' }]],
  ['should let options.cookie say otherwise',
    { key: 'sid', cookie: { httpOnly: false, sameSite: 'strict', path: '/add', domain: 'example.com', maxAge: 5000 } },
    ['add', { count: 1 }, { attributes: 'path=/add; expires=5 s; domain=example.com; samesite=strict' }]],
  ...[LEFT_OUT, () => LEFT_OUT].map(cookie => [`should take an attribute that is undefined as left out: ${typeof cookie}`, { cookie },
    ['add', { count: 1 }, { attributes: 'path=/; samesite=lax; httponly' }]]),
  ['should take it from the options of koa-session then', { path: '/add', sameSite: 'strict', cookie: LEFT_OUT },
    ['add', { count: 1 }, { attributes: 'path=/add; samesite=strict; httponly' }]],
  ['should ask a function for the attributes', { store: 'promises', cookie: ctx => ({ maxAge: ctx.session.count * 60_000 }) },
    ['add', { count: 1 }, { attributes: /expires=60 s/, ttls: [60_000] }],
    ['count=2, save', { count: 2 }, { attributes: /expires=120 s/, ttls: [60_000, 120_000] }]],
  ['should ask it once for each session that is saved', { cookie: onlyOnce },
    ['add', { count: 1 }, { cookie: 'sent' }]],
  ['should keep a session of 30 days', { store: 'memory', cookie: { maxAge: 30 * DAY } },
    ['add', { count: 1 }, { ttls: [30 * DAY] }], ['read', { count: 1 }], tick(30 * DAY - 1), ['read', { count: 1 }]],
  ['should forget a session after its maxAge, also a copy of a sealed one', ['memory', 'sealed'].map(store => ({ store, cookie: { maxAge: 20 } })),
    ['add', { count: 1 }], tick(19), ['read', { count: 1 }], tick(1), ['read', {}]],
  ['should read, write and send nothing for an untouched session', { store: 'promises' },
    ['nothing', 'hi', { lines: 0, calls: [] }], ['read', {}, { lines: 0, calls: [] }],
    ['add', { count: 1 }], ['nothing', 'hi', { lines: 0, calls: ['get'] }],
    ['read', { count: 1 }, { lines: 0, calls: ['get'] }]],
  ['should not ask memory, which is lazy, before ctx.session is read, and keep nothing anew that was only read', { store: 'memory' },
    ['add', { count: 1 }, { calls: ['set'] }], ['nothing', 'hi', { calls: [] }],
    ['read', { count: 1 }, { calls: ['get'] }], ['add', { count: 2 }, { calls: ['get', 'replace', 'set'] }]],
  ['should extend a session once in a response, also after save()', { store: 'memory', rolling: true },
    ['add', { count: 1 }], ['save', { count: 1 }, { calls: ['get', 'touch'], cookie: 'sent', lines: 1 }]],
  ['should save a session exactly when its JSON is another one', { store: 'promises' },
    ['session={"a":1,"b":{"c":"x,y","d":[1,2]}}', undefined, { calls: ['set'] }],
    ['session={"a":1,"b":{"c":"x,y","d":[1,2]}}', undefined, { calls: ['get'] }],
    ['session={"a":1,"b":{"c":"x,z","d":[1,2]}}', undefined, { calls: ['get', 'get', 'set'] }], // as long as before
    ['session={"b":{"d":[1,2],"c":"x,z"},"a":1}', undefined, { calls: ['get', 'get', 'set'] }]], // in another order: as in koa-session
  ['should destroy a session that becomes undefined, and its cookie', { store: 'promises' },
    ['user="ann"', { user: 'ann' }, { stored: { ann: { user: 'ann' } } }],
    ['undefined', null, { cookie: 'cleared', jar: [], stored: {} }]],
  ['should write before the response', { store: () => storeOf((name, id, work) => new Promise(resolve => setTimeout(() => resolve(work()), 20))) },
    ['add', { count: 1 }, { stored: { ann: { count: 1 } } }]],
  ['should save what was changed before a throw', { store: 'promises' },
    ['add, throw 401', 401, { cookie: 'sent', stored: { ann: { count: 1 } } }],
    ['add, throw 401', 401, { stored: { ann: { count: 2 } } }],
    ['add, boom', 500, { stored: { ann: { count: 3 } } }], ['read', { count: 3 }]],
  ["should not put one client's cookie on an error object that all share", {},
    [['user="ann"', () => { throw SHARED }], 403, { cookie: 'sent', headers: { 'x-a': '1' } }],
    [['bob: nothing', () => { throw SHARED }], 403, { lines: 0, headers: { 'x-a': '1' } }]],
  ['should hand an error of the app on as it is',
    { app: { above: (ctx, next) => next().catch(err => { ctx.body = { isSame: err === BOOM } }) } },
    [['a=1', () => { throw BOOM }], { isSame: true }, { cookie: 'sent' }]],
  ['should never take over an id that the client chose', { store: 'promises' },
    jar('ann', { [KEY]: ID }), ['add', { count: 1 }, { id: 'new', stored: { ann: { count: 1 } } }]],
  ['should begin anew when the store gives no object',
    NO_SESSIONS.flatMap(found => [() => found, async () => found].map(get => ({ store: () => ({ ...storeOf(), get }) }))),
    jar('ann', { [KEY]: ID }), ['add', { count: 1 }, { id: 'new' }]],
  ['should refuse what is neither an object nor null in place of a session, and keep the session', { store: 'promises' },
    ['user="ann"', { user: 'ann' }],
    ...['[1]', '"7"', '""', '7', '0', 'true', 'false'].map(value => [`session=${value}`, 500, {
      lines: 0, stored: { ann: { user: 'ann' } }, errors: /^session: ctx\.session must be an object or null, not .+ \(/
    }]),
    [ctx => { ctx.session = () => {} }, 500, { stored: { ann: { user: 'ann' } } }]],
  ['should not ask the store for what cannot be an id', { store: 'promises' },
    ...NO_IDS.flatMap(id => [jar('ann', { [KEY]: id }), ['read', {}, { calls: [] }]])],
  ...['renew', 'regenerate'].map(act => [`should give a new id on demand and destroy the old one (${act})`, { store: 'promises' },
    ['add', { count: 1 }],
    jar('thief', cookies => cookies), [act, { count: 1 }, { id: 'new', stored: { ann: { count: 1 } } }],
    ['thief: read', {}]]),
  ...Object.entries(FAILS).flatMap(([how, fail]) => ['get', 'set', 'destroy'].map(method => [
    `should respond with 503 and set no cookie when ${method} of the store fails, ${how}`, { store: 'promises' },
    ['add', { count: 1 }], breaks(method, fail),
    [method === 'destroy' ? 'null' : 'add', 503, { body: 'Service Unavailable', lines: 0, ...DOWN }]
  ])),
  ["should respond with 5xx whatever status or code the store's error has", { store: 'promises' },
    breaks('set', async () => { throw LEAKY }), ['add', 503, { body: 'Service Unavailable' }]],
  ['should tell of both errors when handler and store fail', { store: 'promises' },
    breaks('set'),
    ['a=1, throw 400', 400, { body: 'Bad Request', errors: ['KONE_ERR_SESSION_STORE: down', 'Bad Request'] }]],
  ['should respond with 5xx when the session has no JSON', {},
    [['nothing', ctx => { ctx.session.self = ctx.session }], 500, { lines: 0 }]],
  ['should not show to others what a failed request left unsaved in memory', { store: 'memory' },
    ['list=[]', { list: [] }], [['nothing', ctx => { ctx.session.list.push(1n) }], 500], ['read', { list: [] }]],
  ['should hold two sessions at once, each with its own cookie', { app: { use: nested } },
    [[where, 'where="inner"'], ['undefined', 'outer'], { jar: ['inner', 'outer'] }], [where, ['inner', 'outer']]],
  ['should restore the outer session, also after an error', { app: { use: nestedAgain } },
    [[ctx => { ctx.session.again = ctx.session.where }, 'boom'], ['boom', 'outer'], { jar: ['outer'] }]],
  ['should be one session, by the options of the first, if two have one cookie',
    [{}, { maxAge: DAY, rolling: true }].map(other => ({ app: { use: options => [session(options), session(other)] } })),
    ['add', { count: 1 }, { cookie: 'sent', lines: 1 }], ['add', { count: 2 }]],
  TWO_STORES,
  ['should hold two at once of one key, of which one is in a header',
    { app: { use: options => [session(options), setsOuter, session({ externalKey: inHeader })] } },
    [[where, 'where="inner"'], ['undefined', 'outer'], { jar: [KEY], header: 'sent' }],
    [where, ['inner', 'outer']]],
  ['should be one session when it is used twice', { app: { use: (options, fn = session()) => [fn, fn] } },
    ['add', { count: 1 }, { cookie: 'sent', lines: 1 }]],
  ['should leave ctx.session alone where it is not used', { app: { use: sometimes } },
    [handler, 'object', { sends: { 'x-with': '1' } }], ['read', {}, { sends: { 'x-with': '1' } }],
    [handler, 'undefined'], ['read', null], ['session={"mine":true}', { mine: true }, { lines: 0 }]],
  ['should read a store of promises only on demand when lazy', { store: 'promises', lazy: true },
    ['add', { count: 1 }], // without a cookie there is nothing to load
    ['handler.load, add', { count: 2 }], ['nothing', 'hi', { calls: [] }],
    ['add', 500, { errors: /^session: with options\.lazy, `await ctx\.sessionHandler\.load\(\)` before the session is used \(/ }],
    ['handler.load, add', { count: 3 }]],
  ...Object.entries(FAILS).flatMap(([how, fail]) => [
    [`should let a request pass that does not use the session when the store fails, ${how}, and report it`, { store: 'promises' },
      ['add', { count: 1 }],
      breaks('get', fail), ['nothing', 'hi', { lines: 0, ...DOWN }], ['read', 503, DOWN]],
    [`should let one pass whose session is to be extended when the store fails, ${how}, and report it`,
      [{ rolling: true }, { renew: true }].map(one => ({ store: 'promises', cookie: { maxAge: 1000 }, ...one })),
      ['add', { count: 1 }],
      breaks('set', fail), tick(600), ['nothing', 'hi', { lines: 0, ...DOWN }],
      ['nothing, throw 401', 401, { lines: 0, errors: [...DOWN.errors, 'Unauthorized'] }],
      ['read', 503, { lines: 0, ...DOWN }]]
  ]),
  ...PRIVATE.map(([given, expected]) => [`should let no shared cache store its cookie, with Cache-Control: ${given}`, { rolling: true },
    ...['Cache-Control', 'cache-control'].map(name => [
      ['bob: user="bob"', ctx => ctx.throw(404, { headers: given === undefined ? {} : { [name]: given } })], 404,
      { headers: { 'cache-control': expected } }
    ]),
    ...['user="ann"', 'nothing', 'save', 'nothing, handler.save'].map(act => [
      [act, cacheControl(given)], undefined, { cookie: 'sent', headers: { 'cache-control': expected } }
    ])]),
  ['should leave Cache-Control of a response without its cookie', {},
    ['page="none", throw 404', 404, { headers: { 'cache-control': 'private' } }],
    [['user="ann"', cacheControl('public, max-age=600')], undefined, { headers: { 'cache-control': 'private, max-age=600' } }],
    [['read', cacheControl('public, max-age=600')], undefined, { headers: { 'cache-control': 'public, max-age=600' } }]],
  ['should destroy an empty session that was saved', { store: 'promises' },
    ['nothing, handler.save', 'hi', { stored: { ann: {} } }],
    ['null', null, { stored: {}, cookie: 'cleared', jar: [] }]],
  ...[
    ['destroy the record', 'null', 'destroy', { stored: {}, cookie: 'cleared' }],
    ['give the new id', 'renew', 'set', { id: 'new', stored: { ann: { count: 1 } } }]
  ].map(([what, act, method, seen]) => [`should ${what} at the end when save() could not`, { store: 'promises' },
    ['add', { count: 1 }], [[act, failsToSave(method)], 'KONE_ERR_SESSION_STORE', seen]]),
  ['should keep what is empty and saved by save()', { store: 'promises' },
    ['add', { count: 1 }], ['delete count, save', {}, { cookie: 'sent', id: 'same', stored: { ann: {} } }],
    ['add, save, delete count', {}, { cookie: 'cleared', stored: {} }]],
  ['should save without a cookie when the headers are sent already', { store: 'promises' },
    ['a=1', { a: 1 }], [[ends, 'a=2'], 404, { body: 'done', lines: 0 }],
    ({ store }) => until(() => [...store.sessions.values()].join() === '{"a":2}')],
  ...Object.entries({
    renew: BY_ID, 'add, renew': BY_ID, 'renew, throw 401': BY_ID, 'add, save': [], null: []
  }).map(([acts, byId]) => [
    `should change nothing that only the response could tell the client when its headers are sent (${acts})`, [{ store: 'sealed' }, ...byId],
    ['add', { count: 1 }], [[ends, acts], 404, { body: 'done', lines: 0 }],
    refusesLate,
    ['read', { count: 1 }]]),
  ['should not resolve when the headers are sent while it saves', { store: 'slow' },
    [async ctx => {
      ctx.session.a = 1
      const saving = ctx.session.save()
      ends(ctx)
      await saving
    }, 404, { body: 'done' }],
    refusesLate],
  ['should keep no record that no client can know', [{ store: 'promises' }, { store: 'promises', externalKey: inHeader }],
    [[ends, 'add'], 404, { body: 'done', stored: {} }], refusesLate, ['read', {}, { stored: {} }]]
])

rows('session, where a body may fail before it is sent,', [
  ['should leave the old session when the body fails before the new one is saved', { store: 'slow' },
    ['user="ann"', { user: 'ann' }],
    [['user="ada", renew', fails(setImmediate)], 500, { lines: 0 }],
    async ({ errors, store }) => {
      await until(() => errors.length === 2 && store.sessions.size === 1)
      assert.deepEqual(errors.splice(0).map(err => err.code ?? err.message), ['of the body', 'ERR_HTTP_HEADERS_SENT'])
    },
    ['read', { user: 'ann' }, { stored: { ann: { user: 'ann' } } }]],
  ['should send the new session when the body fails while the old one is destroyed', [{ store: 'slow' }, { store: 'slow', externalKey: inHeader }],
    ['user="ann"', { user: 'ann' }],
    [['user="ada", renew', (ctx, { store }) => fails(fail => before(store, 'destroy', fail))(ctx)], 500, { id: 'new' }],
    async ({ errors, store }) => {
      await until(() => store.sessions.size === 1)
      assert.deepEqual(errors.splice(0).map(err => err.message), ['of the body'])
    },
    ['read', { user: 'ada' }, { stored: { ann: { user: 'ada' } } }]]
], { only: ['koa 2', 'kone on node:http', 'kone'] })

rows('session, where Koa never responds,', [
  ['should survive throw null', {},
    [['a=1', () => { throw null }], 500]] // eslint-disable-line no-throw-literal
], { only: ['kone on node:http', 'kone'] })

/** As one of files does, also for the key of a probe. */
function strict () {
  const store = storeOf(async (name, id, work) => {
    if (store.isHanging) await new Promise(() => {})
    if (name === 'get' && !store.sessions.has(id)) throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
    return work()
  })
  return store
}

/** Parses what it does not find: a SyntaxError. */
function parsing () {
  const store = storeOf(async (name, id, work) => {
    if (store.isDown) throw down
    return name === 'get' ? JSON.parse(store.sessions.get(id)) : work()
  })
  return store
}

const sets = (name, value) => ({ store }) => { store[name] = value }
const failure = code => ({ errors: [`KONE_ERR_SESSION_STORE: ${code}`] })

rows('session, whose store fails,', [
  ['should fail the request after 5 s when it never responds', { store: 'promises' },
    breaks('set', () => new Promise(() => {})), ['a=1', 503, failure('KONE_ERR_STORE_TIMEOUT')]],
  ['should probe it with success also if it parses what it does not find', { store: parsing },
    ['add', { count: 1 }, { isStoreUp: true }], sets('isDown', true),
    together(...Array(5).fill(['read', 503])),
    ['read', 503, { isStoreUp: false, ...failure('KONE_ERR_STORE_DOWN') }], sets('isDown', false),
    isUp, ['read', { count: 1 }]],
  ['should stay available to others, however many ids are forged for one that rejects what it does not know', { store: strict },
    ['add', { count: 1 }],
    ...[2, 3, 4, 5].flatMap(count => [
      ...Array.from({ length: 12 }, (_, i) => [jar('mallory', { [KEY]: 'f'.repeat(32) }),
        ['mallory: add', 503, failure(i < 5 ? 'ENOENT' : 'KONE_ERR_STORE_DOWN')]]).flat(),
      ['mallory: nothing', 'hi', { isStoreUp: false }],
      ['add', { count }, { isStoreUp: true }]
    ])],
  ['should be available again after it hung, although it rejects the probe', { store: strict },
    ['add', { count: 1 }], sets('isHanging', true),
    together(...Array(5).fill(['add', 503])),
    ({ errors }) => assert.deepEqual(errors.splice(0).map(({ cause }) => cause.code), Array(5).fill('KONE_ERR_STORE_TIMEOUT')),
    ...Array(12).fill(['add', 503, failure('KONE_ERR_STORE_DOWN')]), // else 5 s for each
    sets('isHanging', false),
    ({ visit }) => until(async () => (await visit('add')).status === 200),
    ['add', { count: 3 }, { isStoreUp: true }]]
], { only: ['kone'] })

rows('session.final()', [
  ['should save what a final function changed', { app: { finals: [ctx => { ctx.session.late = true }, session.final()] } },
    ['nothing', 'hi', { cookie: 'sent' }], ['read', { late: true }]],
  ['should send the cookie of what was saved before or by it with the error of a later one',
    [[], [session.final()]].map(first => ({ store: 'promises', app: { finals: [...first, () => { throw BOOM }] } })),
    ['add', 500, { cookie: 'sent' }], ['renew', 500, { id: 'new', stored: { ann: { count: 1 } } }]],
  ['should do nothing without a session', { app: { use: () => [], finals: [session.final()] } },
    ['nothing', 'hi', { lines: 0 }]]
], { only: ['kone'] })

describe('session.memory()', () => {
  it('should warn in a cluster worker, and let the process end', async () => {
    const worker = path.join(__dirname, 'fixtures', 'session-worker.js')
    const { stderr } = await promisify(execFile)(process.execPath, [worker], { timeout: 120_000 })
    assert.match(stderr, /KONE_SESSION_MEMORY/)
  })

  it('should sweep expired sessions, and know nothing of Object.prototype', () => {
    const store = session.memory()
    store.set('old', { a: 1 }, -1)
    store.set('new', { a: 1 }, 60_000)
    store.sweep()
    assert.deepEqual([...store.sessions.keys()], ['new'])
    for (const id of ['__proto__', 'constructor']) assert.equal(store.get(id), undefined)
    store.destroy('new')
    store.sweep()
    assert.equal(store.timer, null)
  })
})

function failsToSave (method) {
  return async (ctx, { store }) => {
    const works = store[method]
    store[method] = FAILS.rejected
    ctx.body = await ctx.sessionHandler.save().then(() => 'saved', err => err.code)
    store[method] = works
  }
}
