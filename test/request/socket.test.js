'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

describe('ctx.socket', () => {
  it('should be req.socket, also one that is put there later', () => {
    const ctx = context()
    assert.equal(ctx.socket, ctx.req.socket)
    const socket = { encrypted: true, remoteAddress: '::1' }
    ctx.req.socket = socket
    assert.equal(ctx.socket, socket)
    assert.equal(ctx.request.socket, socket)
    assert.equal(ctx.protocol, 'https')
  })
})

engines('ctx.socket', ({ it, see }) => {
  it('should be the connection', { skip: { inject: 'has no connection' } }, async () => {
    const [address, same] = await see(ctx =>
      [ctx.socket.remoteAddress, ctx.request.socket === ctx.req.socket], 'GET /')
    assert.match(address, /127\.0\.0\.1$/)
    assert.equal(same, true)
  })

  it('should be an object everywhere', async () => {
    assert.equal(await see(ctx => typeof ctx.socket, 'GET /'), 'object')
    assert.equal(await see(ctx => !!ctx.socket.encrypted, 'GET /'), false)
  })
})
