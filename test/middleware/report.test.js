'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { describe, it } = require('node:test')
const { isNativeError } = require('node:util').types
const compose = require('koa-compose')
const { Registry } = require('prom-client')
const set = require('kone/middleware')
const { KeptHeaders, report } = require('../../lib/shared/error-path')
const { names } = require('../../tools/middleware-index')
const folder = require('../helpers/folder')
const hostile = require('../helpers/hostile')
const Kone = require('../helpers/kone')
const until = require('../helpers/until')

const ROOT = path.join(__dirname, '../../middleware')

const scratch = folder()

const down = () => Promise.reject(new Error('the store is down'))
const form = new Blob(['--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\nhi\r\n--x--\r\n'])

/** For each middleware that reports: how it comes to it, the response all the same, and the report. */
const REPORTS = {
  rateLimit: {
    use: () => [
      set.rateLimit({ db: { get: down, set: down, del: down, eval: down }, failOpen: true }),
      ctx => { ctx.body = 'ok' }
    ],
    status: 200,
    error: { code: 'KONE_ERR_RATE_LIMIT_STORE' }
  },
  session: {
    use: () => [
      set.session({ store: { get: () => undefined, set: down, destroy: () => {} } }),
      ctx => {
        ctx.session.name = 'x'
        throw Object.assign(new Error('wrong'), { status: 422, expose: true })
      }
    ],
    status: 422,
    error: { code: 'KONE_ERR_SESSION_STORE' }
  },
  health: {
    use: () => [set.health({ checks: { db: down } })],
    path: '/readyz',
    status: 503,
    error: { message: 'the store is down' }
  },
  metrics: {
    use: () => [
      set.metrics({ register: new Registry(), defaults: false, labels: { a: () => { throw new Error('of a label') } } }),
      ctx => { ctx.body = 'ok' }
    ],
    status: 200,
    error: { message: 'of a label' }
  },
  logger: {
    use: () => [
      set.logger(() => { throw new Error('of a logger') }),
      ctx => { ctx.body = 'ok' }
    ],
    status: 200,
    error: { message: 'of a logger' }
  },
  timeout: {
    use: () => [
      set.timeout(1),
      ctx => new Promise((resolve, reject) => { ctx.signal.addEventListener('abort', () => reject(new Error('late'))) })
    ],
    status: 503,
    error: { message: 'late' }
  },
  isolate: {
    use: () => [
      set.isolate(),
      ctx => {
        ctx.body = 'ok'
        setImmediate(() => setImmediate(() => { throw new Error('after the response') }))
      }
    ],
    status: 200,
    error: { message: 'after the response' }
  },
  upload: {
    use: () => [
      set.upload({ dest: scratch }),
      async ctx => {
        const [file] = ctx.request.files
        fs.rmSync(file.path)
        fs.mkdirSync(file.path) // cannot be removed as a file
        ctx.body = 'ok'
      }
    ],
    request: { method: 'POST', body: form, headers: { 'content-type': 'multipart/form-data; boundary=x' } },
    status: 200,
    error: { syscall: 'unlink' }
  }
}

/** Ways of a request through an app that nobody gave a listener of 'error'. */
const WAYS = {
  'koa 2': { load: () => require('koa'), send: listening(app => app.callback()) },
  'koa 3': { load: () => require('koa3'), send: listening(app => app.callback()) },
  'app.fetch of kone': {
    load: () => Kone,
    send: (app, path, init) => app.fetch(new Request(`http://localhost${path}`, init), { ip: '127.0.0.1' })
  },
  'createContext of koa 2 alone': { load: () => require('koa'), send: listening(alone) },
  'createContext of koa 3 alone': { load: () => require('koa3'), send: listening(alone) },
  'createContext of kone alone': { load: () => Kone, send: listening(alone) }
}

function listening (listenerOf) {
  return async (app, path, init) => {
    const server = http.createServer(listenerOf(app)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const response = await fetch(`http://127.0.0.1:${server.address().port}${path}`, init)
      return new Response(await response.text(), { status: response.status })
    } finally {
      server.close()
    }
  }
}

function alone (app) {
  const run = compose(app.middleware)
  return (req, res) => {
    const ctx = app.createContext(req, res)
    res.statusCode = 404
    run(ctx).then(() => res.end(ctx.body), err => { res.statusCode = err.status ?? 500; res.end() })
  }
}

for (const [name, { use, path = '/', request, status, error }] of Object.entries(REPORTS)) {
  for (const [way, { load, send }] of Object.entries(WAYS)) {
    describe(`what ${name} reports`, () => {
      it(`should be printed by the app that has no listener, once, and change no response: ${way}`, async () => {
        const app = new (load())()
        const printed = []
        app.onerror = err => printed.push(err)
        app.use(async (ctx, next) => {
          try {
            await next()
          } catch (err) {
            ctx.status = err.status // the response; Koa would report this error, too
            ctx.body = err.message
          }
        })
        for (const fn of use()) app.use(fn)
        assert.equal((await send(app, path, request)).status, status)
        await until(() => printed.length > 0)
        assert.equal(printed.length, 1, printed.join('\n'))
        for (const [key, value] of Object.entries(error)) assert.equal(printed[0][key], value)
      })
    })
  }
}

