'use strict'

const assert = require('node:assert/strict')
const { inspect } = require('node:util')
const { default: original } = require('koa-session')

const rows = require('../helpers/session-rows')
const storeOf = require('../helpers/sessions')

const { KEY, breaks, inHeader, jar, tick } = rows
const HOUR = 3600e3
const MAX = 2.5e14 // ms, the longest maxAge
const HTTPS = { 'X-Forwarded-Proto': 'https' }
const STORES = ['memory', 'promises', 'sealed']

/** The same options with each store. */
const inEach = options => STORES.map(store => ({ store, ...options }))

/** koa-session keeps its sessions in the cookie, or with externalKey in a store. */
function koaSession (options, app) {
  return original({ signed: false, ...options, store: options.externalKey && storeOf() }, app)
}

const shows = fn => ctx => { ctx.body = fn(ctx) }
const looks = shows(({ session: { isNew, populated, maxAge } }) => [isNew, populated, maxAge])
const handled = shows(({ sessionHandler: { isNew, maxAge }, session }) => [isNew, maxAge, session.isNew, session.maxAge])

/** Ways to look at a session; koa-session's own fields are enumerable: isNew, _expire, _requireSave. */
const isData = name => name !== 'isNew' && name[0] !== '_'
const VIEWS = {
  json: session => JSON.stringify(session),
  nested: session => JSON.stringify({ session, list: [session] }),
  keys: session => Object.keys(session).filter(isData),
  entries: session => Object.entries(session).filter(([name]) => isData(name)),
  spread: session => Object.keys({ ...session }).filter(isData),
  assigned: session => Object.keys(Object.assign({}, session)).filter(isData),
  inherited: session => {
    const names = []
    for (const name in session) if (isData(name)) names.push(name)
    return names
  },
  rest: ({ user, ...rest }) => [user, JSON.stringify(rest.list)],
  has: session => ['user', 'isNew', 'maxAge', 'save', 'nothing'].map(name => name in session),
  own: session => ['user', 'save', 'maxAge', 'populated'].map(name => Object.hasOwn(session, name)),
  inspected: session => inspect(session).includes("{ user: 'ada', list: [ 1, 2 ] }"),
  type: session => [typeof session, Array.isArray(session), session.constructor.name, String(session)],
  written: session => {
    session.extra = 1
    delete session.user
    return JSON.stringify(session)
  },
  methods: session => ['save', 'regenerate', 'manuallyCommit'].map(name => typeof session[name])
}

function views (ctx) {
  const { user, list } = ctx.session
  ctx.body = Object.fromEntries(Object.entries(VIEWS).map(([name, view]) => {
    const seen = view(ctx.session)
    for (const one of ['extra', 'user', 'list']) delete ctx.session[one]
    Object.assign(ctx.session, { user, list })
    return [name, seen]
  }))
  assert.equal(ctx.body.json, '{"user":"ada","list":[1,2]}')
}

class Visit { constructor () { this.page = 1 } next () { return ++this.page } }
const ASSIGNED = {
  plain: () => ({ page: 2 }),
  instance: () => new Visit(),
  frozen: () => Object.freeze({ page: 7 }),
  bare: () => Object.assign(Object.create(null), { page: 8 })
}

const assigns = make => ctx => {
  const given = make()
  ctx.session = given
  ctx.session.last = 'a page'
  const { session } = ctx
  ctx.body = [session === given, given.last, typeof session.next, session instanceof Visit, typeof session.save, session]
}

async function callsBack (ctx) {
  ctx.session.user = 'ada'
  ctx.body = []
  for (const name of ['save', 'regenerate']) ctx.body.push(await new Promise(resolve => ctx.session[name](resolve)) ?? name)
}

