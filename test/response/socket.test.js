'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

describe('res.socket', () => {
  it('should be the socket of res', () => {
    const socket = { writable: true }
    assert.equal(context({}, { socket }).response.socket, socket)
  })
})

engines('res.socket', ({ it, see }) => {
  it('should be the connection of the request', { skip: { inject: 'has no connection' } }, async () => {
    assert.equal(await see(ctx => ctx.response.socket === ctx.request.socket ||
      ctx.response.socket.remotePort === ctx.request.socket.remotePort, 'GET /'), true)
  })
})
