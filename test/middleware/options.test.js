'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const set = require('kone/middleware')
const { MISSPELT, Options, any, boolean, each, fn, list, none, number, off, oneOf, record, refused, shape, text } = require('../../lib/shared/options')
const docs = require('../../tools/option-docs')
const Kone = require('../helpers/kone')
const { makersOf, REFUSED, TABLES } = require('./options')

/** What a rule may have to refuse: it says itself which of them. */
const SAMPLES = [
  5, -1, 0, 0.5, NaN, Infinity, 2 ** 53, '', 'maybe', 'a;b', true, false, null, {}, [], [5], ['maybe'], [{}], /a/, () => true, new Date(NaN)
]

const misspelt = name => name.length < 4 ? `${name}x` : `${name.slice(0, -1)}q`
/** As the object of a class that has getters. */
const ofClass = options => Object.create(Object.create(null, Object.fromEntries(
  Object.entries(options).map(([name, value]) => [name, { get: () => value }]))))
const under = (path, value) => path.split('.').reduceRight((inner, name) => ({ [name]: inner }), value)

/** Every option of a table: its path, its rule, and whether names beside it are free. */
function optionsOf ({ members = {}, open }, parent = '') {
  return Object.entries(members).flatMap(([name, rule]) => [
    ...[name].concat(rule.alias ?? []).map(name => ({ path: parent + name, rule, isOpen: open === true })),
    ...optionsOf(rule, `${parent}${name}.`)
  ])
}

for (const [name, table] of Object.entries(TABLES)) {
  describe(`the options of ${name}`, () => {
    const options = optionsOf(table.rule)
    const makers = name === 'session' ? makersOf(name).slice(0, 1) : makersOf(name) // session.final() has no options
    const refuses = (given, message) => {
      for (const maker of makers) assert.throws(() => maker(given), { name: 'TypeError', message }, JSON.stringify(given))
    }
    const refusesValue = (path, value) => {
      const message = new RegExp(`^${name}: options\\.${path}\\b.* \\(kone/middleware/${name}/README\\.md\\)$`, 's')
      for (const given of [under(path, value), ofClass(under(path, value))]) refuses(given, message)
    }

    it('should make a function that has its name', { skip: name === 'router' && 'makes a router' }, () => {
      for (const maker of makersOf(name)) assert.equal(maker().name, name === 'static' ? 'serve' : name)
    })

    it('should be an object, or left out', () => {
      for (const maker of makers) {
        maker()
        maker({})
        maker(null)
      }
      for (const wrong of [5, true, ['a']]) refuses(wrong, /options must be an object/)
    })

    it('should each refuse, by name, what its rule refuses', () => {
      for (const { path, rule } of options) {
        const values = SAMPLES.filter(value => rule.refusal(value, path) !== undefined)
        assert(values.length > 0 || rule.must === 'anything', `the rule of ${path} refuses nothing`)
        for (const value of values) refusesValue(path, value)
      }
      for (const [values, ...paths] of REFUSED[name] ?? []) {
        for (const path of paths) for (const value of values) refusesValue(path, value)
      }
    })

    it('should each be suggested for a misspelt name', () => {
      for (const { path, isOpen } of options) {
        if (isOpen) continue
        const wrong = misspelt(path)
        refuses(under(wrong, true), new RegExp(`^${name}: options\\.${wrong} is unknown: did you mean \`\\w+\`\\? \\(kone/middleware/${name}/README\\.md\\)$`))
      }
    })

    it('should refuse a name that is nothing like one', () => {
      refuses({ qqqqqqqqqqqq: 1 }, /^\w+: options\.qqqqqqqqqqqq is unknown(, only \w|: there are no options)/)
    })

    it('should be in the manual, but for those that are not supported', () => {
      const page = fs.readFileSync(path.join(__dirname, '../../middleware', name, 'README.md'), 'utf8')
      for (const { path, rule } of options) {
        assert(rule.type === 'never' || path.includes('.') || page.includes(`\`${path}\``), `${path} is not in the manual of ${name}`)
      }
    })
  })
}

