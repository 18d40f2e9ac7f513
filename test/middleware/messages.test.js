'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { describe, it } = require('node:test')
const Kone = require('kone')
const set = require('kone/middleware')
const { filesOf, messagesOf } = require('../helpers/messages')

/*
 * What a user of the set can read in an error: what was given, what is expected and which page says more.
 * The pages come from `misuse()` and `manual()` of middleware/_shared/usage-error.js, which every error of the set
 * has to use, unless its message is listed here with the reason.
 */

const folder = path.join(__dirname, '../../middleware')
const EXCEPTIONS = {
  'the codec for ': 'names the codec, which is the app\'s own',
  'the file was cut while it was sent': 'about the disk, not about a setting',
  'You have to provide a path when adding ': "koa-router's, word for word",
  'No route found for name: ': "koa-router's, word for word",
  'next() called multiple times': "koa-compose's, word for word",
  '\\`middleware\\` must be a function, not ': "koa-router's, word for word",
  'invalid JSON, only objects and arrays are read': 'a 400, for the client',
  'the sealed session makes a cookie of ': 'has a code: KONE_ERR_SESSION_SIZE',
  'the session store failed: ': 'has a code: KONE_ERR_SESSION_STORE',
  'a session in the store is not JSON': 'has a code: KONE_ERR_SESSION_RECORD',
  'the store does not respond': 'becomes the cause of the error of a store',
  "the rate limit's store failed: ": 'has a code',
  'health: ': 'names the check, which is the app\'s own',
  'it returned neither a value nor issues': 'becomes the cause of an error with the page',
  'non-error thrown: ': "Koa's, word for word",
  'no response within ': 'becomes the cause of the error of a store',
  ' cannot be described: ': 'becomes a part of a message with the page',
  ' is not one of options.components.securitySchemes': 'becomes a part of a message with the page',
  'has no converter to JSON Schema': 'becomes a part of a message with the page',
  "valibot's converter is missing": 'becomes a part of a message with the page',
  ' points to nothing': 'becomes a part of a message with the page',
  '$ref is circular and has no schema': 'becomes a part of a message with the page',
  ' is not a JSON Schema': 'becomes a part of a message with the page',
  ' is circular: use $ref': 'becomes a part of a message with the page',
  ' that is not one of JSON Schema: ': 'becomes a part of a message with the page',
  'a { is not closed in the glob ': 'becomes a part of a message with the page',
  'extended glob: ': 'becomes a part of a message with the page',
  "a range out of order in the glob's [": 'becomes a part of a message with the page'
}

