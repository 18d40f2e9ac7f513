'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { Duplex } = require('node:stream')

const Kone = require('../helpers/kone')
const context = require('../helpers/context')
const engines = require('../helpers/engines')

const from = (remoteAddress, headers = {}) => ({ headers, socket: { remoteAddress } })

describe('ctx.ip', () => {
  it('should be the address of the socket', () => {
    assert.equal(context(from('127.0.0.2')).ip, '127.0.0.2')
    assert.equal(context(from('::1')).request.ip, '::1')
  })

  it('should be the first of ctx.ips when proxies are trusted', () => {
    const app = new Kone({ proxy: true })
    assert.equal(context(from('127.0.0.2', { 'x-forwarded-for': '10.0.0.1, 10.0.0.2' }), undefined, app).ip,
      '10.0.0.1')
  })

  it('should be memoised, so that it is known when the socket is gone', () => {
    let remoteAddress = '127.0.0.1'
    const socket = Object.defineProperty(new Duplex(), 'remoteAddress', { get: () => remoteAddress })
    const ctx = context({ socket })
    assert.equal(ctx.ip, '127.0.0.1')
    remoteAddress = undefined
    assert.equal(ctx.ip, '127.0.0.1')
  })

  it("should be '' on a socket without an address", () => {
    assert.equal(context(from(undefined)).ip, '')
  })

  it('should be settable', () => {
    const ctx = context(from('127.0.0.1'))
    ctx.request.ip = '127.0.0.9'
    assert.equal(ctx.ip, '127.0.0.9')
    assert.equal(ctx.request.ip, '127.0.0.9')
  })
})

engines('ctx.ip', ({ it, see }) => {
  const headers = { 'x-forwarded-for': '10.1.1.1' }

  it('should be the peer', { skip: { inject: 'has no peer' } }, async () => {
    assert.match(await see(ctx => ctx.ip, 'GET /', { headers }), /^(::ffff:)?127\.0\.0\.1$/)
  })

  it('should be the client that a trusted proxy names', async () => {
    assert.equal(await see(ctx => ctx.ip, 'GET /', { headers, app: { proxy: true } }), '10.1.1.1')
  })
})
