'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const engines = require('../helpers/engines')
const { request } = require('../helpers/context')

const protocol = ({ proxy, encrypted = false, forwarded }) => {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-proto': forwarded }
  const req = request({ headers, socket: { encrypted } })
  req.app.proxy = proxy
  return req.protocol
}

describe('ctx.protocol', () => {
  it('should be https over TLS, http otherwise', () => {
    assert.equal(protocol({ encrypted: true }), 'https')
    assert.equal(protocol({ encrypted: false }), 'http')
  })

  it('should be https when the socket says so later', () => {
    const req = request()
    req.req.socket = { encrypted: true }
    assert.equal(req.protocol, 'https')
  })

  it('should believe a trusted X-Forwarded-Proto', () => {
    assert.equal(protocol({ proxy: true, forwarded: 'https' }), 'https')
    assert.equal(protocol({ proxy: true, forwarded: 'http, https' }), 'http')
    assert.equal(protocol({ proxy: true, forwarded: '' }), 'http')
    assert.equal(protocol({ proxy: true }), 'http')
  })

  it('should not believe one that is not trusted', () => {
    assert.equal(protocol({ proxy: false, forwarded: 'https' }), 'http')
  })
})

describe('ctx.secure', () => {
  it('should be true for https alone', () => {
    assert.equal(request({ socket: { encrypted: true } }).secure, true)
    assert.equal(request({ socket: { encrypted: false } }).secure, false)
  })
})

engines('ctx.protocol', ({ it, see }) => {
  it('should be read from the wire', async () => {
    const headers = { 'x-forwarded-proto': 'https' }
    const read = ctx => [ctx.protocol, ctx.secure]
    assert.deepEqual(await see(read, 'GET /', { headers }), ['http', false])
    assert.deepEqual(await see(read, 'GET /', { headers, app: { proxy: true } }), ['https', true])
  })
})
