'use strict'

const assert = require('node:assert/strict')
const { after, before, describe } = require('node:test')
const { inspect } = require('node:util')
const session = require('kone/middleware/session')

const engines = require('./engines')
const frameworks = require('./frameworks')
const { missing, need } = require('./programs')
const startRedis = require('./redis')
const storeOf = require('./sessions')
const until = require('./until')
const visitor = require('./visitor')

const KEY = 'koa:sess' // the default

/**
 * Test sessions by a table, over real sockets, in each framework. A row is what happens to one app:
 *
 *    rows('session', [
 *      ['should forget a session after its maxAge', { maxAge: 1000 }, // options of session
 *        ['add', { count: 1 }, { cookie: 'sent' }],                   // a visit of ann: acts, body, what else is seen
 *        tick(999),                                                   // what happens between two visits
 *        ['user="ann", throw 401', 401],                              // two acts; a status in place of the body
 *        ['bob: read', {}],                                           // another client
 *        { maxAge: 5000 },                                            // from here another app of the same clients and store
 *        [['read', ['bob: add', { count: 1 }], 'add'], { count: 2 }]] // bob's visit begins and ends within ann's
 *    ])
 *
 * - Acts are those of `ACTS`, `name=json` for `ctx.session[name]`, `session=json`, `delete name`, `throw status`, functions of
 *   ctx, and visits. The response is the session after them, or null, unless an act sets another body.
 * - `seenOf` has what is seen, besides `stored`: client → data, 'nobody' → a record that no client knows. A 200 reports no
 *   `errors` but those that the visit names. A RegExp matches. `sends` has headers of the request.
 * - An array of options runs the row for each. Its `app` is what else the app has: `keys`, `above` the session, `finals`, and
 *   `use: () => [middleware]` in place of the session.
 * - `store` is a name of `STORES` or a function that makes one; without it the table's, or memory.
 *
 * @param {string} title
 * @param {Array} table
 * @param {object} [how]
 * @param {Function} [how.beside] `(options, app) => middleware`, a peer whose visits must show the same
 * @param {string[]} [how.only] names of frameworks
 * @param {Function} [how.store] the default one
 * @param {Function} [how.setup] `async t => ({ store, … })`, made anew for each row; the steps have the others, too
 * @param {boolean} [how.clock=true] whether it stands still but for `tick`
 * @param {string} [how.over] an engine that the visits take: 'http2'
 */
module.exports = function rows (title, table, how = {}) {
  const { beside, only, clock = true, over } = how
  frameworks(title, by => {
    const suite = over === undefined ? by : { ...by, ask: askOver(over) }
    for (const [title, given, ...steps] of table) {
      suite.it(title, async t => {
        if (clock) t.mock.timers.enable({ apis: ['Date'], now: Math.floor(Date.now() / 1000) * 1000 })
        for (const options of [given].flat()) {
          const { store, ...own } = { ...how, ...await how.setup?.(t) }
          const ours = await live(open(suite, store === undefined ? options : { store, ...options }, { t, own }), steps)
          if (beside !== undefined) assert.deepEqual(ours, await live(open(suite, options, { t, make: beside }), steps))
        }
      })
    }
  }, only)
}

const askOver = engine => async (app, line, options) => {
  const { ask, close } = await engines.connect(engine, app)
  return ask(line, options).finally(close)
}

/** `['bob: add, save', fn]` → bob, and the acts `['add', 'save', fn]`. */
function partsOf (what) {
  const [first, ...others] = [what].flat()
  const [, who, acts] = /^(?:(\w+): )?(.*)$/s.exec(typeof first === 'string' ? first : '')
  const all = [typeof first === 'string' ? acts : first, ...others]
  return { who: who ?? 'ann', acts: all.flatMap(act => typeof act === 'string' ? act.split(', ') : [act]) }
}

const ACTS = {
  nothing (ctx) { ctx.body = 'hi' }, // does not look at the session
  read: ctx => ctx.session,
  add (ctx) { ctx.session.count = (ctx.session.count || 0) + 1 },
  null (ctx) { ctx.session = null },
  undefined (ctx) { ctx.session = undefined },
  save: ctx => ctx.session.save(),
  'begin to save' (ctx) { ctx.session.save() },
  'handler.save': ctx => ctx.sessionHandler.save(),
  'handler.load': ctx => ctx.sessionHandler.load(),
  regenerate: ctx => ctx.session.regenerate(),
  renew (ctx) { ctx.sessionHandler.regenerateId() },
  boom () { throw new Error('boom') }
}

function actOf (act) {
  if (typeof act === 'function') return act
  if (Object.hasOwn(ACTS, act)) return ACTS[act]
  const [, name, json] = /^(\w+)=(.+)$/s.exec(act) ?? []
  if (name === 'session') return ctx => { ctx.session = JSON.parse(json) }
  if (name !== undefined) return ctx => { ctx.session[name] = JSON.parse(json) }
  const [, verb, value] = /^(delete|throw) (\w+)$/.exec(act) ?? assert.fail(`no act: ${act}`)
  return verb === 'throw' ? ctx => ctx.throw(Number(value)) : ctx => { delete ctx.session[value] }
}

