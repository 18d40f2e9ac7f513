'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const vm = require('node:vm')
const statuses = require('statuses')

const { cors, requestId } = require('kone/middleware')
const Kone = require('../helpers/kone')
const context = require('../helpers/context')
const engines = require('../helpers/engines')

describe('ctx.onerror(err)', () => {
  test('should do nothing without an error, so that it can be a callback', () => {
    const app = new Kone()
    app.on('error', () => assert.fail('there was no error'))
    const ctx = context({}, { end: () => assert.fail('there was no error') }, app)
    assert.equal(ctx.onerror(null), undefined)
    assert.equal(ctx.onerror(undefined), undefined)
  })

  test('should respond over fakes without headersSent and getHeaderNames', () => {
    let ended
    const app = new Kone()
    app.on('error', () => {})
    const ctx = context({}, { end: text => { ended = text }, _headers: { 'x-before': '1' } }, app)
    ctx.onerror(Object.assign(new Error('boom'), { status: 418, expose: true, headers: { 'X-After': '2' } }))
    assert.equal(ctx.status, 418)
    assert.equal(ended, 'boom')
    assert.equal(ctx.response.get('x-before'), '')
  })

  test('should not throw over a fake that can neither be ended nor destroyed', () => {
    const reported = []
    const app = new Kone()
    app.on('error', err => reported.push(err.message))
    const ctx = context({}, {}, app)
    ctx.onerror(new Error('boom'))
    assert.deepEqual(reported, ['boom'])
  })

  test('should use the ctx.res that somebody put in its place', () => {
    const removed = []
    const app = new Kone()
    app.on('error', () => {})
    const ctx = context({}, {}, app)
    let ended
    ctx.res = {
      getHeaderNames: () => ['content-type', 'content-length'],
      removeHeader: name => removed.push(name),
      end: text => { ended = text }
    }
    ctx.onerror(new Error('boom'))
    assert.deepEqual(removed, ['content-type', 'content-length'])
    assert.equal(ended, 'Internal Server Error')
  })

  test('should not touch the app’s response when nothing can be written any more', () => {
    const seen = []
    const app = new Kone()
    app.on('error', error => seen.push(error.headerSent))
    const ctx = context({}, {
      end: () => assert.fail('the response is sent'),
      socket: { writable: false }
    }, app)
    ctx.onerror(new Error('late'))
    assert.deepEqual(seen, [true])
  })
})

