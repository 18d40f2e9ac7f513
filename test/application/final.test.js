'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')

const Kone = require('../helpers/kone')
const engines = require('../helpers/engines')

describe('app.final(fn)', () => {
  test('should give the app back', () => {
    const app = new Kone()
    assert.equal(app.final(() => {}), app)
  })
})

engines('app.final()', ({ it, ask, serve }) => {
  it('should run in order, after the onion has unwound, with ctx alone', async () => {
    const calls = []
    const res = await ask(app => {
      app.final((...args) => calls.push(`final 1 of ${args.length}`))
      app.use(async (ctx, next) => {
        await next()
        await new Promise(resolve => setImmediate(resolve))
        calls.push('onion')
        ctx.body = 'body'
      })
      app.final(() => { calls.push('final 2') })
    }, 'GET /')
    assert.equal(res.text, 'body')
    assert.deepEqual(calls, ['onion', 'final 1 of 1', 'final 2'])
  })

  it('should still change status, headers and body', async () => {
    const res = await ask(app => app.use(ctx => { ctx.body = { a: 1 } }).final(ctx => {
      ctx.status = 201
      ctx.set('X-Final', String(ctx.length))
      ctx.body = { wrapped: ctx.body }
    }), 'GET /')
    assert.equal(res.status, 201)
    assert.equal(res.headers['x-final'], '7')
    assert.deepEqual(res.json(), { wrapped: { a: 1 } })
  })

  it('should wait for promises, one after the other', async () => {
    const calls = []
    const res = await ask(app => {
      app.use(ctx => { ctx.body = 'a' })
      app.final(async ctx => {
        await new Promise(resolve => setTimeout(resolve, 2))
        calls.push(1)
        ctx.body += 'b'
      })
      app.final(ctx => {
        calls.push(2)
        ctx.body += 'c'
      })
      app.final(async ctx => {
        await null
        calls.push(3)
        ctx.body += 'd'
      })
    }, 'GET /')
    assert.equal(res.text, 'abcd')
    assert.deepEqual(calls, [1, 2, 3])
  })

  it('should run for sync and async onions, and for none', async () => {
    const tag = app => app.final(ctx => ctx.set('X-Final', 'yes'))
    const onions = [
      app => tag(app),
      app => tag(app).use(ctx => { ctx.body = 'x' }),
      app => tag(app).use((ctx, next) => { next() }),
      app => tag(app).use(async (ctx, next) => next()).use(async ctx => { ctx.body = 'x' })
    ]
    for (const setup of onions) {
      assert.equal((await ask(setup, 'GET /')).headers['x-final'], 'yes')
    }
  })

  it('should respond with what a final throws, or rejects with, as any error', async () => {
    for (const fn of [() => { throw new Error('boom') }, async () => { throw new Error('boom') }]) {
      const errors = []
      const res = await ask(app => {
        app.on('error', error => errors.push(error.message))
        app.use(ctx => { ctx.body = 'x' })
        app.final(fn)
        app.final(() => errors.push('not run'))
      }, 'GET /')
      assert.equal(res.status, 500)
      assert.deepEqual(errors, ['boom'])
    }
  })

  it('should be skipped when the onion failed', async () => {
    const res = await ask(app => {
      app.use(() => { throw new Error('boom') })
      app.final(ctx => ctx.set('X-Final', 'yes'))
    }, 'GET /')
    assert.equal(res.status, 500)
    assert.equal(res.headers['x-final'], undefined)
  })

  it('should be skipped when ctx.respond is false or the headers are sent', async () => {
    let calls = 0
    const count = app => app.final(() => { calls++ })
    await ask(app => count(app).use(ctx => {
      ctx.respond = false
      setImmediate(() => ctx.res.end())
    }), 'GET /')
    await ask(app => count(app).use(ctx => ctx.res.end('out')), 'GET /')
    assert.equal(calls, 0)
  })

  it('should be registrable while requests come', async () => {
    const { app, ask } = await serve(app => app.use(ctx => { ctx.body = 'x' }))
    assert.equal((await ask('GET /')).text, 'x')
    app.final(ctx => { ctx.body = 'y' })
    assert.equal((await ask('GET /')).text, 'y')
  })
})
