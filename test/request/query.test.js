'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

const query = url => ({ ...context({ url }).query })

describe('ctx.query', () => {
  it('should be empty without a query', () => {
    assert.deepEqual(query('/'), {})
    assert.deepEqual(query('/?'), {})
  })

  it('should have the decoded pairs, repeated keys as arrays', () => {
    assert.deepEqual(query('/?page=2&color=blue&color=red'), { page: '2', color: ['blue', 'red'] })
    assert.deepEqual(query('/?q=a+b%20c&%C3%A9=%26'), { q: 'a b c', é: '&' })
    assert.deepEqual(query('/?a&b='), { a: '', b: '' })
  })

  it('should keep a value that is badly encoded', () => {
    assert.equal(context({ url: '/?a=%zz' }).query.a, '%zz')
    assert.equal(typeof context({ url: '/?a=%ff' }).query.a, 'string')
  })

  it('should be the same object at every read, and mutable', () => {
    const ctx = context({ url: '/?a=1' })
    ctx.query.b = '2'
    assert.equal(ctx.query.b, '2')
    assert.equal(ctx.request.query, ctx.query)
  })

  it('should follow the query string', () => {
    const ctx = context({ url: '/?a=1' })
    assert.equal(ctx.query.a, '1')
    ctx.url = '/?b=2'
    assert.equal(ctx.query.a, undefined)
    assert.equal(ctx.query.b, '2')
    ctx.querystring = 'c=3'
    assert.equal(ctx.query.c, '3')
  })
})

describe('ctx.query=', () => {
  it('should rewrite the query of the url', () => {
    const ctx = context({ url: '/store/shoes' })
    ctx.query = { page: 2, color: ['blue', 'red'], q: 'a b' }
    assert.equal(ctx.url, '/store/shoes?page=2&color=blue&color=red&q=a%20b')
    assert.equal(ctx.querystring, 'page=2&color=blue&color=red&q=a%20b')
    assert.equal(ctx.search, '?page=2&color=blue&color=red&q=a%20b')
    assert.deepEqual({ ...ctx.query }, { page: '2', color: ['blue', 'red'], q: 'a b' })
  })

  it('should leave ctx.originalUrl alone', () => {
    const ctx = context({ url: '/store?a=1' })
    ctx.query = { page: 2 }
    assert.equal(ctx.originalUrl, '/store?a=1')
  })
})

engines('ctx.query', ({ it, see }) => {
  it('should be read from the wire', async () => {
    assert.deepEqual(await see(ctx => ({ ...ctx.query }), 'GET /?a=1&b=2&a=3'), { a: ['1', '3'], b: '2' })
  })
})
