'use strict'

const assert = require('node:assert/strict')
const koaCompose = require('koa-compose')

const Kone = require('../helpers/kone')
const engines = require('../helpers/engines')

engines('the compose option', ({ it, ask, serve }) => {
  it('should default to kone’s own', () => {
    assert.equal(typeof new Kone().compose, 'function')
    if (Kone.compose) assert.equal(new Kone().compose, Kone.compose)
  })

  it('should compose the middleware of the app, once per server or listener', async () => {
    const calls = []
    const compose = middleware => {
      calls.push(middleware.length)
      return async ctx => { ctx.body = 'own compose' }
    }
    const { ask } = await serve(app => app.use(() => assert.fail('is not run')), { compose })
    for (let i = 0; i < 2; i++) assert.equal((await ask('GET /')).text, 'own compose')
    assert(calls.length === 1 && calls[0] >= 1, String(calls)) // an engine may add one
  })

  it('should count when it is assigned to app.compose', async () => {
    const res = await ask(app => {
      app.compose = () => async ctx => { ctx.body = 'property' }
    }, 'GET /')
    assert.equal(res.text, 'property')
  })

  it('should take koa-compose', async () => {
    const { ask } = await serve(app => {
      app.use(async (ctx, next) => {
        await next()
        ctx.body += ' world'
      })
      app.use(ctx => { ctx.body = 'hello' })
    }, { compose: koaCompose })
    assert.equal((await ask('GET /')).text, 'hello world')
  })

  const rejected = () => Promise.reject(new Error('x'))
  const failures = {
    throws: () => { throw new Error('x') },
    rejects: rejected,
    'returns no promise': () => {},
    'returns the Proxy of a promise, whose then() throws': () => new Proxy(rejected().catch(() => {}), {}),
    'returns what inherits from Promise alone': () => Object.create(Promise.prototype)
  }
  for (const env of ['development', 'production']) {
    for (const [title, fail] of Object.entries(failures)) {
      it(`should respond with 500 when the composed function ${title}, in ${env}`, async () => {
        assert.equal((await ask(() => {}, 'GET /', { app: { compose: () => fail, env } })).status, 500)
      })
    }
  }

  for (const title of Object.keys(failures).slice(3)) {
    it(`should respond with 500 when a middleware ${title}`, async () => {
      assert.equal((await ask(app => app.use(failures[title]), 'GET /', { app: { env: 'production' } })).status, 500)
    })
  }
})
