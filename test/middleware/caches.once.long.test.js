'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { performance } = require('node:perf_hooks')
const { describe, it, mock } = require('node:test')
const { setTimeout: sleep } = require('node:timers/promises')
const v8 = require('node:v8')
const vm = require('node:vm')
const fc = require('fast-check')
const { bodyParser, compress, i18n, logger, metrics, openapi, rateLimit, router: Router, static: serve, template } = require('kone/middleware')

const folder = require('../helpers/folder')
const Kone = require('../helpers/kone')
const share = require('../helpers/share')

/*
 * A cache is invisible: whatever was done before, the next operation has the result that it has without a cache. A case has
 *
 *     operations   an arbitrary of fast-check, of plain data
 *     make         (changes) => what is tested, with an empty cache; `changes` are the operations before that changed it
 *     isChange     (operation) => is it one of these?
 *     run          (made, operation) => result, of what may be compared
 */

const RUNS = share.long(15, 30)
const pick = (...values) => fc.constantFrom(...values)

/** A response without what differs between two equal ones. */
async function visit (app, target, headers = {}, options = {}) {
  const res = await app.inject({ url: target, headers, ...options })
  const { date, 'x-response-time': time, ...fields } = res.headers
  return { status: res.status, text: res.text(), fields }
}

function appOf (...middleware) {
  const app = new Kone()
  app.silent = true
  for (const fn of middleware) app.use(fn)
  return app
}

/** A middleware of the set whose modules have no state of earlier requests. */
function anew (name) {
  for (const file of Object.keys(require.cache)) if (file.includes('/middleware/_shared/')) delete require.cache[file]
  delete require.cache[require.resolve(`kone/middleware/${name}`)]
  return require(`kone/middleware/${name}`)
}

const ENCODINGS = pick('', 'br', 'gzip, br;q=0.1', '*', 'identity', 'gzip;q=0, *;q=0.5', 'GZIP', 'br;q=0, gzip;q=0, identity;q=0', ' gzip ; q=0.3')

const FILES = ['index.html', 'about.html', 'about.html.gz', 'docs/index.html', 'docs/x.txt', 'only.css.gz', 'page', 'a.txt', 'a.txt.br', '.env', 'x/y/z.html']
const TARGETS = fc.tuple(
  fc.array(pick('about', 'index', 'docs', 'x', 'only.css', 'a.txt', '.env', 'none', '%61bout', ''), { minLength: 1, maxLength: 3 }),
  pick('', '', '/')
).map(([segments, end]) => `/${segments.join('/')}${end}`)

function publicFolder () {
  return folder(Object.fromEntries(FILES.map(name => [name, `the ${name}`])))
}

/** Apps and the disk below them: `dev` must notice each change at once. */
const ofStatic = options => ({
  operations: fc.oneof(
    { weight: 4, arbitrary: fc.record({ target: TARGETS, accept: ENCODINGS }) },
    { weight: options.dev ? 2 : 0, arbitrary: fc.record({ file: pick(...FILES), isThere: fc.boolean() }) }
  ),
  shared: publicFolder,
  make: (changes, root) => appOf(serve(root, options)),
  isChange: () => false,
  run (app, { target, accept, file, isThere }, root) {
    if (file === undefined) return visit(app, target, { 'accept-encoding': accept })
    const name = path.join(root, file)
    if (isThere) fs.mkdirSync(path.dirname(name), { recursive: true })
    if (isThere && !fs.statSync(name, { throwIfNoEntry: false })?.isDirectory()) fs.writeFileSync(name, `${Math.random()}`)
    if (!isThere) fs.rmSync(name, { force: true, recursive: true })
  }
})