engines('ctx.onerror(err)', ({ it, ask, serve, engine }) => {
  const failing = (error, before = () => {}) => ask(app => app.use(ctx => {
    before(ctx)
    throw error
  }), 'GET /')

  it('should respond with text, whatever was set before', async () => {
    const res = await failing(new Error('boom'), ctx => {
      ctx.type = 'html'
      ctx.body = '<p>'
      ctx.set({ Vary: 'Accept', 'X-CSRF-Token': 'asdf', 'Content-Encoding': 'gzip' })
      ctx.cookies.set('a', 'b')
    })
    assert.equal(res.status, 500)
    assert.equal(res.text, 'Internal Server Error')
    assert.equal(res.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(res.headers['content-length'], '21')
    for (const name of ['vary', 'x-csrf-token', 'content-encoding', 'set-cookie']) {
      assert.equal(res.headers[name], undefined)
    }
  })

  it('should set the headers of the error', async () => {
    const res = await failing(Object.assign(new Error('boom'), {
      status: 418, expose: true, headers: { 'X-New-Header': 'Value' }
    }))
    assert.equal(res.status, 418)
    assert.equal(res.text, 'boom')
    assert.equal(res.headers['x-new-header'], 'Value')
  })

  it('should respond with 404 to ENOENT', async () => {
    const res = await failing(Object.assign(new Error('no file'), { code: 'ENOENT' }))
    assert.equal(res.status, 404)
    assert.equal(res.text, 'Not Found')
  })

  it('should know a status that an app put into statuses', {
    skip: { http2: 'node’s HTTP/2 has no status above 599', fetch: 'a web Response has none, either' }
  }, async () => {
    statuses[799] = 'Own Reason'
    try {
      const res = await failing(Object.assign(new Error('x'), { status: 799 }))
      assert.equal(res.status, 799)
      assert.equal(res.text, 'Own Reason')
    } finally {
      delete statuses[799]
    }
  })

  it('should respond with a status below 400, as Koa does, and with 500 to one below 200', async () => {
    for (const [status, text] of [[200, 'x'], [202, 'x'], [204, ''], [302, 'x'], [304, '']]) {
      const res = await failing(Object.assign(new Error('x'), { status, expose: true, headers: { Location: '/a' } }))
      assert.deepEqual([res.status, res.text, res.headers.location], [status, text, '/a'])
    }
    for (const status of [100, 101, 103]) assert.equal((await failing(Object.assign(new Error('x'), { status }))).status, 500)
  })

  it('should take statusCode for status', async () => {
    assert.equal((await failing(Object.assign(new Error('x'), { statusCode: 400 }))).status, 400)
    assert.equal((await failing(Object.assign(new Error('x'), { status: 403, statusCode: 400 }))).status, 403)
  })

  it('should respond with 500 to a status that nobody knows', async () => {
    for (const status of ['notnumber', 9000, 600, undefined, NaN, null, {}, '404']) {
      const res = await failing(Object.assign(new Error('some error'), { status }))
      assert.equal(res.status, 500)
      assert.equal(res.text, 'Internal Server Error')
    }
  })

  it('should take an error of another realm for the error it is', async () => {
    const error = vm.runInNewContext("Object.assign(new Error('alien'), { status: 400, expose: true })")
    const res = await failing(error)
    assert.equal(res.status, 400)
    assert.equal(res.text, 'alien')
  })

  it('should give the app the error and the ctx, once', async () => {
    const seen = []
    const boom = new Error('boom')
    await ask(app => {
      app.on('error', (error, ctx) => seen.push([error, ctx.path]))
      app.use(() => { throw boom })
    }, 'GET /path')
    assert.deepEqual(seen, [[boom, '/path']])
  })

  it('should mark an error that came too late with headerSent', async () => {
    const seen = []
    const res = await ask(app => {
      app.on('error', error => seen.push([error.message, error.headerSent]))
      app.use(async ctx => {
        ctx.status = 200
        ctx.res.setHeader('X-Foo', 'Bar')
        ctx.res.end('done')
        throw new Error('mock error')
      })
    }, 'GET /')
    assert.equal(res.status, 200)
    assert.equal(res.headers['x-foo'], 'Bar')
    assert.equal(res.text, 'done')
    assert.deepEqual(seen, [['mock error', true]])
  })

  it('should be called on ctx by whoever has an error of its own', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.respond = false
      setImmediate(() => ctx.onerror(Object.assign(new Error('own'), { status: 402, expose: true })))
    }), 'GET /')
    assert.equal(res.status, 402)
    assert.equal(res.text, 'own')
  })

  it('should be replaceable by the app', async () => {
    const res = await ask(app => {
      app.context.onerror = function (error) {
        if (!error) return
        this.status = 503
        this.res.end(`own: ${error.message}`)
      }
      app.use(() => { throw new Error('boom') })
    }, 'GET /')
    assert.equal(res.status, 503)
    assert.equal(res.text, 'own: boom')
  })

  for (const [title, middleware] of Object.entries({ alone: [], 'behind middleware that keeps headers': [requestId(), cors()] })) {
    it(`should get what was thrown if it is the app's own, and an Error for null and undefined: ${title}`, async () => {
      const thrown = [{ status: 400, message: 'no' }, 'text', 0, false, null, undefined, new Error('x')]
      const seen = []
      const { ask, close } = await serve(app => {
        app.context.onerror = function (err) {
          if (err == null) return
          seen.push(err)
          this.res.end()
        }
        for (const one of [...middleware, ctx => { throw thrown[ctx.query.i] }]) app.use(one)
      })
      for (const i of thrown.keys()) await ask(`GET /?i=${i}`)
      await close()
      assert.deepEqual(seen.slice(0, 4), thrown.slice(0, 4))
      assert(seen.slice(4, 6).every(err => err instanceof Error && err.code === 'KONE_ERR_NON_ERROR'))
      assert.equal(seen[6], thrown[6])
      assert.equal(seen.length, thrown.length)
    })
  }

  it('should respond to errors of rejected promises and of errors after await', async () => {
    assert.equal((await ask(app => app.use(() => Promise.reject(new Error('x'))), 'GET /')).status, 500)
    const late = await ask(app => app.use(async (ctx, next) => {
      await next()
      ctx.throw(402)
    }).use(ctx => { ctx.body = 'body' }), 'GET /')
    assert.equal(late.status, 402)
    assert.equal(late.text, 'Payment Required')
  })

  if (engine === 'http2') return

  it('should get a response under a reason that cannot be sent', {
    skip: { http2: 'has no reason phrase' }
  }, async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.req.httpVersionMajor = 2 // as `GET / HTTP/2.0` has it on HTTP/1: no status sets a reason then
      ctx.res.statusMessage = 'a\r\nb'
      throw new Error('boom')
    }), 'GET /')
    assert.equal(res.status, 500)
    assert.equal(res.text, 'Internal Server Error')
  })

  it('should cut the connection when node refuses the response after making its headers', {
    skip: { http2: 'node counts no lengths' }
  }, async () => {
    const errors = []
    const asked = ask(app => {
      app.on('error', error => errors.push(error.code))
      app.use(ctx => {
        ctx.res.strictContentLength = true
        ctx.body = 'five5'
        ctx.set('Trailer', 'X-Sum')
      })
    }, 'GET /')
    await assert.rejects(asked, { code: 'ECONNRESET' })
    assert.deepEqual(errors, ['ERR_HTTP_TRAILER_INVALID'])
  })

  it('should keep the reason of the status', async () => {
    assert.equal((await failing(Object.assign(new Error('x'), { status: 402 }))).message, 'Payment Required')
  })
})
