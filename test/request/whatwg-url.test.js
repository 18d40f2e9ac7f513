'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')

describe('ctx.URL', () => {
  it('should be a WHATWG URL of the request', () => {
    const ctx = context({ url: '/users/1?next=/dashboard', headers: { host: 'localhost:3000' } })
    const { href, host, hostname, protocol, pathname, search, origin } = ctx.URL
    assert(ctx.URL instanceof URL)
    assert.deepEqual({ href, host, hostname, protocol, pathname, search, origin }, {
      href: 'http://localhost:3000/users/1?next=/dashboard',
      host: 'localhost:3000',
      hostname: 'localhost',
      protocol: 'http:',
      pathname: '/users/1',
      search: '?next=/dashboard',
      origin: 'http://localhost:3000'
    })
  })

  it('should know IPv6', () => {
    assert.equal(context({ url: '/', headers: { host: '[::1]:3000' } }).URL.host, '[::1]:3000')
  })

  it('should be memoised', () => {
    const ctx = context({ url: '/users/1', headers: { host: 'localhost' } })
    const { URL } = ctx
    ctx.req.url = '/changed'
    assert.equal(ctx.URL, URL)
    assert.equal(ctx.request.URL, URL)
  })

  it('should be an empty object without a prototype when it cannot be parsed', () => {
    for (const host of ['invalid host', '[invalidIPv6]']) {
      const { URL } = context({ url: '/', headers: { host } })
      assert.equal(Object.getPrototypeOf(URL), null)
      assert.deepEqual(Object.keys(URL), [])
    }
  })
})
