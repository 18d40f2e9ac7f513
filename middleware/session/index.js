'use strict'

const isOver = require('../_shared/is-over')
const { CURRENT, expose } = require('./context')
const MemoryStore = require('./memory')
const OPTIONS = require('./options')
const RedisStore = require('./redis')
const SealedCookie = require('./sealed')
const RequestSession = require('./session')
const { settingsOf } = require('./settings')

/**
 * Set `ctx.session`, an object that the next request of the same client finds again.
 *
 *    app.use(session({ store: session.redis(client), cookie: { maxAge: 7 * 24 * 3600e3 } }))
 *    app.use(ctx => { ctx.session.views = (ctx.session.views || 0) + 1 })
 *
 * A changed session is saved, as JSON, before the response is sent. An empty session, or null, is
 * destroyed. For a request that does not use its session, nothing is read, written or sent.
 * `ctx.sessionHandler.regenerateId()` gives the session a new id and destroys the old one: call it when
 * somebody signs in.
 *
 * @param {object} [options] see options.js
 * @return {Function} middleware; its `isStoreUp` is false while the store does not respond
 * @throws {TypeError} for an option of the wrong type; a request that uses its session, whose store fails, or does not
 *   respond within 5 s, is a 503 (`KONE_ERR_SESSION_STORE`)
 * @api public
 */
module.exports = function session (options, ...rest) {
  const settings = settingsOf(options, rest)
  const { storage, rolling, renew } = settings
  const isLazy = (storage.lazy || settings.lazy) && !rolling && !renew

  function session (ctx, next) {
    if (!(CURRENT in ctx)) expose(ctx)
    const outer = ctx[CURRENT]
    for (let one = outer; one !== undefined; one = one.outer) {
      if (sharesCookie(one.settings, settings)) return one === outer ? next() : again(ctx, one, outer, next)
    }

    const current = ctx[CURRENT] = new RequestSession(ctx, settings, outer)
    const loading = isLazy ? undefined : current.load()
    if (loading !== undefined) return loading.then(() => finish(current, next()))

    const ended = next()
    if (outer === undefined && isOver(ctx, ended)) return current.commit() ?? ended
    return finish(current, ended)
  }

  // public: a check of health()
  return Object.defineProperty(session, 'isStoreUp', { enumerable: true, get: () => storage.isUp })
}

/**
 * Save what finals changed; register it after them.
 *
 *    app.use(session())
 *    app.final(template.final())   // renders a form, whose csrf token needs a session
 *    app.final(session.final())
 *
 * @param {object} [options] those of the middleware, whose settings apply
 * @return {Function} (ctx) => Promise|undefined
 * @throws {TypeError} for an option of the wrong type
 * @api public
 */
module.exports.final = function final (options) {
  OPTIONS.check(options)
  return function session (ctx) {
    return ctx[CURRENT]?.commit()
  }
}

/**
 * Keep sessions in this process' memory. Nothing bounds it but their expiry.
 *
 *    app.use(session({ store: session.memory() }))
 *
 * @return {MemoryStore}
 * @api public
 */
module.exports.memory = () => new MemoryStore()

/**
 * Keep sessions in Redis or Valkey.
 *
 *    app.use(session({ store: session.redis(client) }))
 *
 * @param {object} client of `ioredis` or `redis`
 * @return {RedisStore}
 * @throws {TypeError} if it is not a client
 * @api public
 */
module.exports.redis = client => new RedisStore(client)

/**
 * Keep each session in its own cookie, sealed by AES-256-GCM. Nothing is stored on the server,
 * so signing out cannot revoke a copy of the cookie before it expires.
 *
 *    app.use(session({ store: session.sealedCookie({ keys: [process.env.SESSION_KEY] }) }))
 *
 * @param {object} options see options.js
 * @return {SealedCookie}
 * @throws {TypeError} for a key that is shorter than 32 bytes
 * @api public
 */
module.exports.sealedCookie = options => new SealedCookie(options)

async function finish (current, ended) {
  const { ctx, outer } = current
  try {
    await settle(current, ended)
  } finally {
    if (outer !== undefined) ctx[CURRENT] = outer
  }
}

async function settle (current, ended) {
  try {
    await ended
  } catch (err) {
    await current.commitInError()
    throw err
  }
  const saving = current.commit()
  if (saving !== undefined) await saving
}

/** Two sessions of one request with one cookie would overwrite each other's: they are one, as in koa-session. */
function sharesCookie (a, b) {
  return a === b || (a.key === b.key && !a.externalKey && !b.externalKey)
}

/** The session of a middleware around this one, and around another one with another session. */
async function again (ctx, current, outer, next) {
  ctx[CURRENT] = current
  try {
    await next()
  } finally {
    ctx[CURRENT] = outer
  }
}
