'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

describe('ctx.remove(name)', () => {
  it('should remove a header, whatever the case of its name', () => {
    const ctx = context()
    ctx.set('x-foo', 'bar')
    ctx.remove('X-Foo')
    assert.deepEqual({ ...ctx.response.header }, {})
  })

  it('should do nothing when the headers are sent', () => {
    const ctx = context({}, { headersSent: true })
    ctx.res._headers['x-foo'] = 'bar'
    ctx.remove('x-foo')
    assert.equal(ctx.response.get('x-foo'), 'bar')
  })
})

engines('ctx.remove()', ({ it, ask }) => {
  it('should keep a header off the wire', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.set('X-Foo', 'bar')
      ctx.body = 'hello'
      ctx.remove('x-foo')
      ctx.remove('Content-Type')
    }), 'GET /')
    assert.equal(res.headers['x-foo'], undefined)
    assert.equal(res.headers['content-type'], undefined)
    assert.equal(res.text, 'hello')
  })
})