const STORES = {
  memory: () => recorded(session.memory()),

  /** Without `replace` and `touch`; what is over is not found, as in Redis. */
  promises: () => {
    const ends = new Map()
    return recorded(storeOf(async (name, id, work, ttl) => {
      if (name === 'set') ends.set(id, Date.now() + ttl)
      return name !== 'get' || !(ends.get(id) <= Date.now()) ? work() : null
    }))
  },

  immediate: () => storeOf((name, id, work) => work()),

  /** Each operation takes several turns of the event loop. */
  slow: ({ int } = { int: () => 3 }) => storeOf(async (name, id, work) => {
    for (let i = int(6); i >= 0; i--) await new Promise(setImmediate)
    const result = work()
    for (let i = int(6); i >= 0; i--) await new Promise(setImmediate)
    return result
  }),

  sealed: () => session.sealedCookie({ keys: ['k'.repeat(32)] })
}

/** With the names of the `calls` of its methods, and the `ttls` that were set. */
function recorded (store) {
  const [calls, ttls] = [[], []]
  for (const name of ['get', 'set', 'replace', 'touch', 'destroy']) {
    const method = store[name]
    if (method === undefined) continue
    store[name] = (...args) => {
      calls.push(name)
      if (name === 'set') ttls.push(args[2])
      return method.apply(store, args)
    }
  }
  return Object.assign(store, { calls, ttls })
}

/**
 * An app and its clients, whose visits a row or a model makes.
 *
 *    const world = open(suite, { store: 'slow', rolling: true })
 *    const { body, stored } = await world.visit('bob: add, save')
 *
 * @param {object} suite of `frameworks`
 * @param {object} options as in a row
 * @param {{ make?: Function, t?: object, own?: object }} [how] make: a peer's middleware; t: the test whose clock `tick` moves;
 *   own: what else the steps of a row need
 */
function open ({ Koa, ask }, options, { make, t, own } = {}) {
  const visits = []
  const world = {
    errors: [],
    jars: {}, // client → its cookies
    phones: {}, // client → the id that it sends in a header, for externalKey
    ids: new Set(), // that clients have had
    isPeer: make !== undefined,
    tick: ms => t.mock.timers.tick(ms),
    start,
    visit,
    records: () => recordsOf(world),
    check: (...visit) => check(world, visit),
    ...own
  }

  function start (more) {
    world.options = { ...world.options, ...more }
    const { app: { keys = ['a key'], use, above, finals = [] } = {}, store, ...options } = world.options
    if (more.store !== undefined) world.store = typeof store === 'string' ? STORES[store]() : store()
    if (world.store !== undefined) options.store = world.store
    world.key = options.key ??= KEY

    const app = world.app = Object.assign(new Koa(), { keys, proxy: true })
    app.on('error', err => world.errors.push(err))
    if (above !== undefined) app.use(above)
    if (use === undefined) world.middleware = make === undefined ? session(options) : make(options, app)
    for (const fn of use === undefined ? [world.middleware] : use(options)) app.use(fn)
    app.use(async ctx => {
      for (const act of visits[ctx.get('x-visit')]) await act(ctx, world)
      if (ctx.respond === false || ctx.body !== undefined) return
      ctx.body = JSON.stringify(ctx.session ?? null) // as it is now, before it is saved
      ctx.type = 'json'
    })
    for (const final of finals) app.final(final)
    return world
  }

  async function visit (what, headers) {
    const { who, acts } = partsOf(what)
    let failed
    const steps = acts.map(act => Array.isArray(act) ? () => check(world, act).catch(err => { failed = err }) : actOf(act))
    const earlier = { id: idOf(world, who), calls: world.store?.calls?.length, errors: world.errors.length }
    const phone = world.phones[who] && { 'x-session': world.phones[who] }
    const res = await visitor(ask, world.app, world.jars[who] ??= {})('GET /', {
      headers: { 'x-visit': String(visits.push(steps) - 1), ...phone, ...headers }
    })
    if (failed !== undefined) throw failed
    if (res.headers['x-session'] !== undefined) world.phones[who] = res.headers['x-session']
    return seenOf(world, who, res, earlier)
  }

  return start(options)
}

/** What a visit shows, but for what is stored. */
function seenOf (world, who, res, earlier) {
  const { key, store, errors, jars, ids, middleware } = world
  const line = res.setCookie[key]
  const id = idOf(world, who)
  ids.add(id)
  return {
    status: res.status,
    body: res.headers['content-type']?.startsWith('application/json') ? res.json() : res.text,
    headers: res.headers,
    cookie: kindOf(line), // none, cleared or sent
    attributes: attributesOf(line), // of the cookie
    signature: attributesOf(res.setCookie[`${key}.sig`]), // attributes of the cookie beside it
    lines: res.headers['set-cookie']?.length ?? 0,
    header: res.headers['x-session'] === undefined ? 'none' : 'sent', // of externalKey
    value: id, // of the cookie, or the header, that the client has now
    id: id === undefined ? 'none' : id === earlier.id ? 'same' : 'new',
    jar: Object.keys(jars[who]).sort(),
    calls: store?.calls?.slice(earlier.calls), // of the store's methods
    ttls: store?.ttls, // since the beginning
    isStoreUp: middleware?.isStoreUp,
    errors: errors.slice(earlier.errors).map(told) // that the app reported
  }
}