describe('an option that becomes a field of a response', () => {
  const ways = [value => value, value => [value], value => `x/${value}`, value => ({ defaultSrc: [value] })]
  const REQUESTS = [
    { url: '/', headers: { origin: 'https://a.example', 'accept-encoding': 'gzip' } },
    { url: '/', method: 'OPTIONS', headers: { origin: 'https://a.example', 'access-control-request-method': 'PUT' } },
    { url: '/favicon.ico' }
  ]
  /** Whether the text is in a field of a response of an app with this middleware. */
  async function sends (middleware, text) {
    const app = new Kone()
    app.silent = true
    app.use(middleware).use(ctx => {
      if ('session' in ctx) ctx.session.a = 1
      ctx.body = 'x'
    })
    for (const request of REQUESTS) {
      const { headers } = await app.inject(request)
      if (JSON.stringify(headers).toLowerCase().includes(text)) return true
    }
    return false
  }

  const FOUND = {
    cors: ['allowHeaders', 'allowMethods', 'exposeHeaders'],
    favicon: ['mime'],
    helmet: ['contentSecurityPolicy.directives'],
    rateLimit: ['headers.remaining', 'headers.reset', 'headers.total'],
    requestId: ['expose'],
    session: ['cookie.domain', 'cookie.path', 'domain', 'key', 'path']
  }

  for (const [name, table] of Object.entries(TABLES)) {
    if (name === 'router') continue // makes no middleware
    it(`should refuse what no field has: ${name}`, async () => {
      const [make] = name === 'favicon' ? [options => set.favicon(__filename, options)] : makersOf(name)
      const found = []
      for (const { path } of optionsOf(table.rule)) {
        for (const way of ways) {
          let middleware
          try {
            middleware = make(under(path, way('zqx')))
          } catch {
            continue
          }
          if (!await sends(middleware, 'zqx')) continue
          found.push(path)
          for (const wrong of ['z\nqx', 'z\0qx', 'z€qx']) assert.throws(() => make(under(path, way(wrong))), TypeError, path)
        }
      }
      assert.deepEqual([...new Set(found)].sort(), FOUND[name] ?? [])
    })
  }
})

describe('the options of the set', () => {
  it('should all be tested here', () => {
    assert.deepEqual(Object.keys(set).filter(name => !(name in TABLES)), ['conditionalGet', 'isolate', 'timeout', 'views'])
    assert.equal(set.views, set.template)
    assert.deepEqual([set.timeout(1).name, set.helmet.hsts().name, set.static(__dirname, { defer: true }).name],
      ['timeout', 'hsts', 'serve'])
    for (const name of ['conditionalGet', 'isolate']) {
      assert.throws(() => set[name]({ a: 1 }), { message: `${name}: options.a is unknown: there are no options (kone/middleware/${name}/README.md)` })
      assert.throws(() => set[name](5), /options must be an object/)
      assert.equal(set[name](null).name, name)
    }
  })

  it('should be suggested by the name that was meant', () => {
    assert.throws(() => set.compress({ treshold: 1 }), /did you mean `threshold`\?/)
    assert.throws(() => set.upload({ limits: { filesize: 1 } }), /options\.limits\.filesize is unknown: did you mean `fileSize`\?/)
    assert.throws(() => set.helmet({ hsts: { includeSubdomains: true } }), /did you mean `includeSubDomains`\?/)
    assert.throws(() => set.helmet.frameguard({ acton: 'deny' }), /^TypeError: helmet\.frameguard: .* `action`\?/)
  })

  it('should be checked by every final, too', () => {
    const first = { logger: [console], static: [__dirname] } // arguments before the options
    const finals = Object.keys(set).filter(name => set[name].final !== undefined)
    assert(finals.length > 7)
    for (const name of finals) {
      const make = options => set[name].final(...first[name] ?? [], options)
      make()
      make({})
      for (const option of ['qqqqqqqqqqqq', misspelt(Object.keys(TABLES[name]?.rule.members ?? { none: 1 })[0])]) {
        assert.throws(() => make({ [option]: true }), { name: 'TypeError', message: new RegExp(`: options\\.${option} is unknown`) }, name)
      }
    }
  })

  it('should be left alone', () => {
    for (const name of ['bodyParser', 'compress', 'logger', 'static']) {
      const [make] = makersOf(name)
      assert.doesNotThrow(() => make(Object.freeze({})))
    }
    assert.doesNotThrow(() => set.bodyParser(Object.freeze({ jsonLimit: '2mb', onerror: () => {} })))
  })
})

