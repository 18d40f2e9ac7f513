'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const engines = require('../helpers/engines')
const { request } = require('../helpers/context')

for (const name of ['header', 'headers']) {
  describe(`req.${name}`, () => {
    it('should be the headers of the request', () => {
      const headers = { host: 'example.com' }
      assert.equal(request({ headers })[name], headers)
    })

    it('should see what the app changes in req.headers later', () => {
      const req = request()
      req.req.headers['x-late'] = 'yes'
      assert.equal(req[name]['x-late'], 'yes')
    })

    it('should replace req.headers when set', () => {
      const req = request({ headers: { host: 'example.com' } })
      const headers = { 'x-custom': 'yes' }
      req[name] = headers
      assert.equal(req.req.headers, headers)
      assert.equal(req.header, headers)
      assert.equal(req.headers, headers)
      assert.equal(req.get('X-Custom'), 'yes')
      assert.equal(req.get('Host'), '')
    })
  })
}

engines('ctx.headers', ({ it, see }) => {
  const headers = { 'X-Custom': 'one', 'x-empty': '', cookie: 'a=1' }

  it('should have lower-case names', async () => {
    const seen = await see(ctx => ({ ...ctx.headers }), 'GET /', { headers })
    assert.equal(seen['x-custom'], 'one')
    assert.equal(seen['x-empty'], '')
    assert.equal(seen.cookie, 'a=1')
    assert.equal(seen['X-Custom'], undefined)
  })

  it('should be one object, however it is asked for', async () => {
    assert(await see(ctx => ctx.headers === ctx.header && ctx.headers === ctx.request.headers &&
      ctx.headers === ctx.req.headers, 'GET /', { headers }))
  })

  it('should let ctx.get() see a header that the app set or removed', async () => {
    const seen = await see(ctx => {
      const before = ctx.get('x-custom')
      ctx.headers['x-custom'] = 'two'
      ctx.req.headers['x-new'] = 'new'
      delete ctx.header.cookie
      return [before, ctx.get('x-custom'), ctx.get('x-new'), ctx.get('cookie')]
    }, 'GET /', { headers })
    assert.deepEqual(seen, ['one', 'two', 'new', ''])
  })

  it('should let a replaced object win everywhere', {
    skip: { http2: 'node’s Http2ServerRequest has no setter for headers' }
  }, async () => {
    const seen = await see(ctx => {
      ctx.request.headers = { host: 'else.where', accept: 'text/html' }
      return [ctx.host, ctx.get('x-custom'), ctx.accepts('json', 'html'), ctx.req.headers.host]
    }, 'GET /', { headers })
    assert.deepEqual(seen, ['else.where', '', 'html', 'else.where'])
  })
})