// [what is wrong, the name that the message has, what was given in the words of the message]
const MISTAKES = [
  [() => set.timeout('1s'), 'ms', "'1s'"],
  [() => set.timeout(0), 'ms', '0'],
  [() => set.rpc(), 'methods must be an object'],
  [() => set.rpc(null), 'methods must be an object'],
  [() => set.rpc(5), 'methods', '5'],
  [() => set.rpc({ add: 1 }), 'methods.add', '1'],
  [() => set.static(undefined), 'root', 'undefined'],
  [() => set.static('/nowhere/at/all'), '/nowhere/at/all'],
  [() => set.template(null), 'root', 'null'],
  [() => set.template('/nowhere/at/all'), '/nowhere/at/all'],
  ...['ejs', 'underscore', 'handlebars'].map(name => [() => set.template(__dirname, { map: { [name]: name } }), name]),
  [() => set.template(__dirname, { map: { html: 'nunjucks', ejs: 'ejs' } }), 'ejs'],
  [() => set.template(__dirname, { extension: 'pug' }), 'pug'],
  [() => set.favicon(7), 'path', '7'],
  [() => set.favicon('/nowhere.ico'), '/nowhere.ico'],
  [() => set.openapi(), 'the first argument', 'undefined'],
  [() => set.i18n({}, { locales: ['en'] }), 'the first argument', 'an object'],
  [() => set.i18n(new Kone(), { locales: 'en' }), 'options.locales', "'en'"],
  [() => set.i18n(new Kone(), { locales: ['xx'], directory: __dirname }), 'xx'],
  [() => set.i18n(new Kone(), { locales: { en: {} }, defaultLocale: 'fr' }), 'options.defaultLocale'],
  [() => set.bodyParser({ onError () {}, onerror () {} }), 'options.onError'],
  [() => set.bodyParser({ jsonLimit: 'much' }), 'options.jsonLimit', "'much'"],
  [() => set.bodyParser({ patchNode: true }), 'options.patchNode is not supported: read ctx.request.body'],
  [() => set.bodyParser({ enableRawChecking: true }), 'options.enableRawChecking is not supported'],
  [() => set.cors({ credentials: true }), 'options.credentials'],
  [() => set.csrf({ ignoredPathGlobs: ['/[z-a]'] }), '[z-a]'],
  [() => set.csrf({ ignoredPathGlobs: ['{a'] }), 'options.ignoredPathGlobs'],
  [() => set.health({ checks: { a: 1 } }), 'options.checks.a must be a function'],
  [() => set.validate(), 'at least one of params, query, headers, cookies, body'],
  [() => set.validate({ onError () {} }), 'at least one of'],
  [() => set.validate({ query: 5 }), 'options.query', '5'],
  [() => set.upload({ dest: '/nowhere' }), '/nowhere'],
  [() => set.upload({ dest: os.tmpdir(), storage: set.upload.memoryStorage() }), 'options.dest has no effect'],
  [() => set.upload({ fileFilter: () => true }), 'pass `filter: (ctx, file)'],
  [() => set.upload({ fields: [{ name: 'a', maxCount: 0 }] }), 'options.fields must be an array of { name, maxCount }'],
  [() => set.upload.diskStorage(), 'there is no upload.diskStorage()'],
  [() => set.rateLimit({ max: '10' }), 'options.max', "'10'"],
  [() => set.rateLimit({ driver: 'redis', db: {} }), 'options.db'],
  [() => set.rateLimit({ driver: 'redis' }), 'options.db'],
  [() => set.rateLimit({ standardHeaders: 'draft-11', namespace: 'größe' }), 'options.namespace'],
  [() => set.rateLimit({ driver: 'memory', db: {} }), 'options.db', 'an object'],
  [() => set.rateLimit({ ipv6Subnet: 64, id: () => 1 }), 'options.ipv6Subnet'],
  [() => set.session({ stroe: {} }), 'options.stroe'],
  [() => set.session({ store: {} }), 'options.store must have the methods get, set and destroy: get is missing'],
  [() => set.session({ store: { get () {}, set () {} } }), 'destroy is missing'],
  [() => set.session({}, new Kone()), 'one argument'],
  [() => set.session(new Kone()), 'the app'],
  [() => set.session({ key: 'a;b' }), 'options.key'],
  [() => set.session({ cookie: { path: 'a;b' } }), 'option path is invalid'],
  [() => set.session({ cookie: { domain: 'a b' } }), 'option domain is invalid'],
  [() => set.session.redis(5), 'the client', '5'],
  [() => set.session.sealedCookie({ keys: [] }), 'options.keys'],
  [() => set.session.sealedCookie({ keys: ['short'] }), 'options.keys'],
  [() => set.logger(console, { level: 'fatal' }), 'options.level is \'fatal\''],
  [() => set.helmet.hsts({ maxAge: 'a year' }), 'options.maxAge'],
  [() => set.compress({ threshold: -1 }), 'options.threshold', '-1'],
  [() => new set.router().get('/*splat', () => {}), '/*splat'], // eslint-disable-line new-cap
  [() => new set.router({ prefix: 1 }), 'options.prefix', '1'] // eslint-disable-line new-cap
]

describe('an error of the set', () => {
  for (const [mistake, name, given] of MISTAKES) {
    it(`should say what is wrong: ${String(mistake).slice(6)}`, () => {
      assert.throws(mistake, ({ message }) => {
        assert(message.includes(name), `no ${name} in: ${message}`)
        if (given !== undefined) assert(message.includes(`not ${given} (`), `no "not ${given}" in: ${message}`)
        const [, page] = /\(kone\/(middleware\/\w+\/README\.md)\)$/.exec(message) ?? []
        assert(page, `no page in: ${message}`)
        assert(fs.existsSync(path.join(folder, '..', page)), page)
        return true
      })
    })
  }

  it('should not show what may be a password or a key', () => {
    for (const secret of ['redis://:pw@host', 'a key of more than twenty characters']) {
      assert.throws(() => set.rateLimit({ db: secret, driver: secret }), ({ message }) => !message.includes(secret))
    }
  })

  it('should have its page, or be listed here', () => {
    const unused = new Set(Object.keys(EXCEPTIONS))
    const without = []
    for (const file of filesOf('middleware').filter(file => file !== path.join('middleware', '_shared', 'misuse.js'))) {
      for (const { text, line } of messagesOf(fs.readFileSync(path.join(folder, '..', file), 'utf8'))) {
        const [exception] = Object.keys(EXCEPTIONS).filter(start => text.includes(start))
        if (exception) unused.delete(exception)
        else if (!text.includes('manual(')) without.push(`${file}:${line} ${text}`)
      }
    }
    assert.deepEqual(without, [])
    assert.deepEqual([...unused], [], 'no longer in the set')
  })
})
