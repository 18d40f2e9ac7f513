'use strict'

const { createHash } = require('node:crypto')
const { given, misuse } = require('../_shared/misuse')
const {
  any, boolean, check, fn, integer, number, object, oneOf, shape, string, text
} = require('../_shared/options')
const report = require('../_shared/report')
const MemoryLimiter = require('./memory')
const networkOf = require('./network')
const RedisLimiter = require('./redis')

const ONE_HOUR = 3600 * 1000 // ms
const MAX_ID = 128

const NAMES = { remaining: 'X-RateLimit-Remaining', reset: 'X-RateLimit-Reset', total: 'X-RateLimit-Limit' }

const OPTIONS = {
  driver: oneOf('memory', 'redis'),
  db: any, // `driver` decides what it must be
  duration: number({ min: 1, of: 'milliseconds' }),
  max: number({ min: 0, of: 'requests' }),
  id: fn,
  ipv6Subnet: integer({ min: 1, max: 128, of: 'bits' }),
  namespace: string,
  headers: shape({ remaining: text, reset: text, total: text }),
  disableHeader: boolean,
  errorMessage: string.or(object),
  status: integer({ min: 400, max: 599 }),
  throw: boolean,
  onLimited: fn,
  whitelist: fn,
  blacklist: fn,
  failOpen: boolean
}

/**
 * Respond 429 to a client that sends too many requests.
 *
 *    app.use(rateLimit({ max: 100, duration: 60_000 }))
 *    app.use(rateLimit({ driver: 'redis', db: client, max: 100, duration: 60_000 }))
 *
 * A window begins with a client's first request and lasts `duration`; `max` requests in it pass.
 * Without `db` each instance counts for itself.
 *
 * @param {object} [options]
 * @param {string} [options.driver] 'memory' or 'redis'; default: depends on `db`
 * @param {Map | object} [options.db] client of `ioredis` or `redis`, or a Map to count in
 * @param {number} [options.duration=3600000] in ms
 * @param {number} [options.max=2500] requests
 * @param {Function} [options.id] `ctx => String`, the client to count; false: do not count;
 *   default: `ctx.ip`
 * @param {number} [options.ipv6Subnet] bits, usually 64: count all addresses of an IPv6 network of
 *   this size as one client; only with the default `id`; default: each address is a client
 * @param {string} [options.namespace='limit'] prefix of the keys
 * @param {{ remaining?, reset?, total? }} [options.headers] names of the headers
 * @param {boolean} [options.disableHeader=false]
 * @param {string | object} [options.errorMessage] body of the 429
 * @param {number} [options.status=429]
 * @param {boolean} [options.throw=false] throw the 429 instead of sending it
 * @param {Function} [options.onLimited] `ctx => *`
 * @param {Function} [options.whitelist] `ctx => Boolean|Promise`, true: not limited
 * @param {Function} [options.blacklist] `ctx => Boolean|Promise`, true: 403
 * @param {boolean} [options.failOpen=false] true: requests pass when the store fails, or does
 *   not respond within 5 s; false: they get a 503 (`KONE_ERR_RATE_LIMIT_STORE`)
 * @return {Function} middleware
 * @throws {TypeError} for an option of the wrong type
 * @api public
 */
module.exports = function rateLimit (options) {
  const settings = settingsOf(options)
  const { whitelist, blacklist } = settings

  return function rateLimit (ctx, next) {
    if (whitelist === undefined && blacklist === undefined) return limit(ctx, next, settings)
    return screen(ctx, next, settings)
  }
}

async function screen (ctx, next, settings) {
  const { whitelist, blacklist } = settings
  const isWelcome = whitelist !== undefined && await whitelist(ctx)
  if (blacklist !== undefined && await blacklist(ctx)) ctx.throw(403, 'Forbidden')
  return isWelcome ? next() : limit(ctx, next, settings)
}

function limit (ctx, next, settings) {
  const id = settings.id(ctx)
  if (id === false) return next()
  if (typeof id?.then === 'function') return id.then(id => id === false ? next() : count(ctx, next, settings, id))
  return count(ctx, next, settings, id)
}

