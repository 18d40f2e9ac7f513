'use strict'

const assert = require('node:assert/strict')
const util = require('node:util')
const { helmet } = require('kone/middleware')

const engines = require('../helpers/engines')
const hostile = require('../helpers/hostile')

/* eslint-disable no-throw-literal */

engines('whatever is thrown', ({ it, ask, serve, engine }) => {
  /** The response of an app, and the errors that it reports. */
  async function report (setup) {
    const errors = []
    const env = engine === 'http1' ? undefined : 'production' // development asks V8's inspector for the place of each
    const res = await ask(app => {
      app.on('error', error => errors.push(error))
      setup(app)
    }, 'GET /', { app: { env } })
    return { res, errors }
  }

  const throwing = (message, fields) => report(app => app.use(() => { throw Object.assign(new Error(message), fields) }))

  function assertBlank ({ res, errors }, why) {
    assert.equal(res.status, 500, why)
    assert.equal(res.text, 'Internal Server Error', why)
    assert.equal(errors.length, 1, why)
  }

  for (const value of [
    null, undefined, 'text', '', 0, 42, NaN, false, 10n, Symbol('s'), {}, { status: 404, message: 'x', expose: true },
    [], () => {}, Object.create(null), new Map(), new Proxy({}, {}),
    { toJSON () { throw new Error('no') } }, { toString () { throw new Error('no') } }
  ]) {
    for (const [way, middleware] of Object.entries({
      thrown: () => { throw value },
      'rejected with': async () => { throw value }
    })) {
      it(`should be sent as a 500 and reported once: ${util.inspect(value)} ${way}`, async () => {
        const found = await report(app => app.use(middleware))
        assertBlank(found)
        const [error] = found.errors
        assert(error instanceof Error)
        assert.match(error.message, /^non-error thrown: /)
        assert.equal(error.cause, value)
        assert.equal(error.code, 'KONE_ERR_NON_ERROR')
      })
    }
  }

  const fail = () => { throw new Error('hostile') }

  for (const [title, middleware] of Object.entries({ alone: [], 'behind middleware that keeps headers': [helmet()] })) {
    it(`should be a 500 and reported once if looking at it throws: ${title}`, async () => {
      const values = Object.fromEntries(hostile())
      const errors = []
      const app = await serve(app => {
        app.on('error', error => errors.push(error))
        for (const one of middleware) app.use(one)
        app.use(async ({ query }) => { throw values[query.name]() })
      }, { env: 'production' })
      for (const name of Object.keys(values)) {
        errors.length = 0
        assertBlank({ res: await app.ask(`GET /?name=${encodeURIComponent(name)}`), errors }, name)
      }
    })
  }

  it('should be printed as well as it can be, and end nothing, if looking at it throws', async t => {
    const printed = t.mock.method(console, 'error', () => {})
    const app = await serve(app => {
      app.silent = false
      app.use(() => { throw Object.defineProperty(new Error('x'), 'stack', { get: fail }) })
    })
    assert.equal((await app.ask('GET /')).status, 500)
    assert.equal(printed.mock.callCount(), 1)
  })

  for (const [where, setup] of Object.entries({
    'behind await next()': app => app.use(async (ctx, next) => {
      await next()
      throw null
    }),
    'behind next().then()': app => app.use((ctx, next) => next().then(() => { throw undefined })),
    'in a final': app => app.final(() => { throw null }),
    'in an async final': app => app.final(async () => { throw undefined }),
    'by ctx.throw()': app => app.use(ctx => ctx.throw(null))
  })) {
    it(`should be a 500 also ${where}`, async () => assertBlank(await report(setup)))
  }

  const REFUSED = [{ 'X-A': 'a\r\nX-B: b' }, { 'X-A': '☃' }, { 'X A': 'a' }, { 'X-A': ['ok', 'a\nb'] }]

  it('should get a response when its headers cannot be sent', async () => {
    for (const headers of [
      ...REFUSED, { '': 'a' }, { 'X-A': Symbol('a') }, 'text', 42, [['X-A', 'b']], { 'X-A': { toString () { throw new Error('no') } } }
    ]) {
      const { res, errors } = await throwing('boom', { status: 400, expose: true, headers })
      assert(res.status === 500 || res.status === 400, util.inspect(headers))
      assert.equal(res.headers['x-b'], undefined)
      assert.equal(res.headers['content-type'], 'text/plain; charset=utf-8')
      assert.deepEqual(errors.map(({ message }) => message), ['boom'])
    }
  })

  it('should respond with 500 to headers that node refuses', {
    skip: { http2: 'node leaves values to the client of HTTP/2' }
  }, async () => {
    for (const headers of REFUSED) assertBlank(await throwing('boom', { status: 400, expose: true, headers }))
  })

  it('should get a whole response whatever length its headers claim', async () => {
    const headers = { 'Content-Length': '1000', 'Transfer-Encoding': 'chunked', 'Content-Type': 'text/html' }
    const { res } = await throwing('short', { status: 400, expose: true, headers })
    assert.equal(res.headers['content-length'], '5')
    assert.equal(res.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(res.text, 'short')
  })

  it('should get a response when its message is not a string', async () => {
    for (const message of [undefined, null, 42, {}, Symbol('m')]) {
      const error = Object.defineProperty(Object.assign(new Error(), { status: 400, expose: true }), 'message', { value: message })
      const { res } = await report(app => app.use(() => { throw error }))
      assert.deepEqual([res.status, res.text], [400, 'Bad Request'])
    }
  })

  it('should get a response when the error is frozen', async () => {
    const error = Object.freeze(Object.assign(new Error('cold'), { status: 409, expose: true }))
    const { res } = await report(app => app.use(() => { throw error }))
    assert.deepEqual([res.status, res.text], [409, 'cold'])
  })

  it('should not be able to hide behind a body that cannot be serialised', async () => {
    const cycle = {}
    cycle.self = cycle
    for (const body of [
      cycle, { n: 1n }, { toJSON () { throw new Error('no') } }, () => {}, Symbol('s'), { toJSON () {} }, 1n
    ]) {
      const found = await report(app => app.use(ctx => { ctx.body = body }))
      assertBlank(found)
      if (engine !== 'http2') assert.equal(found.res.headers['content-length'], '21')
    }
  })
})
