'use strict'

const { existsSync } = require('node:fs')
const { join } = require('node:path')
const set = require('kone/middleware')
const { names } = require('../../tools/middleware-index')
const Kone = require('../helpers/kone')

const fileOf = name => join(__dirname, '../../middleware', name, 'options.js')
const SCHEMA = { '~standard': { version: 1, vendor: 'test', validate: value => ({ value }) } }
const ENCODING = [{ level: 99, params: { 99: 1 } }]

/** Middleware with options → their tables. */
exports.TABLES = Object.fromEntries(names().filter(name => existsSync(fileOf(name))).map(name => [name, require(fileOf(name))]))

/** Rows of impossible values and the options that refuse them, where only a rule of the middleware itself knows. */
exports.REFUSED = {
  bodyParser: [
    [['json', ['yaml']], 'enableTypes'],
    [['nonsense', 'base64', 'utf-7'], 'encoding'],
    [[['text/x'], { json: 5 }], 'extendTypes'],
    [[{ parse: 'x' }], 'qs']
  ],
  compress: [[ENCODING, 'br', 'gzip', 'deflate'], [[{ windowBits: 99 }], 'deflate'], [[['lzma']], 'encodingPreference']],
  cors: [[['a.com', /a/, [null], ['https://a.com', '*']], 'origin'], [['a day', ['5']], 'maxAge']],
  csrf: [[[[/x/], ['/{a,b'], ['/+(a|b)'], ['/[z-a]']], 'ignoredPathGlobs'], [[8, 15, 18.5, 1025], 'secretLength']],
  health: [[[{ redis: 'ping' }], 'checks']],
  helmet: [
    [[{ directives: { defaultSrc: 'a;b' } }, { directives: { defaultSrc: 5 } }], 'contentSecurityPolicy'],
    [[{ policy: 'maybe' }], 'crossOriginEmbedderPolicy', 'crossOriginOpenerPolicy', 'crossOriginResourcePolicy', 'referrerPolicy'],
    [[{ policy: [] }], 'referrerPolicy'],
    [[{ maxAge: -1 }], 'strictTransportSecurity', 'hsts'],
    [[{ action: 'maybe' }], 'xFrameOptions', 'frameguard'],
    [[{ permittedPolicies: 'maybe' }], 'xPermittedCrossDomainPolicies', 'permittedCrossDomainPolicies']
  ],
  i18n: [[[5, 'en', [], { en: 5 }], 'locales'], [[['moon']], 'modes'], [['fr'], 'defaultLocale'], [['fr', true], 'fallback']],
  logger: [[['loud', 'fatal'], 'level'], [[[{}], [{ token: '' }], [{ token: 5 }]], 'tokens']], // console has no fatal()
  metrics: [[[{ a: 'x' }, { status: () => 'x' }, { 'a-b': () => 'x' }], 'labels'], [[['1'], [-1]], 'buckets']],
  overload: [[[1.1, 98], 'maxEventLoopUtilization'], [[9, 10.5], 'sampleInterval']],
  rateLimit: [
    [[5, {}, null, { get () {}, set () {}, del () {} }], 'db'],
    [[129, 63.5], 'ipv6Subnet'],
    [[200, 600], 'status']
  ],
  requestId: [[['a b', 'a\r\nb', 'a\nb'], 'header', 'query', 'expose']],
  router: [[[[['a']]], 'host'], [[7, '8'], 'syntax']],
  rpc: [
    [['rpc', '/a?b'], 'prefix'],
    [[[{ type: 'x/\0y', decode () {}, encode () {} }], [{ type: 'x/y' }], [{ type: 'x', decode () {}, encode () {} }]], 'codecs']
  ],
  session: [
    [[{}, { get () {}, set () {} }], 'store'],
    [[2.5e14 + 1000, 8.64e15, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE, Infinity], 'cookie.maxAge', 'maxAge'],
    [['tomorrow', new Date(8.64e15)], 'cookie.expires'],
    [[{ get () {} }, { get () {}, set: 'x' }], 'externalKey']
  ],
  template: [[[{ x: 1 }, { x: 'y' }], 'options.filters', 'options.tests']],
  upload: [
    [['/nowhere/at/all', __filename], 'dest'],
    [[[{}], [{ name: '' }], [{ name: 'a', maxCount: -1 }], [{ name: 'a', maxCount: 0 }], [{ name: 'a', maxcount: 1 }]], 'fields'],
    [[{ _handleFile () {} }], 'storage']
  ],
  validate: [
    [[{ '~standard': { version: 2, validate () {} } }], 'params', 'query', 'headers', 'cookies', 'body'],
    [[{ 20: SCHEMA }, { 200: 5 }], 'response']
  ],
  websocket: [[[['example.com'], [5], 'null'], 'origins'], [[['a b'], 'a'], 'protocols'], [[{ WebSocket: class {} }], 'ws']]
}

/** Arguments before the options, for the factory and its `final`. */
const FIRST = {
  favicon: [undefined], logger: [console], rpc: [{}], static: [__dirname], template: [__dirname], websocket: [() => {}]
}
const NEEDED = { i18n: { locales: { en: {} } }, validate: { query: SCHEMA } } // options that cannot be left out

/** The ways to make a middleware, each `options => middleware`. */
exports.makersOf = function (name) {
  const first = ['i18n', 'openapi'].includes(name) ? [new Kone()] : FIRST[name] ?? []
  const complete = given => {
    const options = given ?? {}
    if (!(name in NEEDED) || typeof options !== 'object' || Array.isArray(options)) return given
    for (const one in NEEDED[name]) if (!(one in options)) options[one] = NEEDED[name][one]
    return options
  }
  const makers = [options => set[name](...first, complete(options))]
  if (set[name].final && name !== 'template') makers.push(options => set[name].final(...first, options))
  return makers
}
