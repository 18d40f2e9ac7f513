'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const engines = require('../helpers/engines')
const { response } = require('../helpers/context')

describe('ctx.message', () => {
  it('should be the message of the status', () => {
    const res = response()
    res.status = 200
    assert.equal(res.message, 'OK')
    delete res.res.statusMessage
    assert.equal(res.message, 'OK')
  })

  it('should be what was set', () => {
    const res = response()
    res.status = 200
    res.message = 'ok'
    assert.equal(res.res.statusMessage, 'ok')
    assert.equal(res.message, 'ok')
    assert.equal(res.inspect().message, 'ok')
  })
})

engines('ctx.message=', ({ it, ask, engine }) => {
  it('should be the reason on the wire and the body without a body', {
    skip: { http2: 'has no reason phrase', inject: 'sends no reason phrase' }
  }, async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.status = 402
      ctx.message = 'Money Please'
    }), 'GET /')
    assert.equal(res.message, 'Money Please')
    assert.equal(res.text, 'Money Please')
  })

  it('should not hinder any engine', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.status = 402
      ctx.message = 'Money Please'
      ctx.body = 'x'
    }), 'GET /')
    assert.equal(res.status, 402)
    assert.equal(res.text, 'x')
  })
})
