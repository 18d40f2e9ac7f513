'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const engines = require('../helpers/engines')
const { request } = require('../helpers/context')

const hostname = headers => request({ headers }).hostname

describe('ctx.hostname', () => {
  it('should be the host without its port', () => {
    assert.equal(hostname({ host: 'example.com:3000' }), 'example.com')
    assert.equal(hostname({ host: 'example.com' }), 'example.com')
  })

  it("should be '' without a Host header", () => {
    assert.equal(hostname({}), '')
  })

  it('should keep the brackets of an IPv6 address', () => {
    assert.equal(hostname({ host: '[::1]:3000' }), '[::1]')
    assert.equal(hostname({ host: '[2001:cdba:0000:0000:0000:0000:3257:9652]:3000' }),
      '[2001:cdba::3257:9652]')
  })

  it("should be '' for a broken IPv6 address", () => {
    assert.equal(hostname({ host: '[invalidIPv6]' }), '')
    assert.equal(hostname({ host: '[::1' }), '')
  })

  it('should follow trust in X-Forwarded-Host', () => {
    const req = request({ headers: { 'x-forwarded-host': 'bar.com:80, baz.com', host: 'foo.com' } })
    assert.equal(req.hostname, 'foo.com')
    req.app.proxy = true
    assert.equal(req.hostname, 'bar.com')
  })
})

engines('ctx.hostname', ({ it, see }) => {
  it('should be read from the wire', async () => {
    assert.equal(await see(ctx => ctx.hostname, 'GET /', { headers: { host: 'a.example:81' } }),
      'a.example')
  })
})
