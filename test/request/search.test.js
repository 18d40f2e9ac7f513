'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')

describe('ctx.search', () => {
  it('should be the query with its question mark', () => {
    assert.equal(context({ url: '/store?page=2' }).search, '?page=2')
  })

  it("should be '' without a query", () => {
    assert.equal(context({ url: '/store' }).search, '')
    assert.equal(context({ url: '/store?' }).search, '')
  })
})

describe('ctx.search=', () => {
  it('should replace the query, with and without a question mark', () => {
    const ctx = context({ url: '/store/shoes' })
    ctx.search = '?page=2&color=blue'
    assert.equal(ctx.url, '/store/shoes?page=2&color=blue')
    assert.equal(ctx.querystring, 'page=2&color=blue')
    ctx.search = 'page=3'
    assert.equal(ctx.url, '/store/shoes?page=3')
    assert.equal(ctx.search, '?page=3')
  })

  it('should take the query away when empty', () => {
    const ctx = context({ url: '/store?page=2' })
    ctx.search = ''
    assert.equal(ctx.url, '/store')
  })

  it('should leave ctx.originalUrl alone', () => {
    const ctx = context({ url: '/store/shoes' })
    ctx.search = '?page=2'
    assert.equal(ctx.originalUrl, '/store/shoes')
  })
})
