'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

describe('ctx.url', () => {
  it('should be the target of the request', () => {
    assert.equal(context({ url: '/users/1?next=/dash' }).url, '/users/1?next=/dash')
  })

  it('should follow req.url and set it', () => {
    const ctx = context({ url: '/a' })
    ctx.req.url = '/b?x=1'
    assert.equal(ctx.url, '/b?x=1')
    assert.equal(ctx.path, '/b')
    ctx.url = '/c?y=2'
    assert.equal(ctx.req.url, '/c?y=2')
    assert.equal(ctx.querystring, 'y=2')
  })

  it('should leave ctx.originalUrl alone', () => {
    const ctx = context({ url: '/a' })
    ctx.url = '/b'
    assert.equal(ctx.originalUrl, '/a')
    assert.equal(ctx.request.originalUrl, '/a')
  })
})

engines('ctx.url', ({ it, see }) => {
  it('should be what was asked for, byte by byte', async () => {
    for (const target of ['/', '/a/%2e%41/b?c=%20&d', '//double//slash', '/?', '/a?b?c']) {
      assert.equal(await see(ctx => ctx.url, `GET ${target}`), target)
    }
  })

  it('should keep dot segments', { skip: { fetch: 'the URL of a Request is normalised' } }, async () => {
    for (const target of ['/a/%2e%2E/b', '/a/../b', '/.']) {
      assert.equal(await see(ctx => ctx.url, `GET ${target}`), target)
    }
  })

  it('should be rewritable before the next middleware', async () => {
    const seen = await see(ctx => {
      ctx.url = '/rewritten?a=1'
      return [ctx.path, ctx.query.a, ctx.req.url, ctx.originalUrl]
    }, 'GET /asked')
    assert.deepEqual(seen, ['/rewritten', '1', '/rewritten?a=1', '/asked'])
  })
})