function idOf ({ key, jars, phones }, who) {
  return phones[who] ?? jars[who]?.[key]
}

function kindOf (line) {
  if (line === undefined) return 'none'
  return /; expires=Thu, 01 Jan 1970/.test(line) ? 'cleared' : 'sent'
}

/** Without name and value, with the expiry in whole seconds from now. */
function attributesOf (line) {
  const seconds = date => (Date.parse(date) - Math.floor(Date.now() / 1000) * 1000) / 1000
  return line?.replace(/^[^;]*(; )?/, '').replace(/expires=([^;]+)/, (all, date) => `expires=${seconds(date)} s`)
}

function told ({ code, message, cause }) {
  return code && cause ? `${code}: ${cause.code ?? cause.message}` : code ?? message
}

/** Id → data, without when it expires; of Redis what clients have had. */
async function recordsOf ({ key, store, ids }) {
  const all = store.sessions
    ? Array.from(store.sessions, ([name, kept]) => [name.slice(key.length + 1), JSON.parse(kept.text ?? kept)])
    : await Promise.all(Array.from(ids, async id => [id, await store.get(`${key}:${id}`)]))
  return new Map(all.filter(([, record]) => record).map(([id, { _expire, ...data }]) => [id, data]))
}

async function storedIn (world) {
  const owners = new Map(Object.keys(world.jars).reverse().map(who => [idOf(world, who), who]))
  return Object.fromEntries(Array.from(await recordsOf(world), ([id, data]) => [owners.get(id) ?? 'nobody', data]))
}

/** Make a visit, and compare what it shows. What only this package has is not expected of a peer. */
async function check (world, [what, second, third]) {
  const response = typeof second === 'number' ? { status: second } : { status: 200, body: second }
  const { sends, ...expected } = { ...response, ...third }
  if (expected.body === undefined) delete expected.body
  if (expected.status === 200) expected.errors ??= []
  const seen = await world.visit(what, sends)
  if ('stored' in expected) seen.stored = await storedIn(world)
  const both = world.options.externalKey === undefined ? COMPARED : COMPARED_KEYS
  const shown = {}
  for (const [name, value] of Object.entries(expected)) {
    if (world.isPeer && !both.includes(name)) delete expected[name]
    else if (name === 'headers') shown.headers = Object.fromEntries(Object.keys(value).map(field => [field, seen.headers[field]]))
    else shown[name] = value instanceof RegExp && value.test([seen[name]].flat().join('\n')) ? value : seen[name]
  }
  const visit = [what].flat().map(act => typeof act === 'object' ? inspect(act) : String(act)).join(', ')
  const options = inspect(world.options, { depth: 2 })
  assert.deepEqual({ visit, options, ...shown }, { visit, options, ...expected })
  return Object.fromEntries(both.map(name => [name, seen[name]]))
}

// What must be the same in a peer; a session of koa-session is in the cookie, whose value is always new.
const COMPARED = ['status', 'body', 'cookie', 'attributes', 'signature']
const COMPARED_KEYS = ['status', 'body', 'header', 'id'] // with externalKey, where koa-session clears a cookie that it never set

/** @return {object[]} what each visit showed that must be the same in a peer */
async function live (world, steps) {
  const shown = []
  for (const step of steps) {
    if (typeof step === 'function') await step(world)
    else if (Array.isArray(step)) shown.push(await check(world, step))
    else world.start(step)
  }
  return shown
}

/** Run `suite(title, store)` with stores, and with Redis by each of its clients. */
function inStores (title, stores, suite, clients = startRedis.CLIENTS) {
  for (const [name, store] of Object.entries(stores)) suite(`${title} in ${name}`, store)
  for (const [name, connect] of Object.entries(clients)) {
    describe(`${title} in Redis, by ${name},`, { skip: missing('redis-server') }, () => {
      let server, connected
      before(async () => {
        server = await startRedis(need('redis-server'))
        connected = await connect(server.port)
      })
      after(async () => {
        await connected?.stop()
        await server?.stop()
      })
      suite(title, () => session.redis(connected.client))
    })
  }
}

Object.assign(module.exports, {
  KEY,
  STORES,
  act: actOf,
  inStores,
  open,

  /** For externalKey. */
  inHeader: { get: ctx => ctx.get('x-session'), set (ctx, id) { ctx.set('X-Session', id) } },

  /** Steps between visits. */
  tick: ms => world => world.tick(ms),
  jar: (who, cookies) => world => { world.jars[who] = typeof cookies === 'function' ? cookies({ ...world.jars.ann }) : cookies },
  breaks: (method, fail = async () => { throw new Error('down') }) => ({ store }) => { store[method] = fail },
  isUp: ({ middleware }) => until(() => middleware.isStoreUp),
  together: (...visits) => world => Promise.all(visits.map(visit => check(world, visit)))
})
