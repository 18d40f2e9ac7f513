'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { setTimeout: wait } = require('node:timers/promises')

const Koa = require('koa')

const temporary = require('../helpers/folder')
const Kone = require('../helpers/kone')
const { Kone3, modules } = require('../helpers/kone3')
const until = require('../helpers/until')
const { Router: KoaRouter } = require('@koa/router')
const { bodyParser, router } = require('../../middleware')
const middleware = require('../../middleware')
const cors = require('@koa/cors')

const SOURCE = fs.readFileSync(__filename, 'utf8').split('\n')
const later = () => wait(30)
const folder = temporary()

class Secret { #value = 1; get value () { return this.#value } }
class Shown { constructor () { this.value = 1 } }
class Told { #value = 1; toJSON () { return { value: this.#value } } }

/** What an app does wrong, and the warning; the line that it names has the row's title in a comment. */
const MISTAKES = {
  promise: [app => app.use(ctx => { ctx.body = later() /* promise */ }), 'ctx.body is a promise'],
  thenable: [app => app.use(ctx => { ctx.response.body = { then () {} } /* thenable */ }), 'ctx.body is a promise'],
  map: [app => app.use(ctx => { ctx.body = new Map([[1, 2]]) /* map */ }), 'an object of class Map'],
  set: [app => app.use(ctx => { ctx.body = new Set([1]) /* set */ }), 'an object of class Set'],
  error: [app => app.use(ctx => { ctx.body = new Error('no') /* error */ }), 'an object of class Error'],
  private: [app => app.use(ctx => { ctx.body = new Secret() /* private */ }), 'an object of class Secret'],
  status: [app => app.use(ctx => { ctx.status = 299 /* status */ }), 'ctx.status is 299'],
  highStatus: [app => app.use(ctx => { ctx.status = 999 /* highStatus */ }), 'ctx.status is 999'],
  returned: [app => app.use(() => 'hello') /* returned */, 'the value that a handler returns'],
  returnedLater: [app => app.use(async () => ({ a: 1 })) /* returnedLater */, 'the value that a handler returns'],
  returnedBelow: [app => {
    app.use((ctx, next) => next())
    app.use(async (ctx, next) => { await next() })
    app.use(async () => { /* returnedBelow */
      await later()
      return [1]
    })
  }, 'the value that a handler returns'],
  returnedByRoute: [app => {
    const routes = router()
    routes.get('/', ctx => ({ a: 1 })) /* returnedByRoute */
    app.use(routes.routes())
  }, 'the value that a handler returns'],
  returnedByKoaRouter: [app => {
    const routes = new KoaRouter()
    routes.get('/', async ctx => 'a') /* returnedByKoaRouter */
    app.use(routes.routes())
  }, 'the value that a handler returns'],
  factory: [app => app.use(() => cors) /* factory */, 'a middleware returns a function'],
  floating: [app => {
    app.use((ctx, next) => { next() /* floating */ })
    app.use(async ctx => {
      await wait(500)
      ctx.body = 'late'
    })
  }, 'next() is neither awaited nor returned'],
  floatingAsync: [app => {
    app.use(async (ctx, next) => { next() /* floatingAsync */ })
    app.use(() => wait(500))
  }, 'next() is neither awaited nor returned'],
  thrown: [app => app.use(ctx => {
    throw 'text' /* thrown */ // eslint-disable-line no-throw-literal
  }), "'text' is thrown"],
  thrownLater: [app => {
    app.use((ctx, next) => next())
    app.use(async ctx => {
      await later()
      throw 5 /* thrownLater */ // eslint-disable-line no-throw-literal
    })
  }, '5 is thrown'],
  body: [app => app.use(ctx => { ctx.body = ctx.request.body.name /* body */ }), 'no body parser ran before GET /: app.use(bodyParser())'],
  bodyOfRoute: [app => app.use(router().get('/', async ctx => {
    const { body } = ctx.request
    await later()
    const { name } = body /* bodyOfRoute */
    ctx.body = name
  }).routes()), 'no body parser ran before GET /'],
  session: [app => app.use(ctx => { ctx.session.user = ctx.request.body /* session */ }), 'session() did not run before GET /: app.use(session())'],
  render: [app => app.use(ctx => ctx.render('a') /* render */), 'template() did not run before GET /'],
  send: [app => app.use((ctx, res) => res.send('a') /* send */), 'a middleware gets (ctx, next), not (req, res, next)'],
  express: [app => app.use(function (req, res, next) { res.end?.('a') }) /* express */, 'a middleware gets (ctx, next), not (req, res, next)'],
  arrow: [app => app.use((req, res, next) => later()) /* arrow */, 'a middleware gets (ctx, next), not (req, res, next)'],
  others: [app => app.use((ctx, next) => next(), ctx => { ctx.body = 'a' }) /* others */, 'app.use(fn) takes one function'],
  silent: [app => {
    app.use(async (ctx, next) => { await next() })
    app.use(async () => { await later() }) /* silent */
    app.use(ctx => { ctx.body = 'a' })
  }, 'GET / is a 404: this middleware neither responds nor calls next(), and others follow'],
  silentRoute: [app => {
    app.use(router().get('/', ctx => {}).routes()) /* silentRoute */
    app.use(ctx => { ctx.body = 'a' })
  }, 'GET / is a 404: this middleware'],
  copied: [app => app.use(ctx => {
    ctx.body = 'umlauts: äöü'
    ctx.set({ date: 'then', 'content-encoding': 'gzip', 'content-length': '4', connection: 'close', 'keep-alive': 'timeout=9', 'transfer-encoding': 'chunked' }) /* copied */
  }), 'Content-Length is not that of the body, and the right one is sent; Transfer-Encoding is not sent as it is set; ' +
    'Content-Encoding is set, and the body is text; Connection is that of another response; Keep-Alive is that of another response'],
  copiedAlone: [app => app.use(ctx => {
    for (const [name, value] of [['date', 'then'], ['connection', 'keep-alive']]) ctx.set(name, value) /* copiedAlone */
    ctx.body = 'a'
  }), 'Connection is that of another response'],
  coding: [app => app.use(ctx => {
    ctx.set('Content-Encoding', 'br') /* coding */
    ctx.body = { a: 1 }
  }), 'Content-Encoding is set, and the body is text'],
  length: [app => app.use(async (ctx, next) => {
    await next()
    ctx.length = ctx.body.length /* length */
  }).use(ctx => { ctx.body = 'ü' }), 'Content-Length is not that of the body'],
  lengthOfNothing: [app => app.use(ctx => { ctx.length = 100 /* lengthOfNothing */ }), 'Content-Length is not that of the body'],
  lengthOfStream: [app => app.use(ctx => {
    ctx.body = fs.createReadStream(__filename)
    ctx.length = ctx.body.size /* lengthOfStream */
  }), 'Content-Length is not that of the body'],
  lengthByNode: [app => app.use(ctx => {
    ctx.body = Buffer.from('abc') /* lengthByNode */
    ctx.res.setHeader('Content-Length', 4)
  }), 'Content-Length is not that of the body'],
  range: [app => app.use(ctx => {
    ctx.status = 206
    ctx.set('Content-Range', 'bytes 0-4/10') /* range */
    ctx.body = Buffer.from('abc')
  }), 'Content-Range is not that of the body'],
  slash: [app => app.use(router().get('users', ctx => {}).routes()) /* slash */, "the path 'users'"],
  handler: [app => app.use(router().get('/users').routes()) /* handler */, 'handler of /users is missing'],
  namedHandler: [app => app.use(router().all('name', '/users').routes()) /* namedHandler */, 'handler of /users is missing'],
  host: [app => app.use(router().use('/a', router({ host: 'a.example' }).routes()).routes()) /* host */, 'options.host of a nested router has no effect'],
  exclusive: [app => app.use(router().use(router({ exclusive: true }).routes()).routes()) /* exclusive */, 'options.exclusive of a nested router'],
  path: [app => app.use(router().use(router({ routerPath: '/a' }).routes()).routes()) /* path */, 'options.routerPath of a nested router']
}

/** What apps of Koa do rightly. */
const RIGHT = {
  'an argument of app.use() that is no function': app => app.use(ctx => { ctx.body = 'a' }, undefined, 'name'),
  'a body and a value': app => app.use(ctx => { ctx.body = 'a'; return 'b' }),
  'an assignment': app => app.use(ctx => (ctx.body = 'a')),
  'a status alone': app => app.use(ctx => (ctx.status = 404)),
  'a status of another protocol': app => app.use(ctx => { ctx.status = 418 }),
  'a TypeError of another kind': app => app.use(ctx => { ctx.request.nope.first() }),
  'a TypeError beside a body': app => app.use(ctx => { ctx.state.user.name = ctx.request.body }),
  'a body of a parser': app => app.use(bodyParser()).use(ctx => { ctx.request.body.name.first() }),
  'the last middleware': app => app.use((ctx, next) => next()).use(() => {}),
  'a middleware that responds without ctx': app => app.use(ctx => { ctx.res.end('a') }).use(() => {}),
  'a status and no next()': app => app.use(ctx => { ctx.status = 404 }).use(() => {}),
  'an error and no next()': app => app.use(() => { throw new Error('a') }).use(() => {}),
  'no handler': app => app.use((ctx, next) => next()),
  'a flag': app => app.use(async () => true),
  'a null': app => app.use(async () => null),
  'a body of null': app => app.use(ctx => { ctx.body = null; return {} }),
  'an empty object': app => app.use(ctx => { ctx.body = {} }),
  'an empty array': app => app.use(ctx => { ctx.body = [] }),
  'an object without a prototype': app => app.use(ctx => { ctx.body = Object.create(null) }),
  'a class with fields': app => app.use(ctx => { ctx.body = new Shown() }),
  'a class with toJSON': app => app.use(ctx => { ctx.body = new Told() }),
  'a Date': app => app.use(ctx => { ctx.body = new Date(0) }),
  'a Buffer': app => app.use(ctx => { ctx.body = Buffer.alloc(0) }),
  'a stream': app => app.use(ctx => { ctx.body = fs.createReadStream(__filename) }),
  'a web stream': app => app.use(ctx => { ctx.body = new Blob(['a']).stream() }),
  'a Blob': app => app.use(ctx => { ctx.body = new Blob(['a']) }),
  'a Response': app => app.use(ctx => { ctx.body = new Response('a') }),
  'a range': app => app.use(ctx => { ctx.status = 206; ctx.set('Content-Range', 'bytes 2-4/10'); ctx.body = Buffer.from('abc') }),
  'the length of a Buffer, and its coding': app => app.use(ctx => { ctx.body = Buffer.from('abc'); ctx.set({ 'Content-Length': 3, 'Content-Encoding': 'br' }) }),
  'a length that another body replaces': app => app.use(ctx => { ctx.length = 9; ctx.body = 'abc' }),
  'a length that is removed': app => app.use(ctx => { ctx.body = 'abc'; ctx.length = 9; ctx.remove('Content-Length') }),
  'a stream in chunks': app => app.use(ctx => { ctx.set('Transfer-Encoding', 'chunked'); ctx.body = fs.createReadStream(__filename) }),
  'the fields of events': app => app.use(ctx => {
    ctx.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache', Connection: 'keep-alive' })
    ctx.body = fs.createReadStream(__filename)
  }),
  'Connection: close': app => app.use(ctx => { ctx.set('Connection', 'close'); ctx.body = 'a' }),
  'an awaited next()': app => app.use(async (ctx, next) => { await next() }).use(async ctx => { await later(); ctx.body = 'a' }),
  'a next() that ends first': app => app.use((ctx, next) => { next(); return wait(60) }).use(async ctx => { ctx.body = await later() ?? 'a' }),
  'a next() without anything': app => app.use((ctx, next) => { next() }),
  'a caught next()': app => app.use((ctx, next) => next().catch(err => { ctx.body = err.message })).use(async () => { throw new Error('a') }),
  'an error': app => app.use(() => { throw new Error('a') }),
  'ctx.throw': app => app.use(ctx => ctx.throw(400)),
  'an app that responds itself': app => app.use(ctx => { ctx.respond = false; ctx.res.end('a'); return 'b' }),
  'a nested router of the same host': app => app.use(router({ host: 'a', exclusive: true }).use(router({ host: 'a', exclusive: true }).routes()).routes()),
  routes: app => app.use(router().get('/', ctx => { ctx.body = 'a' }).all(/(.*)/, ctx => {}).get(['/a', '/b'], ctx => {}).get('(.*)', ctx => {}).get('', ctx => {}).routes())
}

let warnings = []
process.on('warning', warning => {
  if (warning.code === 'KONE_WARN_MISTAKE') warnings.push(warning.message)
})

/** The warnings of one request, and its response. */
async function of (use, env) {
  warnings = []
  const app = new Kone({ env })
  app.on('error', () => {})
  use(app)
  const { status, headers, body } = await app.inject('/')
  await wait(env === 'development' ? 50 : 0) // judged in a setImmediate
  return { warnings, response: { status, headers: { ...headers, date: '' }, body: String(body) } }
}

describe('mistakes in development', () => {
  for (const [title, [use, text]] of Object.entries(MISTAKES)) {
    it(`should be named with their line: ${title}`, async () => {
      const row = SOURCE.findIndex(line => line.includes(`/* ${title} */`)) + 1
      await of(use, 'development')
      await until(() => warnings.length > 0)
      assert.equal(warnings.length, 1)
      assert(warnings[0].includes(text), warnings[0])
      assert(warnings[0].endsWith(`(${__filename}:${row})`), `${warnings[0]} is not line ${row}`)
    })
  }

  const wrong = Object.fromEntries(Object.entries(MISTAKES).map(([title, [use]]) => [title, use]))
  for (const [title, use] of Object.entries({ ...RIGHT, ...wrong })) {
    const isRight = title in RIGHT
    it(`should ${isRight ? 'not be seen in' : 'change nothing of the response'}: ${title}`, async () => {
      const production = await of(use, 'production')
      const development = await of(use, 'development')
      assert.deepEqual(development.response, production.response)
      // of a second time nothing is said
      if (isRight) assert.deepEqual(development.warnings, [])
    })
  }

  it('should be quiet in production, in an app that is silent, and the second time', () => {
    const script = `
      const Kone = require(${JSON.stringify(path.join(__dirname, '../..'))})
      const { router } = require(${JSON.stringify(path.join(__dirname, '../../middleware'))})
      const app = new Kone()
      app.silent = process.argv[1] === 'silent'
      const routes = router()
      if (!app.silent) routes.get('users')
      app.use(routes.routes())
      app.use(ctx => { ctx.body = new Map() })
      app.inject('/').then(() => app.inject('/'))
    `
    const run = (env, ...args) => spawnSync(process.execPath, ['-e', script, ...args], {
      encoding: 'utf8', cwd: __dirname, env: { ...process.env, NODE_ENV: env }
    }).stderr
    assert.equal(run('production'), '')
    assert.equal(run('development', 'silent'), '')
  })

  it('should not read an env or a proxy that is a getter, which is deprecated in egg’s class: nor does Koa', async () => {
    const reads = []
    for (const Class of [Kone, Koa]) {
      class App extends Class {
        get env () { return reads.push(`${Class.name}, env`) }
        set env (value) {}
        get proxy () { reads.push(`${Class.name}, proxy`) }
        set proxy (value) {}
      }
      for (const env of ['development', 'production']) {
        const app = new App({ env })
        app.use(ctx => { ctx.body = 'a' }, 'and another argument')
        const server = http.createServer(app.callback()).listen(0)
        assert.equal(await (await fetch(`http://localhost:${server.address().port}`)).text(), 'a')
        server.close()
      }
    }
    assert.deepEqual(reads, [])
  })

  it('should cost nothing after the first thousand requests', async () => {
    const app = new Kone({ env: 'development' })
    const entered = []
    app.use(function first (ctx, next) { entered.push(ctx.path); return next() })
    app.use(ctx => { ctx.body = 'a' })
    for (let i = 0; i < 1000; i++) await app.inject('/')
    warnings = []
    app.use(ctx => {})
    app.middleware[1] = ctx => { ctx.body = new Map() }
    await app.inject('/')
    assert.equal(entered.length, 1001)
    assert.deepEqual(warnings, [])
  })
})

describe('mistakes of registration', () => {
  it('should name the call that is missing, for every middleware of the set', () => {
    for (const [name, factory] of Object.entries(middleware)) {
      if (name === 'router') continue // a class; next test
      assert.throws(() => new Kone().use(factory), new TypeError(`${factory.name} makes a middleware: app.use(${factory.name}())`))
    }
    new Kone().use(bodyParser())
  })

  for (const [name, Class, { cors }] of [
    ['kone', Kone, middleware],
    ['kone@3', Kone3, require(path.join(modules, 'koa/middleware'))]
  ]) {
    it(`should name the method of a router, the router of a path, and the call that is missing, ${name}`, () => {
      assert.throws(() => new Class().use(cors), { message: 'cors makes a middleware: app.use(cors())' })
      for (const routes of [router(), new KoaRouter()]) {
        assert.throws(() => new Class().use(routes), { message: 'middleware must be a function! A router has one: app.use(router.routes())' })
      }
      assert.throws(() => new Class().use('/api', () => {}), { message: 'middleware must be a function! Paths are for the router: router.use(path, fn)' })
      assert.throws(() => new Class().use({}), { message: 'middleware must be a function!' })
    })
  }

  it('should name the router where a route of Express ends the process', () => {
    const kone = JSON.stringify(require.resolve('../helpers/kone'))
    for (const [name, NODE_ENV, code, expected] of [
      ['a.js', '', `const app = new (require(${kone}))(); app.get('/')`, /TypeError: app\.get is not a function: routes belong to a router, router\.get\(…\) and app\.use\(router\.routes\(\)\)\n +at /],
      ['b.mjs', '', `import Kone from ${kone}; const server = new Kone(); const map = {}; server.use(ctx => {}).use(ctx => {}).post('/')`, /\.post is not a function: routes belong to a router, router\.post/],
      ['c.js', '', `const server = new (require(${kone}))(); const map = {}; map.get('/')`, /map\.get is not a function\n/],
      ['d.js', 'production', `const app = new (require(${kone}))(); app.get('/')`, /TypeError: app\.get is not a function\n/]
    ]) {
      const file = path.join(folder, name)
      fs.writeFileSync(file, code)
      const { status, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8', env: { ...process.env, NODE_ENV } })
      assert.equal(status, 1)
      assert.match(stderr, expected)
    }
    assert(!('get' in new Kone()))
  })
})