// Intentional differences: the session is not in the cookie, SameSite=Lax, and no maxAge is until the browser is closed.
rows('session beside koa-session', [
  ['should send the cookie with the same attributes', [
    { maxAge: HOUR, sameSite: 'lax' },
    { maxAge: HOUR, httpOnly: false, sameSite: 'strict', path: '/add', domain: 'example.com' },
    { maxAge: 'session', sameSite: 'none', secure: true },
    { maxAge: HOUR, secure: true, sameSite: 'lax', autoCommit: true, overwrite: true, rolling: false, renew: false },
    { maxAge: HOUR, signed: false, sameSite: 'strict' },
    { maxAge: HOUR, signed: true, sameSite: 'lax' }
  ],
  ['add', { count: 1 }, { cookie: 'sent', sends: HTTPS }]],
  ['should refuse to send a secure cookie over plain HTTP, with an error', { secure: true },
    ['add', 500]],
  ['should call back when it is saved or has a new id, which passport waits for', { maxAge: HOUR, sameSite: 'lax' },
    [callsBack, ['save', 'regenerate']]],
  ['should give a client whose session is not valid an empty one', inEach({ sameSite: 'lax', maxAge: HOUR, valid: (ctx, { count }) => count !== 2 }),
    ...[1, 2, 1, 2].map(count => ['add', { count }])],
  ['should let beforeSave change a session that is to be saved',
    { sameSite: 'lax', maxAge: HOUR, beforeSave (ctx, session) { session.saves = (session.saves ?? 0) + 1 } },
    ['nothing', 'hi'], ['read', {}], ['add', { count: 1 }], ['read', { count: 1, saves: 1 }],
    ['add', { count: 2, saves: 1 }], ['nothing', 'hi'], ['read', { count: 2, saves: 2 }]],
  ['should begin maxAge anew with every response when rolling', inEach({ sameSite: 'lax', maxAge: HOUR, rolling: true }),
    ['add', { count: 1 }],
    ...Array(4).fill([tick(HOUR - 1000), ['read', { count: 1 }, { attributes: /expires=3600 s/ }]]).flat(),
    tick(HOUR + 1000), ['read', {}]],
  ['should begin it anew when half of it is over with renew', inEach({ sameSite: 'lax', maxAge: HOUR, renew: true }),
    ['add', { count: 1 }],
    ...[[20, 'none'], [9, 'none'], [2, 'sent'], [20, 'none'], [20, 'sent'], [29, 'none']].flatMap(([minutes, cookie]) =>
      [tick(minutes * 60e3), ['read', { count: 1 }, { cookie }]]),
    tick(HOUR + 1000), ['read', {}]],
  ['should know isNew, populated and maxAge, and keep none of them', inEach({ sameSite: 'lax', maxAge: HOUR }),
    [looks, [true, false, HOUR]],
    ['read', {}], [['add', looks], [true, true, HOUR]],
    [looks, [false, true, HOUR]],
    ['read', { count: 1 }]],
  ['should keep a session for its own maxAge', inEach({ sameSite: 'lax', maxAge: HOUR }),
    ['add', { count: 1 }, { attributes: /expires=3600 s/ }],
    [`maxAge=${10 * HOUR}`, { count: 1 }, { attributes: /expires=36000 s/ }],
    ['add', { count: 2 }, { attributes: /expires=36000 s/ }],
    ['maxAge="session"', { count: 2 }, { cookie: 'sent' }], ['add', { count: 3 }, { cookie: 'sent' }],
    [`maxAge=${10 * HOUR}`, { count: 3 }], tick(9 * HOUR), ['read', { count: 3 }],
    tick(2 * HOUR), ['read', {}]],
  ['should list, serialise and copy the data alone', { sameSite: 'lax', maxAge: HOUR },
    [['user="ada", list=[1,2]', views], undefined], [['read', views], undefined], ['null', null],
    [[ctx => { ctx.session = { user: 'ada', list: [1, 2] } }, views], undefined]],
  ['should copy what is assigned, an instance without its class', { sameSite: 'lax', maxAge: HOUR },
    ...Object.values(ASSIGNED).flatMap(make => [[assigns(make), undefined], ['read', undefined, { cookie: 'none' }]])],
  ['should read and send the id by externalKey', [{ signed: true }, { rolling: true }, { cookie: { maxAge: HOUR, secure: true } }].flatMap(options =>
    ['memory', 'promises'].map(store => ({ externalKey: inHeader, maxAge: HOUR, store, ...options }))),
  ...['read', 'nothing', 'add', 'add', 'read', 'regenerate', 'read', 'add', 'null', 'read', 'add'].map(act => [act, undefined, { lines: 0 }])]
], { beside: koaSession })

const GENIDS = ['short', 'x'.repeat(257), `${'x'.repeat(32)}; a=b`, undefined, 5, Promise.resolve('x'.repeat(32))]
const genid = ({ app, method }) => {
  app.made = (app.made ?? 0) + 1
  return `${method.toLowerCase()}-000000000000000-${app.made}`
}

