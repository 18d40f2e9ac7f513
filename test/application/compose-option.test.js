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

  it('should compose the middleware of the app', async () => {
    const calls = []
    const compose = middleware => {
      calls.push(middleware.length)
      return async ctx => { ctx.body = 'own compose' }
    }
    const res = await ask(app => app.use(() => assert.fail('is not run')), 'GET /', { app: { compose } })
    assert.equal(res.text, 'own compose')
    assert(calls.every(length => length >= 1) && calls.length >= 1)
  })

  it('should be called once per server or listener', async () => {
    let calls = 0
    const compose = middleware => {
      calls++
      return koaCompose(middleware)
    }
    const { ask } = await serve(app => app.use(ctx => { ctx.body = 'once' }), { compose })
    assert.equal((await ask('GET /')).text, 'once')
    assert.equal(calls, 1)
  })

  it('should work as a property', async () => {
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

  it('should respond with 500 when the composed function throws or rejects', async () => {
    const throwing = { compose: () => () => { throw new Error('sync') } }
    const rejecting = { compose: () => () => Promise.reject(new Error('async')) }
    assert.equal((await ask(() => {}, 'GET /', { app: throwing })).status, 500)
    assert.equal((await ask(() => {}, 'GET /', { app: rejecting })).status, 500)
  })
})
