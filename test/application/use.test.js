'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')

const Kone = require('../helpers/kone')
const engines = require('../helpers/engines')

describe('app.use(fn)', () => {
  test('should give the app back', () => {
    const app = new Kone()
    assert.equal(app.use(() => {}), app)
  })

  test('should push to app.middleware, in order', () => {
    const app = new Kone()
    const [one, two] = [() => {}, async () => {}]
    app.use(one).use(two)
    assert.deepEqual(app.middleware, [one, two])
  })

  for (const value of [null, undefined, 0, false, 'not a function', {}, []]) {
    test(`should refuse ${JSON.stringify(value)}`, () => {
      assert.throws(() => new Kone().use(value),
        { name: 'TypeError', message: 'middleware must be a function!' })
    })
  }
})

engines('app.use()', ({ it, ask, serve }) => {
  it('should take middleware that comes after the server was started', async () => {
    const { app, ask } = await serve(app => app.use((ctx, next) => next()))
    assert.equal((await ask('GET /')).status, 404)
    app.use(ctx => { ctx.body = 'late' })
    assert.equal((await ask('GET /')).text, 'late')
  })

  it('should see what is pushed to and popped from app.middleware, as dd-trace does', async () => {
    const { app, ask } = await serve(app => app.use(ctx => { ctx.body = 'original' }))
    assert.equal((await ask('GET /')).text, 'original')
    const original = app.middleware.pop()
    app.middleware.push(async (ctx, next) => {
      await original(ctx, next)
      ctx.body = `wrapped ${ctx.body}`
    })
    assert.equal((await ask('GET /')).text, 'wrapped original')
  })

  it('should respond behind 10,000 layers', async () => {
    for (const layer of [(ctx, next) => next(), async (ctx, next) => { await next() }]) {
      const res = await ask(app => {
        for (let i = 0; i < 10000; i++) app.use(layer)
        app.use(ctx => { ctx.body = 'bottom' })
      }, 'GET /')
      assert.equal(res.text, 'bottom')
    }
  })
})