describe('new Options()', () => {
  const rules = {
    a: text.says('an a', { default: 'x', alias: 'b' }),
    c: shape({ d: number({ min: 0, max: 9, unit: 'ms' }).says('a [d](d.md)', { default: 5 }), e: boolean }).says('a c'),
    f: shape({ g: boolean }),
    h: fn.or(off).says('an h', { otherwise: '`a`', type: '(ctx: Kone.Context) => void' }),
    i: list(oneOf(1, 2), 'numbers').or(none).says('an i; a | in a sentence', { isRequired: true }),
    ...each(record(fn).says('two of one kind'), 'j', 'k'),
    l: refused('take `a`'),
    m: any
  }
  const options = new Options('o', rules, 'page')

  it('should fill in defaults, also inside, and leave what was given alone', () => {
    assert.deepEqual(options.check(), { a: 'x', c: { d: 5 } })
    assert.deepEqual(options.check(ofClass({ b: 'y', c: ofClass({ e: true }), m: 1 })), { a: 'y', c: { d: 5, e: true }, m: 1 })
    assert.deepEqual(options.check({ a: undefined, b: 'y', c: { e: true }, f: {}, i: null }), { a: 'y', c: { d: 5, e: true }, f: {}, i: null })
    assert.equal(options.check({ a: 'z', b: 'y' }).a, 'z')
    const given = Object.freeze({ h: false })
    assert.deepEqual(options.check(Object.create(given)), { a: 'x', c: { d: 5 }, h: false })
    assert.deepEqual(new Options('o', shape({ a: boolean }, { open: true })).check({ z: 1 }), { z: 1 })
  })

  for (const [given, message] of [
    [{ b: 5 }, 'options.b must be a non-empty string, not 5'],
    [{ c: { d: 10 } }, 'options.c.d must be a number of milliseconds from 0 to 9, not 10'],
    [{ c: { dd: 1 } }, 'options.c.dd is unknown, only d, e'],
    [{ h: true }, 'options.h must be a function or false, not true'],
    [{ i: [3] }, 'options.i must be an array of numbers or null, not an array'],
    [{ j: { x: 1 } }, 'options.j.x must be a function, not 1'],
    [{ l: 1 }, 'options.l is not supported: take `a`']
  ]) it(`should say: ${message}`, () => assert.throws(() => options.check(given), { name: 'TypeError', message: `o: ${message} (kone/page.md)` }))

  it('should refuse a misspelt name alone where others are free', () => {
    const free = new Options('', shape({ http1: boolean, keys: any }, { open: MISSPELT }), 'page')
    assert.deepEqual(free.check({ http2: 5, port: 1 }), { http2: 5, port: 1 })
    assert.throws(() => free.check({ kyes: 5 }), { message: 'options.kyes is unknown: did you mean `keys`? (kone/page.md)' })
  })

  it('should have its table and its types made from it', () => {
    assert.equal(docs.page('<!-- o -->\nold\n<!-- /o -->\n<!-- other -->\n', { o: options }), `<!-- o -->
| option | default | meaning |
|---|---|---|
| \`a\`, \`b\` | \`'x'\` | an a |
| \`c\` | see the next rows | a c |
| \`c.d\` | 5 | a [d](d.md) (ms) |
| \`h\` | \`a\` | an h |
| \`i\` | required | an i; a \\| in a sentence |
| \`j\`, \`k\` | none | two of one kind |
<!-- /o -->
<!-- other -->
`)
    assert.equal(docs.types('  // <o>\n  // </o>\n  // <o.c>\n  // </o.c>\n', { o: options }), `  // <o>
  /** An a. Default: \`'x'\`. */
  a?: string | undefined
  /** Another name of \`a\`. */
  b?: string | undefined
  /** A c. */
  c?: object | undefined
  f?: object | undefined
  /** An h. Default: \`a\`. */
  h?: ((ctx: Kone.Context) => void) | undefined
  /** An i; a | in a sentence. */
  i: Array<1 | 2> | null
  /** Two of one kind. */
  j?: Record<string, (...args: any[]) => any> | undefined
  /** Two of one kind. */
  k?: Record<string, (...args: any[]) => any> | undefined
  m?: any
  // </o>
  // <o.c>
  /** A d (ms). Default: 5. */
  d?: number | undefined
  e?: boolean | undefined
  // </o.c>
`)
  })
})
