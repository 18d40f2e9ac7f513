'use strict'

const { isDeepStrictEqual } = require('node:util')
const { Cookie } = require('cookies')
const MemoryStore = require('./memory')
const RedisStore = require('./redis')
const SealedCookie = require('./sealed')
const cookieReader = require('../_shared/cookie')
const deadline = require('../_shared/deadline')
const isOver = require('../_shared/is-over')
const random = require('../_shared/random')

const ONE_DAY = 24 * 3600 * 1000 // ms
const MAX_COOKIE = 4096 // bytes; RFC 6265, 6.1: name, value and attributes
const ID = /^[\w-]{32}$/

const CURRENT = Symbol('session')

/**
 * Give `ctx.session`, an object that the same client finds again with its next request.
 *
 *    app.use(session({ store: session.redis(client), cookie: { maxAge: 7 * 24 * 3600e3 } }))
 *    app.use(ctx => { ctx.session.views = (ctx.session.views || 0) + 1 })
 *
 * It is kept as JSON and saved before the answer if it was changed; emptied or set to null, it is
 * destroyed. Nothing is read, written or sent for a request that leaves it alone.
 * `ctx.sessionHandler.regenerateId()` gives it a new id and destroys the old one: call it when
 * somebody signs in.
 *
 * @param {Object} [options]
 * @param {String} [options.key='koa:sess'] name of the cookie and prefix of the store's keys
 * @param {Object} [options.store] `get(id)`, `set(id, session, ttl)`, `destroy(id)`, ttl in ms,
 *   values or promises; or `session.sealedCookie({ keys })`; the process' memory when left out
 * @param {Object|Function} [options.cookie] attributes of the cookie, or `ctx => attributes`;
 *   maxAge in ms: without it the browser keeps the cookie until it is closed, the store a day
 * @return {Function} middleware
 * @throws {TypeError} for an option of the wrong type; a request whose store fails, or does not
 *   answer within 5 s, is answered 503 (`KONE_ERR_SESSION_STORE`)
 * @api public
 */
module.exports = function session (options) {
  const settings = check(options)

  return function session (ctx, next) {
    if (!(CURRENT in ctx)) expose(ctx)
    const outer = ctx[CURRENT]
    if (outer !== undefined && outer.settings === settings) return next()

    const current = ctx[CURRENT] = new Session(ctx, settings)
    const loading = settings.keeper.lazy ? undefined : current.load()
    if (loading !== undefined) return loading.then(() => finish(current, outer, next()))

    const ended = next()
    if (outer === undefined && isOver(ctx, ended)) return current.commit() ?? ended
    return finish(current, outer, ended)
  }
}

/**
 * Save what functions of `app.final` changed; register it behind them.
 *
 *    app.use(session())
 *    app.final(template.final())   // renders a form, whose csrf token needs a session
 *    app.final(session.final())
 *
 * @return {Function} (ctx) => Promise|undefined
 * @api public
 */
module.exports.final = function final () {
  return function session (ctx) {
    return ctx[CURRENT]?.commit()
  }
}

/** Keep sessions in this process' memory. */
module.exports.memory = () => new MemoryStore()

/**
 * Keep sessions in Redis or Valkey.
 *
 * @param {Object} client of `ioredis` or `redis`
 */
module.exports.redis = client => new RedisStore(client)

/**
 * Keep each session in its own cookie, sealed by AES-256-GCM. Nothing is stored on the server,
 * so signing out cannot revoke a copy of the cookie before it expires.
 *
 * @param {{ keys: Array<String|Buffer> }} options of 32 bytes or more: the first one seals, every
 *   one opens
 */
module.exports.sealedCookie = options => new SealedCookie(options)

async function finish (current, outer, ended) {
  try {
    await ended
  } catch (err) {
    throw await current.commitWith(err)
  }
  const saving = current.commit()
  if (saving !== undefined) await saving
  if (outer !== undefined) current.ctx[CURRENT] = outer
}

/**
 * One request's session.
 */
class Session {
  constructor (ctx, settings) {
    this.ctx = ctx
    this.settings = settings
    this.id = '' // the cookie's value, once it is known to be good
    this.value = undefined
    this.text = undefined // what is saved, as JSON; undefined: not loaded yet
    this.touched = false
    this.renewed = false
    this.handler = undefined
  }

