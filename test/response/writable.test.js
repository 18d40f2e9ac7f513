'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

describe('ctx.writable', () => {
  it('should be true without a socket: the response is queued', () => {
    assert.equal(context({}, { socket: null }).writable, true)
  })

  it('should be what the socket says', () => {
    assert.equal(context({}, { socket: { writable: true } }).writable, true)
    assert.equal(context({}, { socket: { writable: false } }).response.writable, false)
  })

  it('should be false when the response has ended', () => {
    assert.equal(context({}, { socket: null, writableEnded: true }).writable, false)
    assert.equal(context({}, { socket: null, finished: true }).writable, false)
  })
})

engines('ctx.writable', ({ it, ask }) => {
  it('should turn false at the end of the response', async () => {
    const seen = []
    await ask(app => app.use(async ctx => {
      seen.push(ctx.writable)
      ctx.res.end('hello')
      seen.push(ctx.writable)
    }), 'GET /')
    assert.deepEqual(seen, [true, false])
  })
})