const STRICT = 'path=/; expires=3600 s; samesite=strict; httponly'
const SIGNED = { attributes: STRICT, signature: STRICT }

const TOO_LONG = [MAX + 1000, 8.64e15, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE, Infinity]
const refusesMaxAge = { attributes: /^(path=\/; samesite=lax; httponly)?$/, errors: /must be (a number of milliseconds from 0 to|at most) 250000000000000/ }

/** Ways to set a maxAge: options and acts. */
const SET = {
  'ctx.session.maxAge': value => [{}, ctx => { ctx.session.maxAge = value }],
  'ctx.sessionHandler.maxAge': value => [{}, ctx => { ctx.sessionHandler.maxAge = value }],
  'options.cookie()': value => [{ cookie: () => ({ maxAge: value }) }],
  'options.maxAge': value => [{ maxAge: value }]
}

// a client decides about it, and the query of an app may give an array
const inJson = { ...inHeader, get: ctx => ctx.get('x-session').startsWith('[') ? JSON.parse(ctx.get('x-session')) : ctx.get('x-session') }
const FOREIGN = [undefined, 'y'.repeat(41), '["a","b"]', '', 'z'.repeat(5000), '__proto__']

const called = (ctx, name, object, ...args) => { (ctx.app.calls ??= []).push([name, object === watched, args.length]) }
const watched = {
  get (ctx, ...args) { called(ctx, 'get', this, ...args); return inHeader.get(ctx) },
  set (ctx, key, ...args) {
    called(ctx, 'set', this, ...args)
    inHeader.set(ctx, key)
    ctx.cookies.set('has-session', '1', { signed: false })
  }
}

const FROZEN = Object.preventExtensions(Object.assign(new Error('frozen'), { status: 400, expose: true }))
const ERRORS = {
  500: () => { throw new Error('boom') },
  400: () => { throw FROZEN },
  401: ctx => ctx.throw(401),
  503: ctx => ctx.throw(503, { headers: { 'Set-Cookie': 'own=1', 'Cache-Control': 'no-store' } }),
  418: ctx => ctx.throw(418)
}

const OWN_HEADERS = { id: 'new', headers: { 'cache-control': 'no-store' }, jar: /^own$/m }
const NO_OWN_HEADERS = { id: 'new', headers: { 'cache-control': 'private' }, jar: /^(koa:sess)?$/ }

/** Sees the error itself, and handles one of them. */
const catches = (ctx, next) => next().catch(err => {
  assert.ok(Object.hasOwn(err, 'message'))
  if (err.status !== 418) throw err
  ctx.status = 418
})

