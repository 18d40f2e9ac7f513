'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')

describe('ctx.lastModified', () => {
  const date = new Date('2024-05-06T07:08:09Z')

  it('should set the header as UTC and be read as a date', () => {
    const ctx = context()
    ctx.lastModified = date
    assert.equal(ctx.response.get('Last-Modified'), 'Mon, 06 May 2024 07:08:09 GMT')
    assert.deepEqual(ctx.lastModified, date)
  })

  it('should take a string', () => {
    const ctx = context()
    ctx.response.lastModified = date.toISOString()
    assert.equal(ctx.response.get('Last-Modified'), date.toUTCString())
  })

  it('should be undefined when it is not set', () => {
    assert.equal(context().lastModified, undefined)
  })
})
