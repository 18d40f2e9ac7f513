'use strict'

const { AsyncLocalStorage } = require('async_hooks')
const { MISSPELT, Options, Rule, any, boolean, fn, list, number, oneOf, path, shape, string } = require('../shared/options')
const { checkProxy } = require('./trusted-proxies')

const PAGE = 'docs/api/application'

const notNegative = new Rule('a number that is not negative', value => typeof value === 'number' && value >= 0, undefined, 'number')
const ms = number({ min: 0, max: Infinity, unit: 'ms' })
const fields = new Rule('an object', value => typeof value === 'object', undefined,
  'IncomingHttpHeaders | { [name: string]: string | number | string[] | undefined }')

const kone = shape({
  env: string.says('read by middleware that behaves differently in development', { otherwise: "`NODE_ENV` or `'development'`" }),
  keys: new Rule('a list of strings, one at least, or a Keygrip', value => {
    if (typeof value === 'string') return true // no key in a log
    return Array.isArray(value) ? value.length > 0 && value.every(isKey) : typeof value.sign === 'function'
  }, (value, path) => typeof value === 'string' ? `${path} must be a list of strings, one at least, or a Keygrip, not a string` : undefined)
    .says('signs cookies: a list of strings, or a Keygrip', { type: 'Keygrip | string[]' }),
  proxy: any.says('whose forwarded headers are trusted, see [app.proxy](#appproxy)', { default: false, type: 'Proxy' }),
  proxyIpHeader: string.says('the header with the addresses that proxies saw', { default: 'X-Forwarded-For' }),
  maxIpsCount: notNegative.says('addresses read from that header, counted from the right; 0: all', { default: 0 }),
  subdomainOffset: notNegative.says('how many labels at the end of the host are not subdomains', { default: 2 }),
  asyncLocalStorage: new Rule('true, false or an AsyncLocalStorage', value => typeof value === 'boolean' || isStorage(value)).says(
    '`true`, or an `AsyncLocalStorage`: keeps [app.currentContext](#appcurrentcontext)',
    { default: false, type: 'boolean | AsyncLocalStorage<any>' }),
  compose: fn.says('a function that replaces [compose](compose-and-final.md#composemiddleware)',
    { otherwise: "kone's own", type: 'Compose' }),
  Promise: new Rule('a class of promises', value => typeof value === 'function' && typeof value.resolve === 'function' &&
    typeof value.prototype?.then === 'function').says(
    'the class of the promises that the app returns, see [bluebird](#bluebird)', { otherwise: 'native', type: 'PromiseClass' }),
  http1: boolean.says('`false` leaves every request to node:http, see [the front](front.md)', { default: true })
}, { open: MISSPELT })

const KONE = exports.KONE = new Options('', kone, PAGE)

/** Every option of `new Kone()`. */
exports.names = kone.names

/**
 * The settings of an app. As in Koa, unknown names are ignored unless they are a misspelt known one, and what is
 * falsy, but for false, counts as left out.
 *
 *    settingsOf({ subdomainOffset: 0 })   // { subdomainOffset: 2, proxy: false, … }
 *
 * @param {object} options of `new Kone(options)`
 * @return {object}
 * @throws {TypeError} naming the option that has a wrong value or a misspelt name
 */
exports.settingsOf = function (options) {
  const given = [...Object.keys(options), ...kone.names].map(name => [name, options[name] ?? undefined])
  const settings = KONE.check(Object.fromEntries(given))
  checkProxy(settings.proxy)
  return Object.fromEntries(kone.names.map(name => {
    const value = settings[name]
    return [name, value === false ? value : value || kone.members[name].default]
  }))
}

/** Of `app.close()`. */
exports.CLOSE = new Options('app.close()', {
  timeout: ms.says('after this time, connections that are still open are destroyed, and functions of `onClose` that are not ' +
    'over are reported and left', { default: 10_000 }),
  grace: ms.says('how long a silent keep-alive connection stays open: a client that is about to send a request gets its ' +
    'response, with `Connection: close`, instead of a reset', { default: 600 })
}, PAGE)

/** Of `app.onClose()`. */
exports.ON_CLOSE = new Options('app.onClose()', {
  before: boolean.says('`true`: called first, while the servers still accept requests; the drain waits for it', { default: false })
}, PAGE)

/** Of `app.inject()`. */
exports.INJECT = new Options('app.inject()', {
  method: string.says('its method', { default: 'GET' }),
  url: path.says('its target; a string instead of the object is the url', { default: '/' }),
  headers: fields.says('its fields', { otherwise: '`Host: localhost`' }),
  body: new Rule('a string, bytes, or an object that is sent as JSON', isBody).says(
    'a string, bytes, or an object that is sent as JSON', { type: 'string | Uint8Array | object' }),
  engine: oneOf('http1', 'node', 'fetch').says("`'http1'`: as on a server of `app.listen()`, [the front](front.md), and node:http " +
    "where kone falls back to it. `'node'`: node:http alone. `'fetch'`: [app.fetch](fetch.md), which has no connection", { default: 'http1' })
}, PAGE)

/** Of `app.inject.websocket()`. */
exports.INJECT_WEBSOCKET = new Options('app.inject.websocket()', {
  headers: fields.says('its fields beside those of a handshake', { otherwise: '`Host: localhost`' }),
  protocols: list(string, 'strings').says('the subprotocols that the client offers', { otherwise: 'none' }),
  engine: oneOf('http1', 'node').says('as for `app.inject()`', { default: 'http1' })
}, PAGE)

/** Of `request.readBody()`. */
exports.READ = new Options('request.readBody()', {
  limit: number({ min: 0, max: Infinity, unit: 'bytes' }).says('the longest body; a longer one is a 413', { default: 1024 * 1024 })
}, 'docs/api/request')

exports.isStorage = isStorage

/** What node:crypto takes as one. */
function isKey (value) {
  return typeof value === 'string' || ArrayBuffer.isView(value)
}

/**
 * @return {boolean} whether it has the methods of an AsyncLocalStorage
 */
function isStorage (value) {
  return value instanceof AsyncLocalStorage ||
    (typeof value?.run === 'function' && typeof value.getStore === 'function')
}

// Of a class with a tag (Blob, Map, FormData …) and of a stream JSON has nothing.
function isBody (value) {
  if (typeof value === 'string' || value === null || ArrayBuffer.isView(value)) return true
  if (typeof value !== 'object' || typeof value.pipe === 'function') return false
  return Array.isArray(value) || typeof value.toJSON === 'function' || Object.prototype.toString.call(value) === '[object Object]'
}
