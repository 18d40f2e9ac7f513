'use strict'

const { timingSafeEqual } = require('crypto')
const { manual, misuse } = require('../_shared/usage-error')
const { WHEN_PRINTED, defineValue } = require('../_shared/context')
const globs = require('./globs')
const random = require('../_shared/random')
const OPTIONS = require('./options')

const CTX = Symbol('csrf ctx')

const FOREIGN_SITE = 'its Sec-Fetch-Site is neither same-origin nor none, so a page of another origin sends it'
const FOREIGN_ORIGIN = "its Origin is not the app's own (behind a proxy the app needs `proxy`)"
const NO_TOKEN = 'it has no token, neither in a header nor in ctx.request.body or the query'
const NO_SESSION = 'its session has no secret, because the visitor has no session, or ctx.state._csrf was not read in it'
const WRONG_TOKEN = 'its token is not of this session'

const logged = new Set() // reasons

/**
 * Refuse requests that a visitor's browser sends for another site.
 *
 *    app.use(session())
 *    app.use(bodyParser())
 *    app.use(csrf())
 *    // <input type="hidden" name="_csrf" value="{{ _csrf }}">
 *
 * GET, HEAD and OPTIONS pass. Every other request needs `Sec-Fetch-Site: same-origin` or `none`,
 * which browsers set and pages cannot set. Without this header, `Origin` must be the app's own.
 * Without both headers, and with `Origin: null`, the request needs the token: `_csrf` in the body or the
 * query, or one of the headers csrf-token, xsrf-token, x-csrf-token, x-xsrf-token.
 *
 * `ctx.state._csrf` is the token. Reading it makes the token, and the secret in the session. The token
 * differs in every response, because the length of a compressed response could reveal a constant one.
 *
 * @param {object} [options] see options.js
 * @return {Function} middleware
 * @throws {TypeError} for an option of the wrong type; and in a request, as a 500, if the token is
 *   read without a session
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
    const reason = refusal(ctx, disableQuery)
    if (reason === '') return next()
    log(ctx, reason)
    return errorHandler(ctx)
  }
}

/** Why a request is refused; '' if it is not. */
function refusal (ctx, disableQuery) {
  const site = ctx.get('sec-fetch-site')
  if (site !== '') return site === 'same-origin' || site === 'none' ? '' : FOREIGN_SITE

  // 'null' names no site: behind `Referrer-Policy: no-referrer` browsers send it with the app's own forms
  const origin = ctx.get('origin')
  // not ctx.origin, which in Koa 3 is the Origin header of the client
  if (origin !== '' && origin !== 'null') return origin === `${ctx.protocol}://${ctx.host}` ? '' : FOREIGN_ORIGIN

  const token = sentToken(ctx, disableQuery)
  if (token === '') return NO_TOKEN
  const secret = sessionOf(ctx)?.secret
  if (typeof secret !== 'string' || secret === '') return NO_SESSION
  return isValid(token, secret) ? '' : WRONG_TOKEN
}

/** In development the reason is printed, each once: a client gets the same response for all. */
function log ({ app, method, path }, reason) {
  if (app.env !== 'development' || app.silent || logged.has(reason)) return
  logged.add(reason)
  process.emitWarning(`csrf refuses ${method} ${path}: ${reason} (${manual('csrf')})`, { code: 'KONE_WARN_MISTAKE' })
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
  const bytes = Buffer.from(secret)
  const sent = Buffer.from(token, 'base64url')
  // node skips invalid characters and ignores surplus bits, so that many texts decode to one token: accept one
  if (sent.length !== 2 * bytes.length || sent.toString('base64url') !== token) return false
  const found = sent.subarray(bytes.length)
  for (let i = 0; i < bytes.length; i++) found[i] ^= sent[i]
  return timingSafeEqual(found, bytes)
}

/**
 * The accessor `ctx.state._csrf`, which makes the token. All requests share its two functions: with
 * functions of its own each ctx.state would have a shape of its own (1.1 instead of 0.4 µs, Node 20).
 */
function tokenProperty (secretLength) {
  function get () {
    const token = mask(secretOf(this[CTX], secretLength))
    defineValue(this, '_csrf', token)
    return token
  }
  get[WHEN_PRINTED] = true

  return {
    configurable: true,
    enumerable: true,
    get,
    set (value) { defineValue(this, '_csrf', value) }
  }
}

function secretOf (ctx, secretLength) {
  if (sessionOf(ctx) === null) ctx.session = {} // this request set the session to null
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
  const settings = OPTIONS.check(options)
  const { errorHandler = refuse, excludedMethods, disableQuery, ignoredPathGlobs, secretLength } = settings

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
