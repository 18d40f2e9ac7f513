'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

describe('ctx.headerSent', () => {
  it('should be res.headersSent', () => {
    assert.equal(context({}, { headersSent: true }).headerSent, true)
    assert.equal(context({}, { headersSent: false }).response.headerSent, false)
  })
})

engines('ctx.headerSent', ({ it, ask }) => {
  it('should turn true when the headers go out, and make the setters silent', async () => {
    const seen = []
    const res = await ask(app => app.use(async ctx => {
      ctx.status = 201
      ctx.set('X-A', '1')
      seen.push(ctx.headerSent)
      ctx.res.write('hello')
      seen.push(ctx.headerSent)
      ctx.status = 500
      ctx.set('X-B', '2')
      ctx.remove('X-A')
      ctx.vary('Accept')
      ctx.res.end()
    }), 'GET /')
    assert.deepEqual(seen, [false, true])
    assert.equal(res.status, 201)
    assert.equal(res.headers['x-a'], '1')
    assert.equal(res.headers['x-b'], undefined)
    assert.equal(res.text, 'hello')
  })
})