rows('session with the options of koa-session', [
  ['should call back with the error of a store that fails', { store: 'promises' },
    breaks('set'),
    [['user="ada"', async ctx => {
      const err = await new Promise(resolve => ctx.session.save(resolve))
      ctx.session = null
      ctx.body = err.code
    }], 'KONE_ERR_SESSION_STORE']],
  ['should leave SameSite out where it is null, as the README of koa-session has it', { sameSite: null },
    ['add', { count: 1 }, { attributes: 'path=/; httponly' }]],
  ['should make ids with genid', { store: 'promises', genid },
    ['add', { count: 1 }, { value: 'get-000000000000000-1' }], ['add', { count: 2 }, { id: 'same' }],
    ['regenerate', { count: 2 }, { value: 'get-000000000000000-2', stored: { ann: { count: 2 } } }]],
  ['should send no cookie for an id of genid that is short or strange', GENIDS.map(id => ({ genid: () => id })),
    ['add', 500, { lines: 0 }]],
  ['should send no cookie for an id of genid that is the old one', { store: 'promises', genid: () => 'always-the-same-id' },
    ['add', { count: 1 }], ['renew', 500, { lines: 0, stored: { ann: { count: 1 } } }]],
  ['should keep the record of a session that is not valid, and give its client another id',
    { store: 'promises', valid: (ctx, { count }) => count !== 1 },
    ['add', { count: 1 }], ['add', { count: 1 }, { id: 'new', stored: { nobody: { count: 1 }, ann: { count: 1 } } }]],
  ['should refuse a promise of valid, which nothing would wait for', { valid: async () => false },
    ['add', { count: 1 }], ['add', 500, { errors: /^session: options\.valid must not be async/ }]],
  ['should refuse a promise of beforeSave', { beforeSave: async () => { throw new Error('away') } },
    ['add', 500, { errors: /^session: options\.beforeSave must not be async/ }]],
  ['should send the signature beside the cookie of a request that throws', { signed: true },
    ['add, throw 401', 401, { attributes: 'path=/; samesite=lax; httponly', signature: 'path=/; samesite=lax; httponly' }],
    ['read', { count: 1 }]],
  ['should send cookie and signature with all attributes after a rotation of app.keys',
    inEach({ signed: true, maxAge: HOUR, sameSite: 'strict', path: '/', app: { keys: ['old'] } }),
    ['add', { count: 1 }, SIGNED], { app: { keys: ['new', 'old'] } }, ['read', { count: 1 }, SIGNED],
    ['read', { count: 1 }, { lines: 0 }], { app: { keys: ['new'] } }, ['read', { count: 1 }]],
  ['should take a signed cookie only with its signature', inEach({ signed: true }),
    ['add', { count: 1 }, { jar: [KEY, `${KEY}.sig`] }], ['add', { count: 2 }],
    jar('bob', cookies => ({ [KEY]: cookies[KEY] })), ['bob: read', {}],
    jar('bob', cookies => ({ [KEY]: cookies[KEY], [`${KEY}.sig`]: 'A'.repeat(27) })), ['bob: read', {}]],
  ['should extend a session of an app with renew only while the app has it', { store: 'promises', maxAge: HOUR },
    ['add', { count: 1 }],
    ({ store }) => store.set([...store.sessions.keys()][0], { count: 1, _expire: Date.now() + 1000 }, HOUR),
    ['read', { count: 1 }, { lines: 0 }], { renew: true },
    ['read', { count: 1 }, { cookie: 'sent', id: 'same' }]],
  ...['save', 'handler.save', 'begin to save'].map(save => [`should save what has not changed, even nothing (${save})`, { store: 'promises' },
    [save, {}, { stored: { ann: {} } }], [looks, [false, false, 0]],
    [save, {}, { cookie: 'sent', id: 'same' }]]),
  ['should have isNew and maxAge on ctx.sessionHandler, too, where no data hides them', { maxAge: HOUR },
    [['isNew="mine", maxAge="two days"', handled], [true, HOUR, 'mine', 'two days']],
    [handled, [false, HOUR, 'mine', 'two days']],
    [[ctx => { ctx.sessionHandler.maxAge = 10 * HOUR }, handled], [false, 10 * HOUR, 'mine', 'two days']],
    [handled, [false, 10 * HOUR, 'mine', 'two days']],
    [ctx => { ctx.sessionHandler.maxAge = 'two days' }, 500, {
      errors: /^session: maxAge must be a number of milliseconds from 0 to 250000000000000 or 'session', not 'two days' \(/
    }]],
  ...Object.entries(SET).flatMap(([by, set]) => [
    ...[HOUR, MAX].map(value => [`should send a date that browsers read for ${value} ms by ${by}`, set(value)[0],
      [['add', ...set(value).slice(1)], { count: 1 }, { attributes: `path=/; expires=${value / 1000} s; samesite=lax; httponly` }]]),
    ...(by === 'options.maxAge' ? [] : TOO_LONG).map(value => [`should refuse ${value} ms by ${by}`, set(value)[0],
      [['add', ...set(value).slice(1)], 500, refusesMaxAge]])
  ]),
  ['should send a date that browsers read for a stored maxAge', storesMaxAge(HOUR, MAX),
    jar('ann', { [KEY]: 'x'.repeat(32) }), ['add', { count: 2 }, { attributes: /expires=(3600|250000000000) s/ }]],
  ['should leave the date out for a stored maxAge that is too long', storesMaxAge(...TOO_LONG),
    jar('ann', { [KEY]: 'x'.repeat(32) }), ['add', { count: 2 }, { attributes: 'path=/; samesite=lax; httponly' }]],
  ...[false, true].map(renew => [`should not take data of an app for what it stores beside the data${renew ? ', with renew' : ''}`,
    { store: 'promises', renew, maxAge: HOUR },
    ['count=1, _maxAge=9, _expire=5', undefined],
    ({ store }) => assert.match([...store.sessions.values()].join(), renew ? /^{"count":1,"_expire":\d{13}}$/ : /^{"count":1}$/),
    ['read', { count: 1 }]]),
  ['should have saved when save() resolves, and tell its caller when it cannot', { store: 'promises' },
    [['count=7, save', (ctx, { store }) => { ctx.body = [...store.sessions.values()] }, 'count=8'], ['{"count":7}'], { stored: { ann: { count: 8 } } }],
    breaks('set'), ['count=7, save', 503, { errors: Array(2).fill('KONE_ERR_SESSION_STORE: down') }]],
  ['should be copied by structuredClone, and equal a plain object but for its prototype', {},
    ['session={"a":[1],"__proto__":2,"constructor":3}', undefined],
    [ctx => {
      const plain = JSON.parse('{"a":[1],"__proto__":2,"constructor":3}')
      for (const copy of [structuredClone(ctx.session), { ...ctx.session }]) assert.deepEqual(copy, plain)
      ctx.body = JSON.stringify(ctx.session)
    }, '{"a":[1],"__proto__":2,"constructor":3}']],
  ['should give stores a plain object', { store: () => ({ ...storeOf(), set (id, value) { assert.equal(Object.getPrototypeOf(value), Object.prototype) } }) },
    ['add', { count: 1 }, { cookie: 'sent' }], [`add, maxAge=${HOUR}`, { count: 1 }, { cookie: 'sent' }]],
  ['should clear a cookie that the same response has set', inEach({ maxAge: HOUR, signed: true }),
    ['add, save, null', null, { cookie: /none|cleared/, jar: [] }], // signed in, and then refused
    ['read', {}]],
  ["should keep data of the app's own under these names", {},
    ['isNew="mine", populated=1, maxAge="two days", externalKey=0', undefined],
    ['read', { isNew: 'mine', populated: 1, maxAge: 'two days', externalKey: 0 }],
    ['session={"save":"this"}', undefined], ['read', { save: 'this' }]],
  ['should give an object that was assigned the same methods', { store: 'promises', maxAge: HOUR },
    [`session={"a":1}, maxAge=${3 * HOUR}`, { a: 1 }, { attributes: /expires=10800 s/ }], ['read', { a: 1 }]],
  ['should never take over a key of externalKey that the store does not know',
    ['memory', 'promises'].map(store => ({ store, genid, externalKey: inJson })),
    ...FOREIGN.map((key, i) => [`client${i}: add`, { count: 1 }, {
      sends: key === undefined ? {} : { 'x-session': key },
      value: `get-000000000000000-${i + 1}`,
      headers: { 'cache-control': 'private' }
    }]),
    ['client0: add', { count: 2 }],
    ({ jars, phones }) => { jars.bob = { [KEY]: phones.client0 } },
    ['bob: read', {}]],
  ['should send the key of externalKey with an error, and call get and set with ctx alone and the key', { externalKey: watched },
    [['add', ctx => { ctx.cookies.set('other', '1', { signed: false }) }, 'save',
      ctx => ctx.throw(401, 'no', { headers: { 'X-Own': 'a', 'Set-Cookie': 'own=1' } })], 401,
    { header: 'sent', headers: { 'x-own': 'a', 'set-cookie': ['has-session=1; path=/; httponly', 'own=1'] } }],
    ['read', { count: 1 }],
    [shows(ctx => ctx.session.externalKey === ctx.get('x-session')), true],
    [shows(({ app }) => app.calls), [['get', true, 0], ['set', true, 0], ['get', true, 0], ['get', true, 0]]]],
  ['should refuse a promise of externalKey',
    [{ get: async () => { throw new Error('away') } }, { set: async () => {} }].map(one => ({ externalKey: { ...inHeader, ...one } })),
    ['add', 500, { lines: 0, header: 'none', errors: /^session: options\.externalKey\.[gs]et must not be async/ }]],
  ...Object.entries(ERRORS).map(([status, fail]) => [`should sign nobody out by an error of status ${status}, and throw the error itself`,
    [...inEach({ app: { above: catches } }), { externalKey: inHeader, app: { above: catches } }],
    ['add', { count: 1 }], [['regenerate', fail], Number(status), status === '503' ? OWN_HEADERS : NO_OWN_HEADERS],
    ['read', { count: 1 }]])
])

function storesMaxAge (...values) {
  return values.map(_maxAge => ({ store: () => ({ get: () => ({ count: 1, _maxAge }), set () {}, destroy () {} }) }))
}
