'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const engines = require('../helpers/engines')
const { request } = require('../helpers/context')

const length = value => request({ headers: { 'content-length': value } }).length

describe('req.length', () => {
  it('should be a number', () => {
    assert.equal(length('10'), 10)
    assert.equal(length('0'), 0)
  })

  it('should be undefined without a Content-Length', () => {
    assert.equal(request().length, undefined)
    assert.equal(length(''), undefined)
  })
})

engines('req.length', ({ it, see }) => {
  it('should be read from the wire', async () => {
    const options = { body: 'hello', headers: { 'content-length': '5' } }
    assert.equal(await see(ctx => ctx.request.length, 'POST /', options), 5)
    assert.equal(await see(ctx => ctx.request.length, 'GET /'), undefined)
  })
})
