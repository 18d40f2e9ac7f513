'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

describe('ctx.method', () => {
  it('should be the method of the request', () => {
    assert.equal(context({ method: 'PUT' }).method, 'PUT')
  })

  it('should follow req.method and set it', () => {
    const ctx = context({ method: 'GET' })
    ctx.req.method = 'POST'
    assert.equal(ctx.method, 'POST')
    ctx.method = 'DELETE'
    assert.equal(ctx.req.method, 'DELETE')
    assert.equal(ctx.request.method, 'DELETE')
  })
})

engines('ctx.method', ({ it, see }) => {
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'SEARCH']) {
    it(`should be ${method}`, async () => {
      assert.equal(await see(ctx => ctx.method, `${method} /`), method)
    })
  }
})
