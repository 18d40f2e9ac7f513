'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const parseurl = require('parseurl')

const context = require('../helpers/context')

describe('ctx.querystring', () => {
  it('should be what follows the question mark', () => {
    assert.equal(context({ url: '/store/shoes?page=2&color=blue' }).querystring, 'page=2&color=blue')
    assert.equal(context({ url: '/a?b?c' }).querystring, 'b?c')
  })

  it("should be '' without a query", () => {
    assert.equal(context({ url: '/store' }).querystring, '')
    assert.equal(context({ url: '/store?' }).querystring, '')
  })

  it("should be '' when req is gone", () => {
    const ctx = context({ url: '/?a=1' })
    ctx.request.req = null
    assert.equal(ctx.querystring, '')
  })
})

describe('ctx.querystring=', () => {
  it('should replace the query', () => {
    const ctx = context({ url: '/store/shoes?page=1' })
    ctx.querystring = 'page=2&color=blue'
    assert.equal(ctx.url, '/store/shoes?page=2&color=blue')
    assert.equal(ctx.search, '?page=2&color=blue')
    assert.equal(ctx.querystring, 'page=2&color=blue')
    assert.equal(ctx.req.url, '/store/shoes?page=2&color=blue')
  })

  it('should leave ctx.originalUrl alone', () => {
    const ctx = context({ url: '/store/shoes' })
    ctx.querystring = 'page=2'
    assert.equal(ctx.originalUrl, '/store/shoes')
  })

  it('should not touch the url when nothing changes', () => {
    const ctx = context({ url: '/login?foo=bar' })
    ctx.querystring = 'foo=bar'
    assert.equal(ctx.url, '/login?foo=bar')
  })

  it('should stay in step with parseurl, which other middleware uses', () => {
    const ctx = context({ url: '/login?foo=bar' })
    assert.equal(parseurl(ctx.req).query, 'foo=bar')
    ctx.querystring = 'foo=baz'
    assert.equal(parseurl(ctx.req).query, 'foo=baz')
    ctx.path = '/logout'
    assert.equal(parseurl(ctx.req).pathname, '/logout')
  })
})
