'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { describe, it } = require('node:test')
const Kone = require('kone')
const set = require('kone/middleware')

/*
 * What a user of the set can read in an error: what was given, what is expected and which page says more. Of options
 * by themselves it is in options.test.js.
 */

const ROOT = path.join(__dirname, '../..')

const KEY = 'x'.repeat(32)
const SEALED = set.session.sealedCookie({ keys: [KEY] })

// [what is wrong, the name that the message has, what was given in the words of the message]
const MISTAKES = [
  [() => set.timeout('1s'), 'ms', "'1s'"],
  ...[undefined, 0, 0.5, -1, NaN, Infinity, 2 ** 31].map(ms => [() => set.timeout(ms), 'ms', String(ms)]),
  [() => set.timeout({}), 'ms', 'an object'],
  [() => set.rpc(), 'methods must be an object'],
  [() => set.rpc(null), 'methods must be an object'],
  [() => set.rpc(5), 'methods', '5'],
  [() => set.rpc({ add: 1 }), 'methods.add', '1'],
  [() => set.static(undefined), 'root', 'undefined'],
  [() => set.template(null), 'root', 'null'],
  ...['ejs', 'underscore', 'handlebars'].map(name => [() => set.template(__dirname, { map: { [name]: name } }), name]),
  [() => set.template(__dirname, { map: { html: 'nunjucks', ejs: 'ejs' } }), 'ejs'],
  [() => set.template(__dirname, { extension: 'pug' }), 'pug'],
  [() => set.favicon(7), 'path', '7'],
  [() => set.openapi(), 'the first argument', 'undefined'],
  [() => set.i18n(), 'the first argument', 'undefined'],
  [() => set.i18n({}, { locales: ['en'] }), 'the first argument', 'an object'],
  ...[undefined, { directory: __dirname }].map(options => [() => set.i18n(new Kone(), options), 'options.locales', 'undefined']),
  [() => set.i18n(new Kone(), { locales: { en: {} }, defaultLocale: 'fr' }), 'options.defaultLocale'],
  [() => set.bodyParser({ onError () {}, onerror () {} }), 'options.onError'],
  ...[undefined, null, ''].map(origin => [() => set.cors({ credentials: true, origin }), 'options.credentials needs options.origin']),
  [() => set.cors({ credentials: async () => false }), 'options.credentials needs options.origin'],
  [() => set.validate(), 'at least one of params, query, headers, cookies, body'],
  [() => set.validate(require('zod').object({})), 'validate({ body: schema })'],
  [() => set.validate({ onError () {} }), 'at least one of'],
  [() => set.upload({ dest: os.tmpdir(), storage: set.upload.memoryStorage() }), 'options.dest has no effect'],
  [() => set.upload({ fileFilter: () => true }), 'pass `filter: (ctx, file)'],
  [() => set.upload.diskStorage(), 'there is no upload.diskStorage()'],
  ...['single', 'array', 'fields', 'any', 'none'].map(name => [
    () => set.upload()[name]('avatar'), `there is no upload().${name}(): one app.use(upload()) takes every file of a form`
  ]),
  [() => set.rateLimit({ driver: 'redis' }), 'options.db'],
  [() => set.rateLimit({ standardHeaders: 'draft-11', namespace: 'größe' }), 'options.namespace'],
  [() => set.rateLimit({ driver: 'memory', db: {} }), 'options.db', 'an object'],
  [() => set.rateLimit({ ipv6Subnet: 64, id: () => 1 }), 'options.ipv6Subnet'],
  ...[undefined, {}, { key: 'sid' }].map(options => [() => set.session(options, new Kone()), 'one argument, its options: leave the app out']),
  [() => set.session(new (require('koa'))()), 'the app is not an argument: call session() or session(options)'],
  [() => set.session({ key: 'a;b' }), 'options.key'],
  [() => set.session({ cookie: { path: 'a;b' } }), 'option path is invalid'],
  [() => set.session({ cookie: { domain: 'a b' } }), 'option domain is invalid'],
  ...[undefined, null, 5].map(client => [() => set.session.redis(client), 'the client', String(client)]),
  ...[{}, { get () {}, set () {} }].map(client => [() => set.session.redis(client), 'methods get, set and del', 'an object']),
  [() => set.session.redis('redis://localhost'), 'the client must be one of ioredis or redis'],
  [() => set.session({ encode: JSON.stringify }), 'options.encode is not supported: take `store: session.sealedCookie'],
  [() => set.session({ decode: JSON.parse }), 'options.decode is not supported: take `store: session.sealedCookie'],
  [() => set.session({ genid: () => 'x', store: SEALED }), 'options.genid must be left out beside a sealed cookie'],
  [() => set.session({ secret: 'x' }), 'options.secret is not supported: ids are random'],
  [() => set.session({ keys: ['x'] }), 'options.keys is not supported: ids are random'],
  [() => set.session({ prefix: 'x' }), 'options.prefix is not supported: `key`'],
  [() => set.session({ externalKey: {} }), 'options.externalKey must be an object with the functions get and set'],
  [() => set.session({ externalKey: { get () {}, set () {} }, store: SEALED }), 'options.externalKey must be left out beside a sealed'],
  [() => set.session({ ContextStore: class {} }), '`store`'],
  [() => set.session({ lazy: true, rolling: true }), 'options.lazy must be left out beside rolling or renew'],
  ...['autoCommit', 'overwrite'].map(name => [() => set.session({ [name]: false }), `options.${name} must be true`, 'false']),
  [() => set.session.final({ stroe: {} }), 'did you mean `store`'],
  ...[undefined, {}, { keys: [] }, { keys: KEY }].map(options => [() => set.session.sealedCookie(options), 'options.keys must be an array']),
  ...[undefined, '', KEY.slice(1), Buffer.alloc(16), 42].map(key => [
    () => set.session.sealedCookie({ keys: [KEY, key] }), 'each of options.keys must be a string or a Buffer of 32 bytes or more'
  ]),
  [() => set.helmet.hsts({ maxAge: 'a year' }), 'options.maxAge'],
  [() => new set.router().get('/*splat', () => {}), '/*splat'] // eslint-disable-line new-cap
]

