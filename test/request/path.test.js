'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

describe('ctx.path', () => {
  it('should be the target without its query', () => {
    assert.equal(context({ url: '/login?next=/dashboard' }).path, '/login')
  })

  it('should not decode', () => {
    assert.equal(context({ url: '/a%20b/%2e' }).path, '/a%20b/%2e')
  })
})

describe('ctx.path=', () => {
  it('should keep the query', () => {
    const ctx = context({ url: '/login?next=/dashboard' })
    ctx.path = '/logout'
    assert.equal(ctx.path, '/logout')
    assert.equal(ctx.url, '/logout?next=/dashboard')
    assert.equal(ctx.req.url, '/logout?next=/dashboard')
  })

  it('should leave ctx.originalUrl alone', () => {
    const ctx = context({ url: '/login' })
    ctx.path = '/logout'
    assert.equal(ctx.originalUrl, '/login')
  })

  it('should not touch the url when the path is the same', () => {
    const ctx = context({ url: '/login?foo=bar' })
    ctx.path = '/login'
    assert.equal(ctx.url, '/login?foo=bar')
  })

  it('should work after the url was rewritten', () => {
    const ctx = context({ url: '/a?x=1' })
    assert.equal(ctx.path, '/a')
    ctx.req.url = '/b?y=2'
    ctx.path = '/c'
    assert.equal(ctx.url, '/c?y=2')
  })
})

engines('ctx.path', ({ it, see }) => {
  it('should be read from the wire', async () => {
    assert.equal(await see(ctx => ctx.path, 'GET /a/b%2Fc?d=/e'), '/a/b%2Fc')
    assert.equal(await see(ctx => ctx.path, 'GET //evil.example/a'), '//evil.example/a')
  })

  it('should be seen by the middleware after the one that set it', async () => {
    assert.deepEqual(await see(ctx => {
      ctx.path = '/set'
      return [ctx.url, ctx.req.url, ctx.originalUrl]
    }, 'GET /asked?a=1'), ['/set?a=1', '/set?a=1', '/asked?a=1'])
  })
})
