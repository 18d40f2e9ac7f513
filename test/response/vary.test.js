'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

describe('ctx.vary(field)', () => {
  it('should set, add, and add once', () => {
    const ctx = context()
    ctx.vary('Accept')
    ctx.vary('Accept-Encoding')
    ctx.response.vary('accept')
    assert.equal(ctx.response.header.vary, 'Accept, Accept-Encoding')
  })

  it('should take a list', () => {
    const ctx = context()
    ctx.vary(['Accept', 'Origin'])
    assert.equal(ctx.response.get('Vary'), 'Accept, Origin')
  })

  it('should keep *', () => {
    const ctx = context()
    ctx.vary('*')
    ctx.vary('Accept')
    assert.equal(ctx.response.get('Vary'), '*')
  })

  it('should do nothing when the headers are sent', () => {
    const ctx = context({}, { headersSent: true })
    ctx.vary('Accept')
    assert.equal(ctx.response.get('Vary'), '')
  })

  it('should refuse a field that is no name', () => {
    assert.throws(() => context().vary('a b'), TypeError)
  })
})

engines('ctx.vary()', ({ it, ask }) => {
  it('should be on the wire', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.vary('Accept')
      ctx.vary('Origin')
      ctx.body = ''
    }), 'GET /')
    assert.equal(res.headers.vary, 'Accept, Origin')
  })
})