/** Cookies that browsers drop: the key, the attributes, which of them the message names and why. */
const DROPPED = [
  ...['__Host-s', '__host-s', '__Host-Http-s'].flatMap(key => [
    [key, { domain: 'example.com' }, 'domain must be left out', `the name ${key} begins with`],
    [key, { path: '/app' }, "path must be '/'"],
    [key, { path: '' }, "path must be '/'"]
  ]),
  ...['__Host-s', '__Secure-s', '__SECURE-s', '__Http-s', '__Host-Http-s'].map(key => [key, { secure: false }, 'secure must be true or left out', key]),
  ...['__Http-s', '__Host-Http-s'].map(key => [key, { httpOnly: false }, 'httpOnly must be true', key])
]
for (const [key, attributes, option, why = ''] of DROPPED) {
  MISTAKES.push([() => set.session({ key, cookie: attributes }), `options.cookie.${option}`])
  MISTAKES.push([() => set.session({ key, ...attributes }), `options.${option}`])
  MISTAKES.push([() => set.session({ key, ...attributes, cookie: { maxAge: 1000 } }), why])
}

const FILES = [
  ...['/nowhere/at/all', __filename].flatMap(path => [
    [() => set.static(path), `${path} is not a directory`],
    [() => set.static.final(path), `${path} is not a directory`],
    [() => set.template(path), `${path} is not a directory`]
  ]),
  ...['/nowhere.ico', __dirname].map(path => [() => set.favicon(path), path]),
  [() => set.i18n(new Kone(), { locales: ['xx'], directory: __dirname }), 'xx']
]

describe('an error of the set', () => {
  const rows = [...MISTAKES.map(row => ['TypeError', ...row]), ...FILES.map(row => ['Error', ...row])]
  for (const [type, mistake, name, given] of rows) {
    it(`should say what is wrong: ${String(mistake).slice(6)}, ${name}`, () => {
      assert.throws(mistake, err => {
        const { message } = err
        assert.equal(err.name, type)
        assert(message.includes(name), `no ${name} in: ${message}`)
        if (given !== undefined) assert(message.includes(`not ${given} (`), `no "not ${given}" in: ${message}`)
        const [, page] = /\(kone\/(middleware\/\w+\/README\.md)\)$/.exec(message) ?? []
        assert(page, `no page in: ${message}`)
        assert(fs.existsSync(path.join(ROOT, page)), page)
        return true
      })
    })
  }

  it('should be none of a cookie that browsers keep, or of which a request decides', () => {
    for (const [key, attributes] of DROPPED) {
      set.session({ key, cookie: () => attributes })
      set.session({ key, ...attributes, cookie: { domain: '', path: '/', httpOnly: true, secure: true } })
      set.session({ key, ...attributes, externalKey: { get () {}, set () {} } })
      set.session({ key, cookie: { ...attributes, domain: undefined, path: undefined, httpOnly: undefined, secure: undefined } })
    }
    for (const attributes of [{ sameSite: 'none' }, { partitioned: true }]) set.session({ cookie: { ...attributes, secure: false } })
    set.session({ key: '__Hosts', cookie: { domain: 'example.com', path: '/app', secure: false, httpOnly: false } })
  })

  it('should not show what may be a password or a key', () => {
    for (const secret of ['redis://:pw@host', 'a key of more than twenty characters']) {
      assert.throws(() => set.rateLimit({ db: secret, driver: secret }), ({ message }) => !message.includes(secret))
    }
  })
})
