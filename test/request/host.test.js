'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const engines = require('../helpers/engines')
const { request } = require('../helpers/context')

const host = (headers, { proxy, ...req } = {}) => {
  const one = request({ headers, ...req })
  one.app.proxy = proxy
  return one.host
}

describe('ctx.host', () => {
  it('should be the Host header with its port', () => {
    assert.equal(host({ host: 'example.com' }), 'example.com')
    assert.equal(host({ host: 'example.com:3000' }), 'example.com:3000')
    assert.equal(host({ host: '[::1]:3000' }), '[::1]:3000')
  })

  it("should be '' without a Host header", () => {
    assert.equal(host({}), '')
  })

  it('should ignore X-Forwarded-Host without trust', () => {
    assert.equal(host({ 'x-forwarded-host': 'evil.com', host: 'example.com' }), 'example.com')
  })

  it('should take the first X-Forwarded-Host when proxies are trusted', () => {
    assert.equal(host({ 'x-forwarded-host': 'bar.com, baz.com', host: 'example.com' }, { proxy: true }),
      'bar.com')
    assert.equal(host({ host: 'example.com' }, { proxy: true }), 'example.com')
  })

  it('should read app.proxy at every access', () => {
    const one = request({ headers: { host: 'a.com', 'x-forwarded-host': 'b.com' } })
    assert.equal(one.host, 'a.com')
    one.app.proxy = true
    assert.equal(one.host, 'b.com')
    one.app.proxy = false
    assert.equal(one.host, 'a.com')
  })

  it('should follow a Host that is changed later', () => {
    const one = request({ headers: { host: 'a.com' } })
    assert.equal(one.host, 'a.com')
    one.req.headers.host = 'b.com'
    assert.equal(one.host, 'b.com')
  })

  describe('in HTTP/2', () => {
    const req = { httpVersionMajor: 2, httpVersion: '2.0' }

    it('should prefer :authority to Host', () => {
      assert.equal(host({ ':authority': 'a.com:3000', host: 'b.com' }, req), 'a.com:3000')
      assert.equal(host({ host: 'b.com' }, req), 'b.com')
    })

    it('should prefer a trusted X-Forwarded-Host to both', () => {
      assert.equal(host({ 'x-forwarded-host': 'c.com', ':authority': 'a.com', host: 'b.com' },
        { ...req, proxy: true }), 'c.com')
      assert.equal(host({ 'x-forwarded-host': 'c.com', ':authority': 'a.com', host: 'b.com' }, req),
        'a.com')
    })

    it('should notice when the version is set late', () => {
      const one = request({ headers: { ':authority': 'a.com', host: 'b.com' } })
      assert.equal(one.host, 'b.com')
      one.req.httpVersionMajor = 2
      assert.equal(one.host, 'a.com')
    })
  })

  it('should not let userinfo in front pass for the host', () => {
    assert(['', 'evil.com'].includes(host({ host: 'good.com@evil.com' })))
    assert(!host({ host: 'user:pass@evil.com:80' }).includes('@'))
  })
})

engines('ctx.host', ({ it, see }) => {
  const headers = { host: 'example.com:8080', 'x-forwarded-host': 'front.example' }

  it('should be read from the wire', async () => {
    assert.equal(await see(ctx => ctx.host, 'GET /', { headers }), 'example.com:8080')
  })

  it('should be the proxy’s when that is trusted', async () => {
    assert.equal(await see(ctx => ctx.host, 'GET /', { headers, app: { proxy: true } }),
      'front.example')
  })
})
