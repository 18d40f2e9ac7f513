'use strict'

const { timingSafeEqual } = require('node:crypto')
const { manual, misuse } = require('../_shared/misuse')
const globs = require('./globs')
const { any, boolean, check, fn, integer, list, refused, string } = require('../_shared/options')
const random = require('../_shared/random')

const CTX = Symbol('csrf ctx')

const byHandler = refused('let errorHandler respond')
const OPTIONS = {
  errorHandler: fn,
  excludedMethods: list(string, 'strings'),
  disableQuery: boolean,
  ignoredPathGlobs: list(string, 'strings'),
  secretLength: integer({ min: 16, of: 'bytes' }), // 16 are what cannot be guessed
  saltLength: any, // of koa-csrf's tokens, which had a salt
  invalidTokenMessage: byHandler, // koa-csrf 3
  invalidTokenStatusCode: byHandler
}

/**
 * Refuse requests that another site made a visitor's browser send.
 *
 *    app.use(session())
 *    app.use(bodyParser())
 *    app.use(csrf())
 *    // <input type="hidden" name="_csrf" value="{{ _csrf }}">
 *
 * Whatever is not GET, HEAD or OPTIONS is judged by `Sec-Fetch-Site`, which browsers set and pages
 * cannot: `same-origin` and `none` pass, everything else is refused. Without it `Origin` must be
 * the app's own; without both the token decides, from `_csrf` in body or query or one of the headers
 * csrf-token, xsrf-token, x-csrf-token, x-xsrf-token.
 *
 * The token is at `ctx.state._csrf`; it is made, and the secret in the session with it, when it is
 * read. It is different in every response, so that compression cannot give it away.
 *
 * @param {object} [options]
 * @param {Function} [options.errorHandler] `ctx => *`; a 403 when left out
 * @param {string[]} [options.excludedMethods=['GET', 'HEAD', 'OPTIONS']]
 * @param {boolean} [options.disableQuery=false] no token from the query
 * @param {string[]} [options.ignoredPathGlobs=[]] paths that need neither
 * @param {number} [options.secretLength=18] in bytes
 * @return {Function} middleware
 * @throws {TypeError} for an option of the wrong type; a request that reads the token without a
 *   session is a 500
 * @api public
 */
module.exports = function csrf (options) {
  const { excluded, isIgnored, disableQuery, errorHandler, secretLength } = settingsOf(options)
  const property = tokenProperty(secretLength)

  return function csrf (ctx, next) {
    const { state } = ctx
    if (!('_csrf' in state)) {
      Object.defineProperty(state, CTX, { value: ctx })
      Object.defineProperty(state, '_csrf', property)
    }
    if (excluded.has(ctx.method) || isIgnored(ctx.path)) return next()
    return isAllowed(ctx, disableQuery) ? next() : errorHandler(ctx)
  }
}

function isAllowed (ctx, disableQuery) {
  const site = ctx.get('sec-fetch-site')
  if (site !== '') return site === 'same-origin' || site === 'none'

  const origin = ctx.get('origin')
  // not ctx.origin: in Koa 3 that is what the client sent
  if (origin !== '') return origin === `${ctx.protocol}://${ctx.host}`

  const token = sentToken(ctx, disableQuery)
  return token !== '' && isValid(token, sessionOf(ctx)?.secret)
}

function sentToken (ctx, disableQuery) {
  return text(ctx.request.body?._csrf) ||
    (disableQuery ? '' : text(ctx.query._csrf)) ||
    ctx.get('csrf-token') || ctx.get('xsrf-token') ||
    ctx.get('x-csrf-token') || ctx.get('x-xsrf-token')
}

function text (value) {
  return typeof value === 'string' && value.trim() !== '' ? value : ''
}

/** The secret of a session, hidden behind random bytes: base64url(mask ‖ mask xor secret) */
function mask (secret) {
  const bytes = Buffer.from(secret)
  const token = Buffer.concat([random(bytes.length), bytes])
  for (let i = 0; i < bytes.length; i++) token[bytes.length + i] ^= token[i]
  return token.toString('base64url')
}

function isValid (token, secret) {
  if (typeof secret !== 'string' || secret === '') return false
  const bytes = Buffer.from(secret)
  const sent = Buffer.from(token, 'base64url')
  // node skips what is not base64url and ignores the bits that are left over: only one spelling is a token
  if (sent.length !== 2 * bytes.length || sent.toString('base64url') !== token) return false
  const found = sent.subarray(bytes.length)
  for (let i = 0; i < bytes.length; i++) found[i] ^= sent[i]
  return timingSafeEqual(found, bytes)
}

/**
 * `ctx.state._csrf`, made when it is read. One pair of functions for all requests: with functions of
 * its own each ctx.state would have a shape of its own (1.1 instead of 0.4 µs, Node 20).
 */
function tokenProperty (secretLength) {
  return {
    configurable: true,
    enumerable: true,
    get () {
      const token = mask(secretOf(this[CTX], secretLength))
      setToken(this, token)
      return token
    },
    set (value) { setToken(this, value) }
  }
}

function setToken (state, value) {
  Object.defineProperty(state, '_csrf', { value, writable: true, enumerable: true, configurable: true })
}

function secretOf (ctx, secretLength) {
  if (sessionOf(ctx) === null) ctx.session = {} // emptied by this request
  const { session } = ctx
  if (typeof session.secret !== 'string' || session.secret === '') {
    session.secret = random(secretLength).toString('base64url')
  }
  return session.secret
}

function sessionOf (ctx) {
  const { session } = ctx
  if (session === undefined) throw new Error(`csrf: there is no ctx.session: register a session before csrf (${manual('csrf')})`)
  return session
}

function refuse (ctx) {
  ctx.throw(403, 'Invalid CSRF token')
}

function settingsOf (options) {
  const {
    errorHandler = refuse,
    excludedMethods = ['GET', 'HEAD', 'OPTIONS'],
    disableQuery = false,
    ignoredPathGlobs = [],
    secretLength = 18
  } = check('csrf', options, OPTIONS)

  return {
    errorHandler,
    disableQuery,
    secretLength,
    excluded: new Set(excludedMethods.map(method => method.toUpperCase())),
    isIgnored: compileGlobs(ignoredPathGlobs)
  }
}

function compileGlobs (patterns) {
  if (patterns.length === 0) return () => false
  try {
    return globs(patterns)
  } catch (err) {
    throw misuse('csrf', `options.ignoredPathGlobs: ${err.message}`, { cause: err })
  }
}