const VIEWS = { 'a.html': '{% include "part.html" %} a', 'b/index.html': 'b', 'part.html': 'part', 'c.html': '{{ x }}' }
const ofTemplate = options => ({
  operations: fc.oneof(
    { weight: 4, arbitrary: fc.record({ view: pick('a', 'b', 'c', 'a.html', './c', 'b/index', 'b/../c', 'part', 'none', '../a') }) },
    { weight: options.cache ? 0 : 2, arbitrary: fc.record({ file: pick('a.html', 'part.html', 'b.html', 'c/index.html'), isThere: fc.boolean() }) }
  ),
  shared: () => folder(VIEWS),
  make: (changes, root) => appOf(template(root, { options }), ctx => ctx.render(ctx.query.view, { x: 1 })),
  isChange: () => false,
  run (app, { view, file, isThere }, root) {
    if (file === undefined) return visit(app, `/?view=${encodeURIComponent(view)}`)
    const name = path.join(root, file)
    if (!isThere) return fs.rmSync(name, { force: true })
    fs.mkdirSync(path.dirname(name), { recursive: true })
    fs.writeFileSync(name, `${Math.random()}`)
  }
})

const PATHS = ['/', '/a', '/a/:id', '/:x/b', '/:x/:y', '/a/b/c', '/A', '/a(.*)', '/:x?', '/a/:id(\\d+)', '/é', '/a.b', '/a/']
const ROUTING = fc.oneof(
  { weight: 3, arbitrary: fc.record({ target: pick('/', '/a', '/a/', '/a/1', '/a/b', '/x/b', '/x/y', '/a/b/c', '/A', '/%C3%A9', '/a.b', '/p/a', '/p', '/none/x/y', '//') }) },
  { weight: 2, arbitrary: fc.record({ route: pick(...PATHS), method: pick('get', 'post', 'all', 'use') }) },
  { weight: 1, arbitrary: fc.record({ prefix: pick('/p', '/:q') }) }
)

/** An app to which the changes are made in order, and its router. */
function routed (changes, use = () => {}) {
  const router = new Router()
  const made = { router, app: appOf(router.routes()) }
  for (const change of changes) registered(made, change)
  use(made)
  return made
}

function registered ({ router }, { route, method, prefix }) {
  if (prefix !== undefined) {
    router.prefix(prefix)
    return
  }
  const name = `${method} ${route}`
  if (method === 'use') router.use(route, (ctx, next) => { ctx.append('X-Used', encodeURI(name)); return next() })
  else router[method](route, ctx => { ctx.body = [name, ctx.params, ctx._matchedRoute] })
}

const isRegistration = ({ target }) => target === undefined

const CACHES = {
  'files of static': ofStatic({ extensions: ['html'], redirect: true }),
  'files of static, none kept': ofStatic({ extensions: ['html'], cacheSize: 0 }),
  'files of static, few kept': ofStatic({ cacheSize: 3000, hidden: true, index: false }),
  'files of static, with dev': ofStatic({ dev: true, extensions: ['html'] }),
  'templates in production': ofTemplate({ cache: true }),
  'templates in development': ofTemplate({}),
  'states of the router': {
    operations: ROUTING,
    make: changes => routed(changes),
    isChange: isRegistration,
    run: (made, operation) => isRegistration(operation) ? registered(made, operation) : visit(made.app, operation.target)
  },
  'the document of openapi': {
    operations: ROUTING,
    make: changes => routed(changes, made => { made.app.use(openapi(made.app, { warnings: false })) }),
    isChange: isRegistration,
    run: (made, operation) => isRegistration(operation) ? registered(made, operation) : visit(made.app, '/openapi.json')
  },
  'encodings of compress': {
    operations: fc.record({ accept: ENCODINGS }),
    make: () => appOf(anew('compress')({ threshold: 0 }), ctx => { ctx.body = 'a'.repeat(100) }),
    isChange: () => false,
    run: async (app, { accept }) => (await visit(app, '/', { 'accept-encoding': accept })).fields
  },
  'types of bodyParser': {
    operations: fc.record({
      type: pick('application/json', 'application/json; charset=utf-8', 'application/json;', 'Application/JSON', 'application/x-www-form-urlencoded',
        'application/x-www-form-urlencoded; charset=latin1', 'application/json; charset=nonsense', 'a', '', 'text/plain', 'application/json; utf-8'),
      body: pick('{"a":"é"}', 'a=%FC', '')
    }),
    make: () => appOf(bodyParser({ enableTypes: ['json', 'form', 'text'] }), ctx => { ctx.body = { body: ctx.request.body } }),
    isChange: () => false,
    run: (app, { type, body }) => visit(app, '/', { 'content-type': type }, { method: 'POST', body })
  },
  'languages of i18n': {
    operations: fc.record({ languages: pick('en', 'de', 'de-AT, en;q=0.5', 'fr', '', 'EN-gb', 'en;q=0, de', '*', 'zh_CN', 'de;q=0') }),
    make: () => {
      const app = new Kone()
      return app.use(i18n(app, { locales: { en: { hi: 'hello' }, de: { hi: 'hallo' }, 'zh-CN': { hi: '你好' } }, modes: ['header'] })).use(ctx => { ctx.body = ctx.i18n.__('hi') })
    },
    isChange: () => false,
    run: (app, { languages }) => visit(app, '/', { 'accept-language': languages })
  },
  'formats of logger': {
    operations: fc.record({ format: pick(':method :url', ':url', ':req[a]', 'x', ':status :content-length', ':: :method'), url: pick('/a', '/b?c') }),
    make: () => {
      const lines = []
      const log = Object.fromEntries(['debug', 'info', 'warn', 'error'].map(level => [level, line => lines.push(line)]))
      return { lines, app: appOf(logger(log, { format: (ctx, format) => format(ctx.query.format ?? ctx.get('x-format')) }), ctx => { ctx.body = 'a' }) }
    },
    isChange: () => false,
    async run ({ app, lines }, { format, url }) {
      await visit(app, url, { 'x-format': format, a: 'b' })
      return lines.at(-1)
    }
  }
}