function count (ctx, next, settings, id) {
  const counted = settings.limiter.count(keyOf(id, settings))
  if (typeof counted.then !== 'function') return decide(ctx, next, settings, id, counted)
  return counted.then(
    window => decide(ctx, next, settings, id, window),
    cause => fail(ctx, next, settings, cause)
  )
}

function keyOf (id, { namespace }) {
  const text = String(id)
  // a client may choose its id: a long one would fill the memory
  return namespace + (text.length <= MAX_ID ? text : createHash('sha256').update(text).digest('base64'))
}

function decide (ctx, next, settings, id, { count, reset }) {
  const { max, names } = settings
  if (names !== undefined) {
    ctx.set(names.remaining, String(Math.max(0, max - count)))
    ctx.set(names.reset, String(Math.ceil(reset / 1000)))
    ctx.set(names.total, String(max))
  }
  return count <= max ? next() : refuse(ctx, settings, id, reset)
}

async function refuse (ctx, settings, id, reset) {
  const wait = Math.max(reset - Date.now(), 1)
  const after = Math.ceil(wait / 1000)
  const message = settings.errorMessage || `Rate limit exceeded, retry in ${inWords(wait)}.`
  const headers = settings.names === undefined ? {} : headersOf(ctx, settings.names)

  ctx.status = settings.status
  ctx.body = message
  ctx.set('Retry-After', String(after))
  ctx.state.rateLimit = { after, headers, id, message }

  if (settings.onLimited !== undefined) await settings.onLimited(ctx)
  if (settings.throw) {
    ctx.throw(ctx.status, ctx.body, { headers: { ...headers, 'Retry-After': String(after) } })
  }
}

function headersOf (ctx, names) {
  return Object.fromEntries(Object.values(names).map(name => [name, ctx.response.get(name)]))
}

function fail (ctx, next, settings, cause) {
  const err = new Error(`the rate limit's store failed: ${cause?.message ?? cause}`, { cause })
  Object.assign(err, { code: 'KONE_ERR_RATE_LIMIT_STORE', status: 503 })
  if (!settings.failOpen) throw err
  report(ctx, err)
  return next()
}

const UNITS = [[86_400_000, 'day'], [3_600_000, 'hour'], [60_000, 'minute'], [1000, 'second']]

/** 90_000 → '2 minutes', as the package `ms` writes it. */
function inWords (ms) {
  for (const [unit, name] of UNITS) {
    if (ms >= unit) return `${Math.round(ms / unit)} ${name}${ms >= 1.5 * unit ? 's' : ''}`
  }
  return `${ms} ms`
}

function settingsOf (options) {
  const {
    driver, db, id, ipv6Subnet, headers, errorMessage, onLimited, whitelist, blacklist,
    duration = ONE_HOUR, max = 2500, namespace = 'limit', status = 429,
    disableHeader = false, throw: throws = false, failOpen = false
  } = check('rateLimit', options, OPTIONS)
  if (ipv6Subnet !== undefined && id) throw misuse('rateLimit', 'options.ipv6Subnet must be left out beside options.id, which decides whom to count')

  const { limiter, prefix } = limiterOf(driver, db, duration, namespace)
  return {
    limiter,
    namespace: prefix,
    id: id || (ipv6Subnet === undefined ? ctx => ctx.ip : ctx => networkOf(ctx.ip, ipv6Subnet)),
    max,
    status,
    errorMessage,
    failOpen,
    throw: throws,
    onLimited,
    whitelist,
    blacklist,
    names: disableHeader ? undefined : { ...NAMES, ...headers }
  }
}

function limiterOf (driver, db, duration, namespace) {
  driver ??= db === undefined || db instanceof Map ? 'memory' : 'redis'
  if (driver === 'memory') {
    if (db !== undefined && !(db instanceof Map)) throw misuse('rateLimit', `options.db must be a Map for the driver memory, not ${given(db)}`)
    return { limiter: new MemoryLimiter(db || new Map(), duration), prefix: `${namespace}:` }
  }
  // koa-ratelimit's own keys hold values of another type, so these have another name
  return { limiter: new RedisLimiter(db, duration), prefix: `${namespace}:count:` }
}