  read () {
    if (this.text === undefined) this.load()
    this.touched = true
    return this.value
  }

  write (value) {
    if (Array.isArray(value)) throw new TypeError('ctx.session must be an object or null, not an array')
    if (this.text === undefined) this.load()
    this.touched = true
    this.value = value
  }

  renew () {
    if (this.text === undefined) this.load()
    this.renewed = true
  }

  load () {
    const { keeper, readCookie } = this.settings
    const sent = readCookie(this.ctx)
    const found = sent ? keeper.load(sent) : undefined
    if (isThenable(found)) return found.then(value => this.loaded(sent, value))
    this.loaded(sent, found)
  }

  loaded (sent, found) {
    const known = isSession(found)
    // an id that the store does not know was made up by the client, or has expired: never used
    this.id = known ? sent : ''
    this.value = known ? found : {}
    this.text = known ? this.settings.keeper.textOf(sent) ?? toText(found) : '{}'
  }

  /** Save what was changed. */
  commit () {
    if (!this.touched && !this.renewed) return undefined
    if (this.value === null || typeof this.value !== 'object') this.value = {}
    const text = toText(this.value)
    if (!this.renewed && (text === this.text || this.isReordered(text))) return undefined
    return this.save(text)
  }

  /** The order of keys is no change. */
  isReordered (text) {
    return text.length === this.text.length && isDeepStrictEqual(this.value, JSON.parse(this.text))
  }

  async save (text) {
    const { ctx, id, value, settings: { cookie, keeper, key, readCookie } } = this
    const attributes = typeof cookie === 'function' ? withDefaults(cookie(ctx)) : cookie
    const { maxAge, ...cleared } = attributes
    const empty = text === '{}'

    if (empty) {
      this.id = ''
      if (id !== '') await keeper.drop(id)
      if (!ctx.headerSent && readCookie(ctx)) ctx.cookies.set(key, null, cleared)
    } else {
      this.id = await keeper.save(value, text, maxAge > 0 ? maxAge : ONE_DAY, id, this.renewed, attributes)
      if (!ctx.headerSent || this.id !== id) ctx.cookies.set(key, this.id, attributes)
    }
    this.text = text
    this.renewed = false
  }

  /** Save, and give back the error that the request died of. */
  async commitWith (err) {
    try {
      await this.commit()
    } catch (failed) {
      this.ctx.app.emit('error', failed, this.ctx)
      return err
    }
    return withCookies(err, cookiesOf(this.ctx, this.settings.key))
  }
}

/**
 * Sessions in a store, found by a random id that only the server makes.
 */
class Keyed {
  constructor (key, store) {
    this.prefix = `${key}:`
    this.store = store
    this.lazy = store.lazy === true
    this.keepsText = store instanceof MemoryStore
  }

  load (id) {
    if (!ID.test(id)) return undefined
    return ask(() => this.store.get(this.prefix + id))
  }

  /** The JSON that `load` has just parsed, if it is at hand: making it anew costs as much as parsing. */
  textOf (id) {
    return this.keepsText ? this.store.textOf(this.prefix + id) : undefined
  }

  async save (session, text, ttl, id, renewed) {
    const kept = id !== '' && !renewed
    const saved = kept ? id : random(24).toString('base64url')
    const made = this.keepsText ? [text] : []
    await ask(() => this.store.set(this.prefix + saved, session, ttl, ...made))
    if (id !== '' && !kept) await this.drop(id)
    return saved
  }

  drop (id) {
    return ask(() => this.store.destroy(this.prefix + id))
  }
}

/**
 * Sessions that are their cookie.
 */
class Sealed {
  constructor (key, store) {
    this.key = key
    this.store = store
    this.lazy = true
  }

  load (value) {
    return this.store.open(this.key, value)
  }

  textOf () {}

  save (session, text, ttl, id, renewed, attributes) {
    const value = this.store.seal(this.key, session, ttl)
    const { length } = new Cookie(this.key, value, { ...attributes, secure: true }).toHeader()
    if (length > MAX_COOKIE) throw tooLarge(length)
    return value
  }

  drop () {}
}

// Run an operation of a store, whose answer may be a promise and may never come.
function ask (operation) {
  try {
    const answer = operation()
    return isThenable(answer) ? deadline(answer).catch(fail) : answer
  } catch (err) {
    fail(err)
  }
}