/*
 * A cache keeps a bounded number of bytes, however long and however many the values are that clients choose. A case has an
 * app and `request`, (text, i) => target, headers and options of a request with a hostile text, which is new each time.
 */
const FLOODS = {
  'paths of static': {
    make: () => appOf(serve(publicFolder())),
    request: text => [`/${text}`]
  },
  'folders of static': {
    make: () => appOf(serve(publicFolder())),
    request: text => [`/${text}/a`]
  },
  'encodings of compress': {
    make: () => appOf(compress({ threshold: 0 }), ctx => { ctx.body = 'a' }),
    request: text => ['/', { 'accept-encoding': text.replace(/.{4}/g, '$&,') }]
  },
  'types of bodyParser': {
    make: () => appOf(bodyParser()),
    request: text => ['/', { 'content-type': `application/json; a=${text}` }, { method: 'POST', body: '{}' }]
  },
  'charsets of bodyParser': {
    make: () => appOf(bodyParser()),
    request: text => ['/', { 'content-type': `application/json; charset=${text}` }, { method: 'POST', body: '{}' }]
  },
  'languages of i18n': {
    make: () => {
      const app = new Kone()
      return app.use(i18n(app, { locales: { en: { hi: 'hello' } }, modes: ['header'] })).use(ctx => { ctx.body = ctx.i18n.__('hi') })
    },
    request: text => ['/', { 'accept-language': text }]
  },
  'formats of logger': {
    make: () => {
      const log = Object.fromEntries(['debug', 'info', 'warn', 'error'].map(level => [level, () => {}]))
      return appOf(logger(log, { format: (ctx, format) => format(`:method ${ctx.path}`) }), ctx => { ctx.body = 'a' })
    },
    request: (text, i) => [`/${i}${':status'.repeat(text.length / 7)}`]
  },
  'labels of metrics': {
    make: () => {
      const { Registry } = require('prom-client')
      return appOf(metrics({ register: new Registry(), defaults: false, labels: { a: ctx => ctx.get('x-a') } }), ctx => { ctx.body = 'a' })
    },
    request: text => ['/', { 'x-a': text }]
  },
  'states of the router': {
    bytesEach: 3000, // three small states
    make: () => {
      const router = new Router()
      const long = 'a-long-segment'
      for (let i = 0; i < 300; i++) router.get([`/${long}${i}/:b`, `/:a/b${i}/:c`, `/:a/:b/c${i}`], ctx => { ctx.body = 'a' })
      return appOf(router.routes())
    },
    request: (text, i) => [`/a-long-segment${i % 300}/b${(i * 7) % 301}/${i % 2 ? text : `c${i % 299}`}`]
  },
  'views of template': {
    make: () => appOf(template(folder(VIEWS), { options: { cache: true } }), ctx => ctx.render(ctx.get('x-view'))),
    request: (text, i) => ['/', { 'x-view': `${'./'.repeat(text.length / 2 + i)}c` }]
  },
  'windows of rateLimit': {
    bytesEach: 500,
    make: () => appOf(rateLimit({ id: ctx => ctx.get('x-id') })),
    request: text => ['/', { 'x-id': text }]
  },
  'windows of rateLimit, by address': {
    bytesEach: 500,
    make: () => {
      const app = appOf(rateLimit())
      app.proxy = true
      return app
    },
    request: (text, i) => ['/', { 'x-forwarded-for': `2001:db8::${i.toString(16)}, ${text}` }]
  }
}

