'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

const back = (headers, ...args) => {
  const ctx = context({ url: '/', headers: { host: 'example.com', ...headers } })
  ctx.back(...args)
  return ctx.response.header.location
}

describe('ctx.back(alt)', () => {
  it('should go where the client came from', () => {
    assert.equal(back({ referrer: '/login' }), '/login')
    assert.equal(back({ referer: 'http://example.com/list' }), 'http://example.com/list')
  })

  it('should go to alt, or /, without a referrer', () => {
    assert.equal(back({}, '/index.html'), '/index.html')
    assert.equal(back({}), '/')
  })

  it('should not follow a referrer of another host', () => {
    for (const referrer of ['http://other.example/', 'http://example.com:8080/', 'ftp://example.com/']) {
      assert.equal(back({ referrer }, '/home'), '/home')
    }
  })

  it('should follow one of another scheme, because a proxy may end TLS', () => {
    assert.equal(back({ referrer: 'https://example.com/list' }), 'https://example.com/list')
    assert.equal(back({ host: 'example.com:443', referrer: 'https://example.com/' }), 'https://example.com/')
  })

  it('should be on the response too, and set the status', () => {
    const ctx = context({ url: '/', headers: {} })
    ctx.response.back('/x')
    assert.equal(ctx.status, 302)
    assert.equal(ctx.response.get('Location'), '/x')
  })
})

engines('ctx.back()', ({ it, ask }) => {
  it('should follow the referrer of the wire', async () => {
    const headers = { host: 'a.example', referer: 'http://a.example/list' }
    const res = await ask(app => app.use(ctx => ctx.back('/home')), 'GET /', { headers })
    assert.equal(res.status, 302)
    assert.equal(res.headers.location, 'http://a.example/list')
  })
})
