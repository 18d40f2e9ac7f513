'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

describe('ctx.get(name)', () => {
  const ctx = context({ headers: { host: 'http://google.com', referer: 'http://google.com', 'x-a': '1' } })

  it('should be the header, whatever the case of its name', () => {
    assert.equal(ctx.get('HOST'), 'http://google.com')
    assert.equal(ctx.get('Host'), 'http://google.com')
    assert.equal(ctx.request.get('X-A'), '1')
  })

  it("should be '' when the header is missing", () => {
    assert.equal(ctx.get('x-missing'), '')
    assert.equal(ctx.get(''), '')
  })

  it('should take referer and referrer for one', () => {
    assert.equal(ctx.get('referer'), 'http://google.com')
    assert.equal(ctx.get('Referrer'), 'http://google.com')
    assert.equal(context({ headers: { referrer: 'http://a.com' } }).get('referer'), 'http://a.com')
    assert.equal(context().get('referrer'), '')
  })

  it('should not take anything but a string for a name', () => {
    assert.throws(() => ctx.get(undefined), TypeError)
    assert.throws(() => ctx.get(1), TypeError)
  })
})

engines('ctx.get(name)', ({ it, see }) => {
  it('should read the wire', async () => {
    const headers = { 'X-Custom': 'a, b', Referer: 'http://a.example/', cookie: 'a=1; b=2', 'set-cookie': 'x=1' }
    assert.deepEqual(await see(ctx => [
      ctx.get('x-custom'), ctx.get('Referrer'), ctx.get('cookie'), ctx.get('Set-Cookie'), ctx.get('Nope')
    ], 'GET /', { headers }), ['a, b', 'http://a.example/', 'a=1; b=2', ['x=1'], ''])
  })
})