function fail (cause) {
  const err = new Error(`the session store failed: ${cause?.message ?? cause}`, { cause })
  throw Object.assign(err, { code: 'KONE_ERR_SESSION_STORE', status: 503 })
}

function tooLarge (length) {
  const err = new Error(`the sealed session makes a cookie of ${length} bytes, ${MAX_COOKIE} fit`)
  return Object.assign(err, { code: 'KONE_ERR_SESSION_SIZE', status: 500 })
}

/**
 * Koa drops every header when a request dies of an error and sends those of the error instead. An
 * answer made by `ctx.throw` so keeps its session cookie; on a copy, because an app may throw one
 * error object for many clients.
 */
function withCookies (err, cookies) {
  if (cookies.length === 0 || !(err instanceof Error) || err.expose !== true) return err
  const { 'set-cookie': lower = [], 'Set-Cookie': upper = [], ...headers } = err.headers || {}
  headers['set-cookie'] = cookies.concat(lower, upper)
  return Object.create(err, { headers: { value: headers, writable: true, configurable: true } })
}

function cookiesOf (ctx, key) {
  const set = ctx.response.get('Set-Cookie') || []
  return (Array.isArray(set) ? set : [set]).filter(cookie => cookie.startsWith(`${key}=`))
}

/**
 * `session` and `sessionHandler` on the app's context, not on each ctx: a request then pays for
 * them only when it reads them.
 */
function expose (ctx) {
  const context = ctx.app?.context
  const shared = context !== undefined && Object.prototype.isPrototypeOf.call(context, ctx)
  Object.defineProperties(shared ? context : ctx, ACCESSORS)
}

const ACCESSORS = {
  [CURRENT]: { value: undefined, writable: true, configurable: true },

  session: {
    configurable: true,
    enumerable: true,
    get () { return this[CURRENT]?.read() },
    set (value) {
      if (this[CURRENT] === undefined) own(this, 'session', value)
      else this[CURRENT].write(value)
    }
  },

  sessionHandler: {
    configurable: true,
    enumerable: true,
    get () {
      const current = this[CURRENT]
      if (current === undefined) return undefined
      if (current.handler === undefined) current.handler = { regenerateId: () => current.renew() }
      return current.handler
    },
    set (value) { own(this, 'sessionHandler', value) }
  }
}

// A request that does not pass through here may have another one's session.
function own (ctx, name, value) {
  Object.defineProperty(ctx, name, { value, writable: true, enumerable: true, configurable: true })
}

/** A store gives back what somebody else may have put there. */
function isSession (value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

function toText (session) {
  return JSON.stringify(session) ?? '{}'
}

function isThenable (value) {
  return value !== null && typeof value === 'object' && typeof value.then === 'function'
}

function check (options) {
  const { key = 'koa:sess', store, cookie } = options || {}
  if (typeof key !== 'string' || key === '') {
    throw new TypeError('session: options.key must be a non-empty string')
  }
  if (cookie && typeof cookie !== 'object' && typeof cookie !== 'function') {
    throw new TypeError('session: options.cookie must be an object or a function')
  }
  checkCookie(key, typeof cookie === 'function' ? {} : cookie)

  return {
    key,
    readCookie: cookieReader(key),
    cookie: typeof cookie === 'function' ? cookie : withDefaults(cookie),
    keeper: keeperOf(key, store || new MemoryStore())
  }
}

function keeperOf (key, store) {
  if (typeof store?.seal === 'function') return new Sealed(key, store)
  for (const method of ['get', 'set', 'destroy']) {
    if (typeof store?.[method] !== 'function') {
      throw new TypeError(`session: options.store must have a method ${method}`)
    }
  }
  return new Keyed(key, store)
}

function withDefaults (cookie) {
  const attributes = {
    maxAge: 0, // until the browser is closed
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    ...cookie,
    overwrite: true, // an earlier one of this request
    signed: false // the id is a secret of its own
  }
  // left out, cookies sets it for a request that came over TLS
  if (attributes.secure === undefined) delete attributes.secure
  if (!(attributes.maxAge >= 0)) attributes.maxAge = 0
  return attributes
}

function checkCookie (key, attributes) {
  try {
    new Cookie(key, 'value', attributes).toHeader()
  } catch (err) {
    throw new TypeError(`session: options.key or options.cookie: ${err.message}`, { cause: err })
  }
}
