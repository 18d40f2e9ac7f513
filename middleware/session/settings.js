'use strict'

const { Cookie } = require('cookies')
const cookieReader = require('../_shared/cookie')
const { misuse } = require('../_shared/misuse')
const { boolean, check, fn, none, number, object, oneOf, refused, shape, string, text } = require('../_shared/options')
const ById = require('./by-id')
const InCookie = require('./in-cookie')
const MemoryStore = require('./memory')

// koa-session has these beside the key, not in `cookie`
const ATTRIBUTES = {
  maxAge: number({ min: 0, of: 'milliseconds' }).or(oneOf('session')),
  path: string,
  domain: string,
  httpOnly: boolean,
  secure: boolean,
  sameSite: oneOf('strict', 'lax', 'none', true, false).or(none),
  signed: boolean,
  priority: oneOf('low', 'medium', 'high'),
  partitioned: boolean
}

const OPTIONS = {
  key: text,
  store: object.or(none),
  cookie: shape({ ...ATTRIBUTES, overwrite: boolean, expires: object }).or(fn).or(none),
  rolling: boolean,
  renew: boolean,
  ...ATTRIBUTES,
  overwrite: oneOf(true),
  autoCommit: oneOf(true),
  encode: refused('take `store: session.sealedCookie({ keys })`, which encrypts'),
  decode: refused('take `store: session.sealedCookie({ keys })`, which encrypts'),
  genid: refused('ids are made here, 24 random bytes'),
  prefix: refused('`key` is the prefix of the store\'s keys'),
  externalKey: refused('the id is the cookie\'s'),
  ContextStore: refused('take `store`, one for all requests'),
  valid: refused('look at ctx.session in the next middleware'),
  beforeSave: refused('change ctx.session in a middleware below')
}

/**
 * Turn the options into settings: the cookie's name, attributes and reader, and the storage.
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

  const settings = check('session', options, OPTIONS)
  const { key = 'koa:sess', store, cookie, rolling = false, renew = false } = settings
  const given = Object.keys(ATTRIBUTES).filter(name => name in settings)
  const ofAll = Object.fromEntries(given.map(name => [name, settings[name]]))
  const own = typeof cookie === 'function' ? {} : cookie
  const attributes = withDefaults(own, ofAll)
  checkCookie(key, { ...attributes, ...own })

  return {
    key,
    ofAll,
    rolling,
    renew,
    readCookie: attributes.signed ? ctx => ctx.cookies.get(key, { signed: true }) : cookieReader(key),
    cookie: typeof cookie === 'function' ? cookie : attributes,
    storage: storageOf(key, store ?? new MemoryStore())
  }
}

function storageOf (key, store) {
  return typeof store.seal === 'function' ? new InCookie(key, store) : new ById(key, store)
}

function withDefaults (cookie, ofAll) {
  const attributes = {
    maxAge: 0, // until the browser is closed
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    ...ofAll,
    ...cookie,
    overwrite: true // an earlier one of this request
  }
  attributes.signed = attributes.signed === true // off by default, because ids are random secrets
  // undefined: the package cookies sets it for a request over TLS
  if (attributes.secure === undefined) delete attributes.secure
  if (attributes.maxAge === 'session' || !(attributes.maxAge >= 0)) attributes.maxAge = 0
  return attributes
}

function checkCookie (key, attributes) {
  try {
    new Cookie(key, 'value', attributes).toHeader()
  } catch (err) {
    throw misuse('session', `options.key or options.cookie: ${err.message}`, { cause: err })
  }
}

module.exports = { settingsOf, withDefaults }
