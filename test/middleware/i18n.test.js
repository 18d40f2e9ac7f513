'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const originalI18n = require('koa-i18n')
const originalLocale = require('koa-locale')
const Koa2 = require('koa')
const i18n = require('kone/middleware/i18n')
const template = require('kone/middleware/template')
const folder = require('../helpers/folder')
const frameworks = require('../helpers/frameworks')

const CATALOGUES = {
  en: {
    Hello: 'Hello',
    'Hello %s, how are you today?': 'Hello %s, how are you today?',
    '%s cat': { one: '%s cat', other: '%s cats' },
    'There is one monkey in the %%s': {
      one: 'There is one monkey in the %%s', other: 'There are %d monkeys in the %%s'
    },
    nested: { foo: 'bar', deeper: { x: 'y' } },
    'a.b': 'dotted',
    greet: 'Hi {{name}}',
    item_one: '{{count}} item',
    item_other: '{{count}} items',
    only: 'only in English',
    menu: ['Home', 'About'],
    owned: { one: '%d cat of {{name}}', other: '%d cats of {{- name}}' },
    pages: ['{{name}}', { title: 'Of {{- name}}' }],
    both: '%(greeting)s {{name}}, $t(greet)'
  },
  'zh-CN': {
    Hello: '你好',
    'Hello %s, how are you today?': '%s 你好，今天好吗？',
    '%s cat': { one: '%s 只猫', other: '%s 只猫们' },
    nested: { foo: '巴' }
  },
  de: {
    Hello: 'Hallo',
    'Hello %s, how are you today?': 'Hallo %s, wie geht es dir heute?',
    '%s cat': { one: '%s Katze', other: '%s Katzen' },
    'There is one monkey in the %%s': { one: 'Im %%s sitzt ein Affe', other: 'Im %%s sitzen %d Affen' }
  },
  pl: { file: { one: '%d plik', few: '%d pliki', many: '%d plików', other: '%d pliku' } }
}

const directory = folder(Object.fromEntries(Object.entries(CATALOGUES).map(([name, one]) => [`${name}.js`, JSON.stringify(one)])))

const views = folder({ 'hello.html': "{{ __('Hello') }} {{ getLocale() }}" })
const LOCALES = ['en', 'zh-CN', 'de']

