'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

describe('ctx.href', () => {
  it('should be the whole url', () => {
    const ctx = context({ url: '/users/1?next=/dashboard', headers: { host: 'localhost' } })
    assert.equal(ctx.href, 'http://localhost/users/1?next=/dashboard')
  })

  it('should be made of the url that was asked for', () => {
    const ctx = context({ url: '/users/1', headers: { host: 'localhost' } })
    ctx.url = '/foo/users/1'
    assert.equal(ctx.href, 'http://localhost/users/1')
  })

  it('should be an absolute-form target of the same host as it stands', () => {
    const ctx = context({ url: 'http://example.com/foo', headers: { host: 'example.com' } })
    assert.equal(ctx.href, 'http://example.com/foo')
  })
})

engines('ctx.href', ({ it, see }) => {
  it('should be read from the wire', async () => {
    assert.equal(await see(ctx => ctx.href, 'GET /foo?bar=1', { headers: { host: 'a.example:81' } }),
      'http://a.example:81/foo?bar=1')
  })
})