describe('report(ctx, err)', () => {
  it('should be the only way to report an error in the set', () => {
    for (const file of fs.readdirSync(ROOT, { recursive: true })) {
      if (!file.endsWith('.js')) continue
      const text = fs.readFileSync(path.join(ROOT, file), 'utf8')
      assert.doesNotMatch(text, /app\.emit\(|app\.onerror\(|emit\('error', \w+, /, file)
    }
    const reporting = names().filter(name => fs.readdirSync(path.join(ROOT, name)).some(file =>
      file.endsWith('.js') && /\breport\b.*\/lib\/shared\/error-path'/.test(fs.readFileSync(path.join(ROOT, name, file), 'utf8'))))
    assert.deepEqual(reporting, [...Object.keys(REPORTS), 'websocket'].sort()) // behind a handshake: websocket.test.js
  })

  it('should call listeners with the context, and convert what is not an Error', () => {
    const app = new Kone()
    const got = []
    app.on('error', (err, ctx) => got.push([err, ctx]))
    const ctx = { app }
    const fail = () => { throw new Error('hostile') }
    for (const [thrown, text] of [
      [null, 'null'], [undefined, 'undefined'], ['text', '"text"'], [5n, '[object BigInt]'], [{ a: 1 }, '{"a":1}'],
      [new Proxy({}, { get: fail }), '[object]']
    ]) {
      report(ctx, thrown)
      const [err, of] = got.pop()
      assert.deepEqual([err.message, err.code], [`non-error thrown: ${text}`, 'KONE_ERR_NON_ERROR'])
      assert(err.cause === thrown && of === ctx)
    }
    for (const [name, make] of hostile()) {
      report(ctx, make())
      assert.equal(got.length, 1, name)
      const [err] = got.pop()
      assert(err instanceof Error || isNativeError(err), name)
    }
    const foreign = require('node:vm').runInNewContext('new Error("of another realm")')
    report(ctx, foreign)
    assert.equal(got[0][0], foreign)
  })

  it('should make what a listener throws an uncaught exception, not the error of a request', () => {
    const program = use => `
      const Kone = require('kone'), set = require('kone/middleware')
      const app = new Kone()
      app.on('error', () => { throw new Error('of the listener') })
      const down = () => Promise.reject(new Error('down'))
      ${use}
      app.use(ctx => { ctx.body = 'ok' })
      process.on('exit', code => console.log('exit', code))
      app.fetch(new Request('http://localhost/')).then(res => console.log('status', res.status))
    `
    const uses = {
      rateLimit: 'app.use(set.rateLimit({ db: { get: down, set: down, del: down, eval: down }, failOpen: true, id: () => "x" }))',
      isolate: 'app.use(set.isolate()).use((ctx, next) => { setImmediate(() => { throw new Error("late") }); return next() })'
    }
    for (const [name, use] of Object.entries(uses)) {
      const { status, stderr } = spawnSync(process.execPath, ['-e', program(use)], { cwd: ROOT, encoding: 'utf8', timeout: 30_000 })
      assert.equal(status, 1, name)
      assert.match(stderr, /Error: of the listener/)
    }
  })
})

describe('new KeptHeaders(headers)', () => {
  const response = { get: () => 'a' }

  it('should replace onerror of the app’s context, or that of a ctx which has another', () => {
    const kept = new KeptHeaders(['X-A'])
    const context = {}
    const shared = Object.create(context, { app: { value: { context } } })
    kept.keepFor(shared)
    assert.deepEqual([Object.hasOwn(shared, 'onerror'), Object.hasOwn(context, 'onerror')], [false, true])
    for (const ctx of [{}, { app: {} }, { app: { context: {} } }]) {
      kept.keepFor(ctx)
      assert(Object.hasOwn(ctx, 'onerror'))
    }
  })

  it('should give onerror what was thrown, and the headers to an error while it runs', () => {
    const own = { 'X-Own': 'b' }
    for (const isOwn of [true, false]) {
      for (const isKept of [true, false]) {
        for (const thrown of [null, undefined, 'text', new Error('x'), Object.assign(new Error('y'), { headers: own })]) {
          let seen, headers
          const onerror = err => {
            seen = err
            headers = { ...err?.headers }
            throw new Error('of onerror')
          }
          const context = Object.assign(Object.create({ onerror }), isOwn && { onerror })
          const make = () => Object.assign(Object.create(context), { app: { context }, response })
          const ctx = make()
          new KeptHeaders(['X-A']).keepFor(isKept ? ctx : make())
          assert.equal(context.onerror.wraps, onerror)
          const before = Object.getOwnPropertyDescriptor(thrown ?? {}, 'headers')
          assert.throws(() => ctx.onerror(thrown), /of onerror/)
          const isMade = thrown === 'text' && isKept && !isOwn
          assert.equal(isMade ? seen.cause : seen, thrown)
          assert.deepEqual(headers, { ...before?.value, ...isKept && seen instanceof Error && { 'X-A': 'a' } })
          if (!isMade) assert.deepEqual(Object.getOwnPropertyDescriptor(thrown ?? {}, 'headers'), before)
        }
      }
    }
  })
})