frameworks('i18n', ({ it, Koa, ask }) => {
  it('should announce the language to caches where a header field takes part in the choice', async () => {
    const fields = async (modes, line = 'GET /', headers = {}, handler = ctx => { ctx.body = ctx.t('Hello') }) => {
      const { headers: { vary, 'content-language': language } } = await ask(serve(handler, { modes }), line, { headers })
      return [vary, language]
    }
    const all = ['query', 'cookie', 'header']
    assert.deepEqual(await fields(all), ['Cookie, Accept-Language', 'en'])
    assert.deepEqual(await fields(all, 'GET /', { 'accept-language': 'de-AT' }), ['Cookie, Accept-Language', 'de'])
    assert.deepEqual(await fields(all, 'GET /', { cookie: 'locale=zh-CN', 'accept-language': 'de' }), ['Cookie', 'zh-CN'])
    assert.deepEqual(await fields(all, 'GET /?locale=de', { cookie: 'locale=zh-CN' }), [undefined, undefined])
    assert.deepEqual(await fields(['query', 'url', () => 'de']), [undefined, undefined])
    assert.deepEqual(await fields([async () => undefined, 'header']), ['Accept-Language', 'en'])
    assert.deepEqual(await fields(['header'], 'GET /', {}, ctx => {
      ctx.vary('Origin')
      ctx.i18n.setLocale('de')
      ctx.body = ctx.t('Hello')
    }), ['Accept-Language, Origin', 'de'])
  })

  it('should announce a language tag, or nothing', async () => {
    const of = async name => {
      const app = serve(ctx => { ctx.body = 'x' }, { locales: { [name]: {} }, modes: ['header'] })
      return (await ask(app, 'GET /')).headers['content-language']
    }
    assert.deepEqual([await of('zh_Hant_TW'), await of('ü'), await of('x\r\ny')], ['zh-Hant-TW', undefined, undefined])
  })

  const serve = (handler, options) => {
    const app = new Koa()
    return app.use(i18n(app, { directory, locales: LOCALES, modes: ['query'], ...options })).use(handler)
  }
  const say = async (handler, target = '/', options = {}, headers = {}) => {
    const app = serve(ctx => { ctx.body = JSON.stringify(handler(ctx)) }, options)
    return (await ask(app, `GET ${target}`, { headers })).json()
  }

  it('should translate as koa-i18n does', async () => {
    const handler = ctx => {
      const { i18n } = ctx
      ctx.body = [
        i18n.__('Hello'),
        i18n.__('Hello %s, how are you today?', 'Marcus'),
        i18n.__('%s %d %s', 'a', 42, 'b'),
        i18n.__('100'),
        i18n.__('nested.foo'),
        i18n.__('nested'),
        i18n.__n('%s cat', 0),
        i18n.__n('%s cat', 1),
        i18n.__n('%s cat', 2),
        i18n.__n('%s cat', '%s cats', 1),
        i18n.__n('%s cat', '%s cats', 3),
        i18n.__n('There is one monkey in the %%s', 'There are %d monkeys in the %%s', 1, 'tree'),
        i18n.__n('There is one monkey in the %%s', 'There are %d monkeys in the %%s', 3, 'tree'),
        i18n.__('unknown'),
        i18n.__('un.known'),
        i18n.getLocale(),
        i18n.setLocale('zh-CN'),
        i18n.__('Hello'),
        i18n.setLocale('xx'),
        i18n.getLocale(),
        i18n.setLocale(),
        ctx.state.i18n === i18n,
        ctx.state.__('Hello'),
        ctx.state.__n('%s cat', 2),
        ctx.state.getLocale(),
        ctx.state.isPreferredLocale(),
        ctx.request.i18n === i18n
      ]
    }
    const { ours, theirs } = twins(Koa, handler, { modes: ['query'] })
    for (const locale of LOCALES) {
      const target = `GET /?locale=${locale.toLowerCase()}`
      const [one, other] = [(await ask(ours, target)).json(), (await ask(theirs, target)).json()]
      // intentional difference: what a locale lacks is lent by the default one
      if (locale === 'de') Object.assign(other, { 4: 'bar', 5: CATALOGUES.en.nested })
      assert.deepEqual(one, other, locale)
    }
  })

  it('should find the locale as koa-i18n does, by whatever mode comes first', async () => {
    const handler = ctx => { ctx.body = ctx.i18n.getLocale() }
    const requests = [
      ['/', {}], ['/?locale=de', {}], ['/?locale=DE', {}], ['/?locale=xx', {}], ['/?locale=', {}],
      ['/', { Cookie: 'locale=zh-CN' }], ['/', { Cookie: 'locale=xx' }],
      ['/', { 'Accept-Language': 'de' }], ['/', { 'Accept-Language': 'zh-CN,zh;q=0.5' }],
      ['/', { 'Accept-Language': 'fr;q=0.1, de;q=0.9' }], ['/', { 'Accept-Language': '*' }],
      ['/', { Host: 'zh-CN.koajs.com' }], ['/', { Host: 'koajs.de' }], ['/', { Host: 'www.koajs.de' }],
      ['/de/page', {}], ['/zh-cn', {}], ['/xx', {}],
      ['/de?locale=zh-CN', { Cookie: 'locale=en', 'Accept-Language': 'de', Host: 'en.koajs.de' }]
    ]
    for (const modes of [
      [], ['query'], ['cookie'], ['header'], ['subdomain'], ['url'], ['tld'], ['Query', 'COOKIE', 'TLD'],
      ['subdomain', 'header', 'query'], ['tld', 'url', 'cookie', 'query', 'subdomain', 'header'],
      [function () { return this.query.locale }]
    ]) {
      if (typeof modes[0] === 'function') requests.splice(0, requests.length, ['/?locale=de', {}], ['/?locale=xx', {}])
      const { ours, theirs } = twins(Koa, handler, { modes })
      for (const [target, headers] of requests) {
        const [one, other] = [await ask(ours, `GET ${target}`, { headers }), await ask(theirs, `GET ${target}`, { headers })]
        assert.equal(one.text, other.text, `${modes} ${target} ${JSON.stringify(headers)}`)
      }
    }
  })

  it('should have koa-locale\'s methods', async () => {
    const handler = ctx => {
      ctx.body = [
        ctx.getLocaleFromQuery(), ctx.request.getLocaleFromSubdomain(), ctx.getLocaleFromCookie(),
        ctx.getLocaleFromHeader(), ctx.getLocaleFromHeader(true), ctx.getLocaleFromUrl(),
        ctx.getLocaleFromUrl({ offset: 1 }), ctx.getLocaleFromTLD()
      ].map(value => value === undefined ? null : value)
    }
    const { ours, theirs } = twins(Koa, handler, {})
    for (const [target, headers] of [
      ['/', {}],
      ['/a/b?locale=q', { Host: 's.koajs.com', Cookie: 'locale=c', 'Accept-Language': 'en-US, zh;q=0.3, *;q=0.1' }]
    ]) {
      assert.deepEqual((await ask(ours, `GET ${target}`, { headers })).json(),
        (await ask(theirs, `GET ${target}`, { headers })).json())
    }
  })

  it('should go on to the next mode when a function returns nothing', async () => {
    const modes = [() => undefined, ctx => ctx.get('X-Locale'), 'query']
    assert.equal(await say(ctx => ctx.i18n.getLocale(), '/?locale=de', { modes }), 'de')
    assert.equal(await say(ctx => ctx.i18n.getLocale(), '/?locale=de', { modes }, { 'X-Locale': 'zh-CN' }), 'zh-CN')
  })

  it('should wait for a mode that is promised', async () => {
    const modes = [
      ctx => new Promise(resolve => setImmediate(() => resolve(ctx.get('X-Locale')))),
      'query',
      ctx => ({ then: resolve => resolve(ctx.get('X-Last')) })
    ]
    const locale = (target, headers) => say(ctx => [ctx.i18n.getLocale(), ctx.t('Hello')], target, { modes }, headers)
    assert.deepEqual(await locale('/?locale=de', { 'X-Locale': 'zh-CN' }), ['zh-CN', '你好'])
    assert.deepEqual(await locale('/?locale=de', {}), ['de', 'Hallo'])
    assert.deepEqual(await locale('/', { 'X-Last': 'de' }), ['de', 'Hallo'])
    assert.deepEqual(await locale('/', {}), ['en', 'Hello'])
    const failing = serve(ctx => { ctx.body = 'reached' }, { modes: [async () => { throw new Error('no database') }] })
    assert.equal((await ask(failing, 'GET /')).status, 500)
  })

  it('should look through all languages of the client, and find en for en-GB', async () => {
    const modes = ['header']
    const locale = accept => say(ctx => ctx.i18n.getLocale(), '/', { modes, locales: ['zh-CN', 'en', 'de'] }, { 'Accept-Language': accept })
    assert.equal(await locale('fr, de;q=0.5'), 'de')
    assert.equal(await locale('en-GB,en;q=0.9'), 'en')
    assert.equal(await locale('fr'), 'zh-CN')
    assert.equal(await locale(`${'x'.repeat(300)}, de;q=0.5`), 'de')
  })

  it('should look a language up by all of its parents, the nearest first', async () => {
    const locales = { en: { a: 'en', b: 'en', c: 'en' }, zh: { a: 'zh', b: 'zh' }, 'zh-Hant': { a: 'Hant' }, 'zh-Hant-MO': {} }
    const all = accept => say(ctx => [ctx.i18n.getLocale(), ...['a', 'b', 'c'].map(key => ctx.t(key))].join(' '), '/',
      { modes: ['header'], locales }, { 'Accept-Language': accept })
    for (const [accept, expected] of [
      ['zh-Hant-TW', 'zh-Hant Hant zh en'], ['zh-hant-mo-x-own', 'zh-Hant-MO Hant zh en'], ['zh-Hans-CN, zh-Hant', 'zh zh zh en'],
      ['fr-FR, zh-Hant-TW-u-co-pinyin;q=0.5', 'zh-Hant Hant zh en'], [`zh${'-a'.repeat(5000)}`, 'en en en en'], ['-, a-, --', 'en en en en']
    ]) assert.equal(await all(accept), expected, accept)
  })

  it('should survive what clients send as a locale', async () => {
    for (const target of [
      '/?locale=de&locale=en', '/?locale=__proto__', '/?locale=constructor', '/?locale[]=x', '/?locale=%00', '/%zz'
    ]) assert.match(await say(ctx => ctx.i18n.getLocale(), target, { modes: ['query', 'url', 'cookie'] }), /^(de|en)$/)
  })

  it('should translate by ctx.t, which is __', async () => {
    const handler = ctx => {
      const { t } = ctx
      return [t('Hello'), ctx.t('Hello %s, how are you today?', 'Ada')]
    }
    assert.deepEqual(await say(handler, '/?locale=de'), ['Hallo', 'Hallo Ada, wie geht es dir heute?'])
  })

  it('should take names and counts as i18next does', async () => {
    const handler = ctx => [
      ctx.t('greet', { name: '<Ada>' }), ctx.t('item', { count: 1 }), ctx.t('item', { count: 5 }),
      ctx.t('%s cat', { count: 2 }), ctx.t('menu')
    ]
    assert.deepEqual(await say(handler), ['Hi <Ada>', '1 item', '5 items', '2 cats', ['Home', 'About']])
  })

  it('should choose the plural by a count that is text or a bigint, as of a query or a database, and print it as it is', async () => {
    const locales = {
      en: {
        ...CATALOGUES.en, item_zero: 'nothing', place_ordinal_one: '{{count}}st', place_ordinal_other: '{{count}}th', sum: 'Sum: {{count}}'
      }
    }
    const say4 = ({ t }, count) => [t('item', { count }), t('%s cat', { count }), t('place', { count, ordinal: true }), t('sum', { count })]
    const of = counts => say(ctx => counts(ctx.query).map(count => say4(ctx, count)), '/?n=2', { locales })
    assert.deepEqual(await of(({ n }) => ['0', '1', n, 0n, 1n, 2n]), await of(() => [0, 1, 2, 0, 1, 2]))
    for (const count of ['', 'x', '1.0', '1,234', '007']) {
      const one = count === '1.0'
      assert.deepEqual(await of(() => [count]), [[
        `${count} item${one ? '' : 's'}`, `${count} cat${one ? '' : 's'}`, `${count}${one ? 'st' : 'th'}`, `Sum: ${count}`
      ]])
    }
  })

  it('should fill in no placeholder that is in a value', async () => {
    for (const name of ['%s', '%d%', '100%', '%(secret)s', '%j', '%%s', '%1$s', '{{secret}}', '$t(only)', '$&']) {
      const values = { name, secret: 'x', greeting: '%j' }
      assert.deepEqual(await say(({ t }) => [
        t('greet', values), t('owned', { ...values, count: 1 }), t('owned', { ...values, count: 2 }), t('pages', values),
        t('unknown {{- name}} %(secret)s', values), t('both', { ...values, name: 'Ada' })
      ]), [
        `Hi ${name}`, `1 cat of ${name}`, `2 cats of ${name}`, [name, { title: `Of ${name}` }],
        `unknown ${name} x`, '%j Ada, Hi Ada'
      ])
    }
  })

  it('should know the plurals of a language that has more than two, however its name is written', async () => {
    for (const locale of ['pl', 'pl-PL', 'pl_PL']) {
      const options = { locales: { [locale]: CATALOGUES.pl } }
      const counts = [1, 2, 5, 22]
      const files = ['1 plik', '2 pliki', '5 plików', '22 pliki']
      assert.deepEqual(await say(ctx => counts.map(count => ctx.i18n.__n('file', count)), '/', options), files, locale)
      assert.deepEqual(await say(ctx => counts.map(count => ctx.t('file', { count })), '/', options), files, locale)
    }
  })

  it('should lend what a locale lacks from the default one, unless an option says otherwise', async () => {
    const handler = ctx => ctx.t('only')
    assert.equal(await say(handler, '/?locale=de'), 'only in English')
    assert.equal(await say(handler, '/?locale=de', { fallback: false }), 'only')
    assert.equal(await say(handler, '/?locale=de', { defaultLocale: 'zh-CN' }), 'only')
  })

  it('should give back an unknown key as it is, and write it nowhere', async () => {
    const read = () => fs.readdirSync(directory).map(name => fs.readFileSync(path.join(directory, name), 'utf8'))
    const before = read()
    for (const key of [
      'unknown', '__proto__', 'constructor', 'a.b.c', '$t(only) {{x}}', '100% sure', '%s', '', 'nested.no'
    ]) assert.equal(await say(ctx => ctx.t(key)), key)
    assert.equal(await say(ctx => ctx.t('$t(only) {{x}}', { x: 1 })), '$t(only) 1')
    assert.deepEqual(read(), before)
  })

  it('should read .json, another extension, and catalogues that are given', async () => {
    fs.writeFileSync(path.join(directory, 'fr.json'), '\uFEFF{"Hello":"Bonjour"}')
    assert.equal(await say(ctx => ctx.t('Hello'), '/', { locales: ['fr'] }), 'Bonjour')
    fs.writeFileSync(path.join(directory, 'it.lines'), 'Hello=Ciao')
    const parse = text => Object.fromEntries(text.split('\n').map(line => line.split('=')))
    assert.equal(await say(ctx => ctx.t('Hello'), '/', { locales: ['it'], extension: '.lines', parse }), 'Ciao')
    assert.equal(await say(ctx => ctx.t('Hello'), '/', { locales: { es: { Hello: 'Hola' } } }), 'Hola')
  })

  it('should follow a locale that a handler sets, in templates too', async () => {
    const app = serve(template(views)).use(ctx => { ctx.i18n.setLocale('de'); return ctx.render('hello') })
    assert.equal((await ask(app, 'GET /')).text, 'Hallo de')
  })

  it('should have setLocaleFrom… for each mode', async () => {
    const handler = ({ i18n }) => [i18n.setLocaleFromQuery(), i18n.setLocaleFromCookie() ?? null, i18n.locale]
    assert.deepEqual(await say(handler, '/?locale=de', { modes: [] }), [true, null, 'de'])
  })

  it('should keep the methods of koa-locale where the app has it', async () => {
    const app = new Koa()
    originalLocale(app, 'language')
    app.use(i18n(app, { directory, locales: LOCALES, modes: ['query'] }))
    app.use(ctx => { ctx.body = ctx.t('Hello') })
    assert.equal((await ask(app, 'GET /?language=de')).text, 'Hallo')
    assert.equal((await ask(app, 'GET /?language=de&language=en')).status, 200) // koa-locale takes it for a list
  })
})

