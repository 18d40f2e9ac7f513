'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const fc = require('fast-check')
const { bodyParser, i18n, logger, openapi, router: Router, static: serve, template } = require('kone/middleware')

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

const RUNS = share(60, 1500)
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
      return app.use(i18n(app, { locales: { en: { hi: 'hello' }, de: { hi: 'hallo' }, 'zh-CN': { hi: '你好' } } })).use(ctx => { ctx.body = ctx.i18n.__('hi') })
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
})
