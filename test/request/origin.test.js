'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

describe('ctx.origin', () => {
  const req = { url: '/users/1?next=/dashboard', headers: { host: 'localhost:3000' } }

  it('should be scheme and host', () => {
    assert.equal(context(req).origin, 'http://localhost:3000')
  })

  it('should say https over TLS', () => {
    assert.equal(context({ ...req, socket: { encrypted: true } }).origin, 'https://localhost:3000')
  })

  it('should stay the same when the url is rewritten', () => {
    const ctx = context(req)
    ctx.url = '/foo/bar'
    assert.equal(ctx.origin, 'http://localhost:3000')
    assert.equal(ctx.request.origin, 'http://localhost:3000')
  })

  it('should not be the Origin header', () => {
    const ctx = context({ ...req, headers: { ...req.headers, origin: 'http://evil.com' } })
    assert.equal(ctx.origin, 'http://localhost:3000')
  })
})

engines('ctx.origin', ({ it, see }) => {
  it('should be read from the wire', async () => {
    const headers = { host: 'a.example:81', 'x-forwarded-proto': 'https' }
    assert.equal(await see(ctx => ctx.origin, 'GET /', { headers }), 'http://a.example:81')
    assert.equal(await see(ctx => ctx.origin, 'GET /', { headers, app: { proxy: true } }),
      'https://a.example:81')
  })
})