describe('i18n(app, options)', () => {
  const app = new Koa2()

  it('should throw for a catalogue that is missing or none, with its path', () => {
    assert.throws(() => i18n(app, { directory, locales: ['xx'] }), new RegExp(`${directory}/xx\\.js`))
    assert.throws(() => i18n(app, { directory: '/no/where', locales: ['en'] }), /\/no\/where\/en\.js/)
    for (const [name, text] of [['bad', '{'], ['list', '[]'], ['word', '"x"'], ['null', 'null']]) {
      fs.writeFileSync(path.join(directory, `${name}.js`), text)
      assert.throws(() => i18n(app, { directory, locales: [name] }), new RegExp(`${name}\\.js`))
    }
  })
})

/** One handler behind kone's middleware and behind the packages that it stands in for. */
function twins (Koa, handler, options) {
  const ours = new Koa()
  ours.use(i18n(ours, { directory, locales: LOCALES, ...options }))
  ours.use(handler)

  const theirs = new Koa2()
  originalLocale(theirs)
  theirs.use(originalI18n(theirs, {
    locales: JSON.parse(JSON.stringify(Object.fromEntries(LOCALES.map(name => [name, CATALOGUES[name]])))),
    defaultLocale: LOCALES[0],
    devMode: false,
    ...options
  }))
  theirs.use(handler)
  return { ours, theirs }
}

describe('a key that no catalogue has', () => {
  it('should be filled in up to 1,000 characters, and stay as it is beyond', async () => {
    const app = new Koa2()
    app.use(i18n(app, { locales: { en: { hello: 'hello {{name}}' } } }))
    const ctx = app.createContext({ headers: {}, url: '/', socket: {} }, {})
    const key = length => '{{name}}'.padEnd(length, 'x')
    assert.equal(ctx.t(key(1000), { name: 'Ada' }), key(1000).replace('{{name}}', 'Ada'))
    assert.equal(ctx.t(key(1001), { name: 'Ada' }), key(1001))
    assert.equal(ctx.t('hello', { name: 'Ada' }), 'hello Ada')
  })
})