const REQUESTS = 600
const PART = 200 // of them: a cache that is full may begin anew
const LIMIT = 2 ** 20 // bytes

v8.setFlagsFromString('--expose-gc')
const collectGarbage = vm.runInNewContext('gc')

function heap () {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** What is in use once the connections and errors of earlier requests are collected: no less, twice in a row. */
async function settled () {
  let least = heap()
  for (let same = 0; same < 2; same++) {
    await sleep(20)
    const now = heap()
    if (now < least - 20_000) same = 0
    least = Math.min(least, now)
  }
  return least
}

describe('a cache', () => {
  for (const [name, { operations, make, isChange, run, shared = () => {} }] of Object.entries(CACHES)) {
    it(`should be invisible: ${name}`, async () => {
      await fc.assert(fc.asyncProperty(fc.array(operations, { maxLength: 20 }), async all => {
        const place = shared()
        const cached = make([], place)
        const changes = []
        for (const operation of all) {
          const result = await run(cached, operation, place)
          if (isChange(operation)) changes.push(operation)
          else if (result !== undefined) assert.deepEqual(result, await run(make(changes, place), operation, place))
        }
      }), { numRuns: RUNS, seed: 39 })
    })
  }

  it('should be invisible: the generations of rateLimit', async () => {
    let now = 0
    const clock = mock.method(performance, 'now', () => now)
    const hits = fc.array(fc.record({ id: pick('a', 'b', 'c'), wait: pick(0, 1, 40, 99, 100, 101, 300), by: pick(0, 1) }), { maxLength: 60 })
    await fc.assert(fc.asyncProperty(hits, fc.boolean(), async (hits, isShared) => {
      const db = isShared ? new Map() : undefined
      const DURATIONS = [250, 100] // the later one is shorter
      const apps = DURATIONS.map(duration => appOf(rateLimit({ db, duration, max: 99, namespace: String(duration), id: ctx => ctx.get('x-id') })))
      const windows = new Map()
      for (const { id, wait, by } of hits) {
        now += wait
        const name = `${by} ${id}`
        const last = windows.get(name)
        const { count, end } = last === undefined || last.end <= now ? { count: 0, end: now + DURATIONS[by] } : last
        windows.set(name, { count: count + 1, end })
        const { fields } = await visit(apps[by], '/', { 'x-id': id })
        assert.equal(fields['x-ratelimit-remaining'], String(99 - count - 1))
      }
    }), { numRuns: 4 * RUNS, seed: 39 })
    clock.mock.restore()
  })

  for (const name of share.third(Object.keys(FLOODS))) {
    const { make, request, bytesEach = 0 } = FLOODS[name]
    it(`should keep a bounded number of bytes: ${name}`, async () => {
      const flood = async (app, from, to) => {
        for (let i = from; i < to; i++) {
          const length = i % 2 ? 12_000 : [10, 60, 120, 250, 500, 1000][i % 6]
          const text = `${i}`.padEnd(length, 'abcdefghij'[i % 10])
          const { status } = await visit(app, ...request(text, i))
          assert.notEqual(status, 431, 'the text reaches the app')
        }
      }
      await flood(make(), 0, 100) // compiles the code
      const app = make()
      const before = await settled()
      for (let sent = 0; sent < REQUESTS; sent += PART) {
        await flood(app, sent, sent + PART)
        const kept = await settled() - before
        assert.ok(kept < LIMIT + bytesEach * (sent + PART), `${app.middleware.length} middleware keep ${kept} bytes`)
      }
    })
  }
})
