'use strict'

const set = require('kone/middleware')
const Kone = require('../helpers/kone')

// What options of a kind must refuse: values of another type, and impossible ones of the right type.
const STRINGS = [5, null, {}]
const TEXTS = [...STRINGS, '']
const BOOLEANS = ['yes', 1, null]
const FUNCTIONS = ['f', {}, null]
const SIZES = ['much', -1, NaN, null, '-1kb', '12 apples']
const ENCODING = [5, 'yes', { level: 99, params: { 99: 1 } }]
const SCHEMA = { '~standard': { version: 1, vendor: 'test', validate: value => ({ value }) } }
const SCHEMAS = [5, null, {}, () => true, { '~standard': { version: 2, validate () {} } }]
const UNSUPPORTED = [5, 'x', {}] // of the package that it replaces, or of a newer one

/** For each middleware rows of values and the options that refuse them. */
exports.REFUSED = {
  bodyParser: [
    [SIZES, 'jsonLimit', 'formLimit', 'textLimit', 'xmlLimit', 'decoderMemory'],
    [BOOLEANS, 'strict', 'jsonStrict', 'queryString.allowDots'],
    [FUNCTIONS, 'detectJSON', 'onerror', 'onError'],
    [['json', ['yaml'], [5]], 'enableTypes'],
    [[5, '', 'nonsense', 'base64', 'utf-7'], 'encoding'],
    [[5, ['text/x'], { json: 5 }, 'json'], 'extendTypes'],
    [['POST', [5], null], 'parsedMethods'],
    [[true], 'patchNode', 'enableRawChecking', 'queryString.comma'],
    [[true, 'keep'], 'onProtoPoisoning'],
    [[5, null], 'queryString'],
    [['5', -1, 1001, Infinity], 'queryString.arrayLimit'],
    [['5', -1, NaN], 'queryString.depth', 'queryString.parameterLimit'],
    [[5, {}, { parse: 'x' }], 'qs']
  ],
  compress: [
    [FUNCTIONS, 'filter'],
    [['much', -1, NaN, {}], 'threshold'],
    [ENCODING, 'br', 'gzip', 'deflate'],
    [[{ windowBits: 99 }], 'deflate'],
    [[5, 'yes'], 'zstd'],
    [['br', ['lzma'], [5]], 'encodingPreference'],
    [[...TEXTS, true], 'defaultEncoding', 'wildcardAcceptEncoding']
  ],
  conditionalGet: [],
  cors: [
    [[5, true, {}, [5], [null], 'a.com', /a/, ['https://a.com', '*']], 'origin'],
    [[5, {}, [5]], 'allowMethods', 'exposeHeaders', 'allowHeaders'],
    [[true, -1, NaN, 'a day', ['5']], 'maxAge'],
    [['yes', 1], 'credentials'],
    [BOOLEANS, 'keepHeadersOnError', 'secureContext', 'privateNetworkAccess']
  ],
  csrf: [
    [[...FUNCTIONS, 403], 'errorHandler'],
    [['GET', [5]], 'excludedMethods'],
    [BOOLEANS, 'disableQuery'],
    [['/x', [/x/], ['/{a,b'], ['/+(a|b)'], ['/[z-a]']], 'ignoredPathGlobs'],
    [['18', 'x', 8, 15, 18.5, 1025, 2 ** 31], 'secretLength'],
    [UNSUPPORTED, 'invalidTokenMessage', 'invalidTokenStatusCode']
  ],
  etag: [[BOOLEANS, 'weak']],
  favicon: [[['1d', -1, NaN], 'maxAge'], [TEXTS, 'mime']],
  health: [
    [[5, 'healthz', true, null], 'live', 'ready'],
    [[5, [], { redis: 'ping' }], 'checks'],
    [['1s', 0, 2 ** 31, NaN], 'timeout'],
    [['yes', 1, null, {}], 'details'],
    [FUNCTIONS, 'beforeShutdown', 'afterShutdown']
  ],
  helmet: [
    [[5, 'none', [], { directives: { defaultSrc: 'a;b' } }, { directives: { defaultSrc: 5 } }], 'contentSecurityPolicy'],
    [[5, null], 'contentSecurityPolicy.directives'],
    [BOOLEANS, 'contentSecurityPolicy.reportOnly'],
    [[5, { policy: 'maybe' }], 'crossOriginEmbedderPolicy', 'crossOriginOpenerPolicy', 'crossOriginResourcePolicy'],
    [[5, {}], 'originAgentCluster', 'xContentTypeOptions', 'noSniff', 'xDownloadOptions', 'ieNoOpen', 'xPoweredBy',
      'hidePoweredBy', 'xXssProtection', 'xssFilter'],
    [[5, { policy: [] }, { policy: 'maybe' }], 'referrerPolicy'],
    [[5, { maxAge: -1 }, { maxAge: '1' }, { preload: 1 }], 'strictTransportSecurity', 'hsts'],
    [[5, { allow: 'x' }], 'xDnsPrefetchControl', 'dnsPrefetchControl'],
    [[5, { action: 'maybe' }], 'xFrameOptions', 'frameguard'],
    [[5, { permittedPolicies: 'maybe' }], 'xPermittedCrossDomainPolicies', 'permittedCrossDomainPolicies']
  ],
  i18n: [
    [[5, 'en', [], { en: 5 }], 'locales'],
    [TEXTS, 'directory', 'extension', 'key'],
    [[...FUNCTIONS, 5], 'parse'],
    [['query', ['moon'], [5]], 'modes'],
    [[5, '', 'fr', null], 'defaultLocale'],
    [[5, '', 'fr', true, null], 'fallback'],
    [UNSUPPORTED, 'devMode', 'indent', 'dump', 'register', 'cookieName']
  ],
  isolate: [],
  jsonp: [[[...TEXTS, 1], 'callbackName'], [UNSUPPORTED, 'domain']],
  logger: [
    [[5, {}, null], 'format'],
    [['loud', 5, 'fatal'], 'level'], // console has no fatal()
    [[5, {}, [5], null], 'nolog'],
    [['x', {}, [{}], [{ token: '' }], [{ token: 5 }]], 'tokens']
  ],
  metrics: [
    [[5, 'metrics', true, null], 'path'],
    [STRINGS, 'prefix'],
    [[5, ['1'], [-1], null], 'buckets'],
    [[5, [], null, { a: 'x' }, { status: () => 'x' }, { 'a-b': () => 'x' }], 'labels'],
    [['/x', [5], null], 'exclude'],
    [TEXTS, 'token'],
    [BOOLEANS, 'defaults'],
    [[5, {}, null], 'client', 'register']
  ],
  openapi: [
    [[5, [], null, { title: 5 }], 'info'],
    [[5, {}, ['x'], null], 'servers', 'tags', 'security'],
    [[5, [], null], 'components'],
    [[5, 'docs', null, {}], 'path', 'page'],
    [['redoc', 5, null], 'ui'],
    [BOOLEANS, 'warnings']
  ],
  overload: [
    [['1s', 0, NaN, Infinity, true, null], 'maxEventLoopDelay'],
    [['0.9', 0, 1.1, 98, null], 'maxEventLoopUtilization'],
    [SIZES, 'maxHeapUsedBytes', 'maxRssBytes'],
    [['1s', 9, 2 ** 31, 10.5, null], 'sampleInterval'],
    [['10', -1, 0.5, null], 'retryAfter'],
    [UNSUPPORTED, 'pressureHandler', 'message', 'customError', 'healthCheck', 'healthCheckInterval', 'exposeStatusRoute']
  ],
  rateLimit: [
    [[5, 'mongo', null], 'driver'],
    [[5, {}, null, { get () {}, set () {}, del () {} }], 'db'],
    [['1m', 0, Infinity, NaN], 'duration'],
    [['5', -1, NaN], 'max'],
    [['ip', ...FUNCTIONS], 'id', 'onLimited', 'whitelist', 'blacklist'],
    [['64', 0, 129, 63.5], 'ipv6Subnet'],
    [STRINGS, 'namespace'],
    [[5, 'x', []], 'headers'],
    [TEXTS, 'headers.remaining', 'headers.reset', 'headers.total'],
    [BOOLEANS, 'disableHeader', 'throw', 'failOpen'],
    [[true, 'draft-7', null, 5], 'standardHeaders'],
    [[5, true, null], 'errorMessage'],
    [['429', 200, 600], 'status']
  ],
  requestId: [[[5, true, '', 'a b', 'a\r\nb', 'a\nb', null], 'header', 'query', 'expose']],
  router: [
    [STRINGS, 'prefix', 'routerPath'],
    [[...STRINGS, [], [5], [['a']]], 'host'],
    [['GET', [5], null], 'methods'],
    [BOOLEANS, 'exclusive', 'sensitive', 'strict'],
    [['8', 7, true, null], 'syntax']
  ],
  rpc: [
    [[5, 'rpc', '/a?b', null], 'prefix'],
    [[{}, [5], [{ type: 'x/y' }], [{ type: 'x', decode () {}, encode () {} }]], 'codecs'],
    [SIZES, 'limit', 'decoderMemory']
  ],
  session: [
    [TEXTS, 'key'],
    [[5, 'redis', {}, { get () {}, set () {} }], 'store'],
    [[5, 'a', []], 'cookie'],
    [['1d', -1, NaN, Infinity, Number.MAX_SAFE_INTEGER, 8.64e15], 'cookie.maxAge', 'maxAge'],
    [['tomorrow', 5, {}, null, new Date(NaN), new Date(8.64e15)], 'cookie.expires'],
    [[null], 'maxAge'],
    [[5], 'cookie.path', 'cookie.domain'],
    [STRINGS, 'path', 'domain'],
    [BOOLEANS, 'cookie.httpOnly', 'cookie.secure', 'cookie.signed', 'rolling', 'renew', 'httpOnly', 'secure', 'signed',
      'partitioned', 'lazy'],
    [[5, 'maybe'], 'cookie.sameSite', 'sameSite'],
    [[5, 'maybe', null], 'priority'],
    [[false, 'yes'], 'overwrite', 'autoCommit'],
    [FUNCTIONS, 'genid', 'valid', 'beforeSave'],
    [[5, 'x', null, {}, { get () {} }, { get () {}, set: 'x' }], 'externalKey'],
    [UNSUPPORTED, 'encode', 'decode', 'prefix', 'ContextStore']
  ],
  sse: [[['1s', -1, 0.5, NaN, Infinity, 2 ** 31, null], 'heartbeat'], [['1kb', 0, -1, 0.5, NaN, null], 'limit']],
  static: [
    [['1d', -1, NaN], 'maxAge', 'maxage', 'cacheSize', 'cacheFileSize'],
    [BOOLEANS, 'immutable', 'format', 'redirect', 'hidden', 'br', 'brotli', 'gzip', 'gz', 'zstd', 'zst', 'etag', 'defer', 'dev'],
    [[5, true, null], 'index'],
    [['html', [5], true], 'extensions'],
    [FUNCTIONS, 'setHeaders']
  ],
  template: [
    [BOOLEANS, 'autoRender', 'options.autoescape', 'options.watch'],
    [TEXTS, 'extension'],
    [[5, ['x'], { html: 5 }], 'map'],
    [[5, 'x', []], 'options'],
    [[5, { x: 1 }, { x: 'y' }], 'options.filters', 'options.tests'],
    [[5], 'options.globals', 'options.extensions'],
    [[{}, { foo () {} }], 'engineSource']
  ],
  upload: [
    [[5, '', '/nowhere/at/all', __filename], 'dest'],
    [[5, []], 'limits'],
    [SIZES, 'limits.fileSize', 'limits.fieldSize'],
    [['3', -1, 0.5], 'limits.files', 'limits.fields'],
    [[5, {}, ['avatar'], [{}], [{ name: '' }], [{ name: 'a', maxCount: -1 }], [{ name: 'a', maxCount: 0 }],
      [{ name: 'a', maxcount: 1 }]], 'fields'],
    [[5, true], 'filter'],
    [[5, {}, { _handleFile () {} }], 'storage'],
    [[() => true, true], 'fileFilter', 'preservePath']
  ],
  validate: [[SCHEMAS, 'params', 'query', 'headers', 'cookies', 'body'], [[5, null, {}, { 20: SCHEMA }, { 200: 5 }], 'response'],
    [BOOLEANS, 'serialize'], [FUNCTIONS, 'onError']]
}

/** Options whose own options have any name. */
exports.OPEN = { health: 'checks', metrics: 'labels', template: 'options' }

/** Arguments before the options, for the factory and its `final`. */
const FIRST = { favicon: [undefined], logger: [console], rpc: [{}], static: [__dirname], template: [__dirname] }
const NEEDED = { i18n: { locales: { en: {} } }, validate: { query: SCHEMA } } // options that cannot be left out

/** The ways to make a middleware, each `options => middleware`. */
exports.makersOf = function (name) {
  const first = ['i18n', 'openapi'].includes(name) ? [new Kone()] : FIRST[name] ?? []
  const complete = options => name in NEEDED && (options ?? {}).constructor === Object ? { ...NEEDED[name], ...options } : options
  const makers = [options => set[name](...first, complete(options))]
  if (set[name].final && exports.OPEN[name] === undefined) makers.push(options => set[name].final(...first, options))
  return makers
}
