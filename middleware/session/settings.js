'use strict'

const { Cookie } = require('cookies')
const cookieReader = require('../_shared/cookie')
const { misuse, noPromise } = require('../_shared/usage-error')
const ById = require('./by-id')
const InCookie = require('./in-cookie')
const MemoryStore = require('./memory')
const OPTIONS = require('./options')

/**
 * Turn the options into settings: the cookie's name and attributes, the reader of its value, and the storage.
 *
 * @param {object} options of session
 * @param {Array} rest further arguments, of which there may be none
 * @return {object}
 * @throws {TypeError} naming the option
 */
function settingsOf (options, rest) {
  if (typeof options?.callback === 'function' && typeof options.use === 'function') {
    throw misuse('session', 'the app is not an argument: call session() or session(options)')
  }
  if (rest.length > 0) throw misuse('session', 'takes one argument, its options: leave the app out')

  const settings = OPTIONS.check(options)
  const { key, store, cookie, rolling, renew, lazy, genid, valid, beforeSave, externalKey } = settings
  if (lazy && (rolling || renew)) {
    throw misuse('session', 'options.lazy must be left out beside rolling or renew, which read every session')
  }
  const given = Object.keys(OPTIONS.ATTRIBUTES).filter(name => name in settings)
  const ofAll = Object.fromEntries(given.map(name => [name, settings[name]]))
  const ofCookie = typeof cookie === 'function' ? {} : cookie
  const attributes = withDefaults(ofCookie, ofAll)
  checkCookie(key, { ...attributes, ...ofCookie })
  if (typeof cookie !== 'function' && externalKey === undefined) checkForBrowsers(key, attributes, ofAll, ofCookie)

  return {
    key,
    ofAll,
    rolling,
    renew,
    lazy,
    valid,
    beforeSave,
    externalKey,
    readKey: externalKey === undefined ? cookieReader(key) : externalReader(externalKey),
    keyIndex: attributes.signed && externalKey === undefined ? keyIndexOf(key) : undefined,
    cookie: typeof cookie === 'function' ? cookie : attributes,
    storage: storageOf(key, store ?? new MemoryStore(), { renew, genid, externalKey })
  }
}

function storageOf (key, store, options) {
  if (typeof store.seal !== 'function') return new ById(key, store, options)
  const ofIds = ['genid', 'externalKey'].find(name => options[name] !== undefined)
  if (ofIds !== undefined) throw misuse('session', `options.${ofIds} must be left out beside a sealed cookie, which has no id`)
  return new InCookie(key, store)
}

/** A client decides about the value, so what is not a string is no key: of a query it may be an array. */
function externalReader (externalKey) {
  return ctx => {
    const key = noPromise('session', 'options.externalKey.get', externalKey.get(ctx))
    return typeof key === 'string' ? key : undefined
  }
}

/**
 * Which of the app's keys signed the cookie: 0 is the newest one, -1 none. `ctx.cookies.get` would send a renewed
 * signature at once, without the cookie's expiry, SameSite and other attributes.
 */
function keyIndexOf (key) {
  const readSignature = cookieReader(`${key}.sig`)
  return (ctx, value) => {
    const { cookies } = ctx
    if (typeof cookies.keys?.index === 'function') return cookies.keys.index(`${key}=${value}`, readSignature(ctx) ?? '')
    return cookies.get(key, { signed: true }) === undefined ? -1 : 0
  }
}

function withDefaults (cookie, ofAll) {
  const attributes = {
    maxAge: 0, // until the browser is closed
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    ...ofAll,
    ...defined(cookie),
    overwrite: true // an earlier one of this request
  }
  attributes.signed = attributes.signed === true // off by default, because ids are random secrets
  if (attributes.maxAge === 'session' || !(attributes.maxAge >= 0)) attributes.maxAge = 0
  return attributes
}

/** Without what is undefined: it would replace a default, and that of `secure` is of the package cookies. */
function defined (attributes) {
  return Object.fromEntries(Object.entries(attributes ?? {}).filter(([, value]) => value !== undefined))
}

function checkCookie (key, attributes) {
  try {
    new Cookie(key, 'value', attributes).toHeader()
  } catch (err) {
    throw misuse('session', `options.key or options.cookie: ${err.message}`, { cause: err })
  }
}

/** Browsers drop a cookie in silence if an attribute contradicts its name (RFC 6265bis, 5.7). */
function checkForBrowsers (key, { domain, path, httpOnly, secure }, ofAll, ofCookie) {
  const [prefix] = /^__(?:Host-Http|Host|Secure|Http)-/i.exec(key) ?? ['']
  const isOf = (...names) => names.includes(prefix.toLowerCase())
  const refuse = (name, must, why) => {
    const option = ofCookie?.[name] === undefined && name in ofAll ? name : `cookie.${name}`
    throw misuse('session', `options.${option} must be ${must}: else browsers drop the cookie, because ${why}`)
  }
  const named = `the name ${key} begins with ${prefix}`
  if (isOf('__host-', '__host-http-')) {
    if (domain) refuse('domain', 'left out', named)
    if (path !== '/') refuse('path', "'/'", named)
  }
  if (isOf('__http-', '__host-http-') && !httpOnly) refuse('httpOnly', 'true', named)
  if (prefix !== '' && secure === false) refuse('secure', 'true or left out', named)
}

/**
 * @param {number|'session'} value
 * @return {number|'session'}
 * @throws {TypeError} for another value
 */
function checkMaxAge (value) {
  const refusal = OPTIONS.maxAge.refusal(value, 'maxAge')
  if (refusal !== undefined) throw misuse('session', refusal)
  return value
}

/** The attributes that the function `options.cookie` returns, for one request. */
function attributesOf (returned, ofAll) {
  const refusal = OPTIONS.RETURNED.refusal(returned ?? {}, 'what options.cookie returns')
  if (refusal !== undefined) throw misuse('session', refusal)
  return withDefaults(returned, ofAll)
}

module.exports = { attributesOf, checkMaxAge, settingsOf }
