'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const { setImmediate } = require('node:timers/promises')
const statuses = require('statuses')

const { cors, requestId } = require('kone/middleware')
const Kone = require('../helpers/kone')
const context = require('../helpers/context')
const engines = require('../helpers/engines')
const until = require('../helpers/until')

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
  it('should know a status that an app put into statuses', {
    skip: { http2: 'node’s HTTP/2 has no status above 599', fetch: 'a web Response has none, either' }
  }, async () => {
    statuses[799] = 'Own Reason'
    try {
      const res = await ask(app => app.use(() => { throw Object.assign(new Error('x'), { status: 799 }) }), 'GET /')
      assert.equal(res.status, 799)
      assert.equal(res.text, 'Own Reason')
    } finally {
      delete statuses[799]
    }
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

  for (const [line, status] of [['HEAD /', 500], ['HEAD /', 204], ['GET /', 204], ['GET /', 205], ['GET /', 304]]) {
    it(`should report one error, and send the response, without a body: ${line} with ${status}`, async () => {
      const errors = []
      const outcomes = []
      const { ask, close } = await serve(app => {
        app.on('error', err => errors.push(err.message))
        app.use(ctx => {
          ctx.onFinished(err => outcomes.push(err))
          throw Object.assign(new Error('boom'), { status })
        })
      })
      assert.equal((await ask(line)).status, status)
      await until(() => outcomes.length > 0)
      assert.deepEqual([errors, outcomes], [['boom'], [null]])
      await close()
    })
  }

  const BEGIN = {
    'ctx.flushHeaders()': ctx => { ctx.flushHeaders() },
    'res.flushHeaders()': ({ res }) => { res.flushHeaders() },
    'res.writeHead()': ({ res }) => { res.writeHead(201, { 'Content-Length': 5 }) },
    'res.write()': ({ res }) => { res.write('begun') }
  }

  for (const [how, begin] of Object.entries(BEGIN)) {
    for (const moment of ['at once', 'later']) {
      it(`should close the connection of a response that the app began by ${how}, ${moment}: nobody waits`, async () => {
        const errors = []
        const outcomes = []
        const { ask, close } = await serve(app => {
          app.on('error', err => errors.push([err.message, err.headerSent]))
          app.use(ctx => {
            ctx.onFinished(err => outcomes.push(err?.code))
            begin(ctx)
            if (moment === 'at once') throw new Error('boom')
            return setImmediate().then(() => { throw new Error('boom') })
          })
        })
        const { complete } = await ask('GET /').catch(() => ({ complete: false }))
        assert.equal(complete, false)
        await until(() => outcomes.length > 0)
        assert.deepEqual([errors, outcomes], [[['boom', true]], ['KONE_ERR_RESPONSE_LOST']])
        await close()
      })
    }
  }

  for (const [how, begin] of Object.entries(BEGIN)) {
    it(`should leave a response that the app began by ${how} to a ctx.onerror of its own, which ends it later`, async () => {
      const res = await ask(app => {
        app.context.onerror = function (err) {
          if (err) setImmediate().then(() => this.res.end(err.message))
        }
        app.use(ctx => {
          begin(ctx)
          throw new Error('ended')
        })
      }, 'GET /')
      assert.deepEqual([res.text, res.complete], [how === 'res.write()' ? 'begunended' : 'ended', true])
    })
  }

  it('should leave a response to the app that has set ctx.respond to false', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.respond = false
      ctx.res.write('be')
      setImmediate().then(() => ctx.res.end('gun'))
      throw new Error('boom')
    }), 'GET /')
    assert.equal(res.text, 'begun')
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
})
