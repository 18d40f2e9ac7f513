'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')

describe('ctx.etag', () => {
  it('should leave quoted and weak tags alone', () => {
    const ctx = context()
    for (const tag of ['"asdf"', 'W/"asdf"']) {
      ctx.etag = tag
      assert.equal(ctx.response.header.etag, tag)
      assert.equal(ctx.etag, tag)
    }
  })

  it('should quote the others', () => {
    const ctx = context()
    ctx.response.etag = 'asdf'
    assert.equal(ctx.etag, '"asdf"')
    ctx.etag = 'W/asdf'
    assert.equal(ctx.etag, '"W/asdf"')
  })

  it("should be '' when it is not set", () => {
    assert.equal(context().etag, '')
  })
})
