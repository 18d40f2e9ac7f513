'use strict'

const { createHash } = require('crypto')
const { DOWN } = require('../_shared/breaker')
const { given, misuse } = require('../_shared/usage-error')
const { KeptHeaders, report } = require('../../lib/shared/error-path')
const addressReader = require('./address')
const fieldsOf = require('./fields')
const MemoryLimiter = require('./memory')
const networkOf = require('./network')
const OPTIONS = require('./options')
const RedisLimiter = require('./redis')

const MAX_ID = 128

/**
 * Respond 429 to a client that sends too many requests.
 *
 *    app.use(rateLimit({ max: 100, duration: 60_000 }))
 *    app.use(rateLimit({ driver: 'redis', db: client, max: 100, duration: 60_000 }))
 *
 * A window begins with a client's first request and lasts `duration`; `max` requests in it pass.
 * Without `db` each instance counts for itself.
 *
 * @param {object} [options] see options.js
 * @return {Function} middleware; its `isStoreUp` is false while the store does not respond
 * @throws {TypeError} for an option of the wrong type
 * @api public
 */
module.exports = function rateLimit (options) {
  const settings = settingsOf(options)
  const { whitelist, blacklist, limiter } = settings

  function rateLimit (ctx, next) {
    if (whitelist === undefined && blacklist === undefined) return limit(ctx, next, settings)
    return screen(ctx, next, settings)
  }

  // public: a check of health()
  return Object.defineProperty(rateLimit, 'isStoreUp', { enumerable: true, get: () => limiter.isStoreUp })
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

function decide (ctx, next, settings, id, window) {
  if (typeof settings.max !== 'function') return judge(ctx, next, settings, id, window, settings.max)
  const max = settings.max(ctx)
  if (typeof max?.then !== 'function') return judge(ctx, next, settings, id, window, checked(max))
  return max.then(max => judge(ctx, next, settings, id, window, checked(max)))
}

function checked (max) {
  if (typeof max === 'number' && max >= 0) return max
  throw misuse('rateLimit', `options.max must return a number of requests from 0 on, not ${given(max)}`)
}

function judge (ctx, next, settings, id, { count, wait }, max) {
  const { names, fields } = settings
  const left = Math.max(0, max - count)
  if (names !== undefined) {
    ctx.set(names.remaining, String(left))
    ctx.set(names.reset, String(Math.ceil((Date.now() + wait) / 1000)))
    ctx.set(names.total, String(max))
  }
  if (fields !== undefined) fields.set(ctx, max, left, wait)
  if (count > max) return refuse(ctx, settings, id, Math.max(Math.ceil(wait), 1))
  settings.kept.keepFor(ctx)
  return next()
}

async function refuse (ctx, settings, id, wait) {
  const after = Math.ceil(wait / 1000)
  const message = settings.errorMessage || `Rate limit exceeded, retry in ${inWords(wait)}.`
  const headers = headersOf(ctx, settings)

  ctx.status = settings.status
  ctx.body = message
  ctx.set('Retry-After', String(after))
  ctx.state.rateLimit = { after, headers, id, message }
  settings.keptOfRefusal.keepFor(ctx)

  if (settings.onLimited !== undefined) await settings.onLimited(ctx)
  if (settings.throw) {
    ctx.throw(ctx.status, ctx.body, { headers: { ...headers, 'Retry-After': String(after) } })
  }
}

function headersOf (ctx, { sent }) {
  return Object.fromEntries(sent.map(name => [name, ctx.response.get(name)]))
}

function fail (ctx, next, settings, cause) {
  const err = new Error(`the rate limit's store failed: ${cause?.message ?? cause}`, { cause })
  Object.assign(err, { code: 'KONE_ERR_RATE_LIMIT_STORE', status: 503 })
  if (!settings.failOpen) throw err
  if (cause?.code !== DOWN) report(ctx, err) // while the store is known to be down, it was reported before
  return next()
}

/** @type {Array<[number, string]>} */
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
    driver, db, duration, max, id, ipv6Subnet, namespace, headers, disableHeader, standardHeaders, errorMessage, status,
    throw: throws, onLimited, whitelist, blacklist, failOpen
  } = OPTIONS.check(options)
  if (ipv6Subnet !== undefined && id) throw misuse('rateLimit', 'options.ipv6Subnet must be left out beside options.id, which decides whom to count')

  const ipOf = addressReader()
  const { limiter, prefix } = limiterOf(driver, db, duration, namespace)
  const names = disableHeader ? undefined : headers
  const fields = standardHeaders ? fieldsOf(namespace, duration) : undefined
  const sent = [...Object.values(names ?? {}), ...fields?.names ?? []]
  return {
    limiter,
    namespace: prefix,
    id: id || (ipv6Subnet === undefined ? ipOf : ctx => networkOf(ipOf(ctx), ipv6Subnet)),
    max,
    status,
    errorMessage,
    failOpen,
    throw: throws,
    onLimited,
    whitelist,
    blacklist,
    names,
    fields,
    sent,
    kept: new KeptHeaders(sent),
    keptOfRefusal: new KeptHeaders([...sent, 'Retry-After'], { yields: true })
  }
}

function limiterOf (driver, db, duration, namespace) {
  driver ??= db === undefined || db instanceof Map ? 'memory' : 'redis'
  if (driver === 'memory') {
    if (db !== undefined && !(db instanceof Map)) throw misuse('rateLimit', `options.db must be a Map for the driver memory, not ${given(db)}`)
    return { limiter: new MemoryLimiter(db, duration), prefix: `${namespace}:` }
  }
  // koa-ratelimit's own keys hold values of another type, so these have another name
  const prefix = `${namespace}:count:`
  return { limiter: new RedisLimiter(db, duration, prefix), prefix }
}
