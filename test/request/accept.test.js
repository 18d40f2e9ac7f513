'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const Accepts = require('accepts')

const context = require('../helpers/context')

describe('ctx.accept', () => {
  it('should be an Accepts of the shared package', () => {
    assert(context().accept instanceof Accepts)
    assert(context().request.accept instanceof Accepts)
  })

  it('should be memoised', () => {
    const ctx = context()
    assert.equal(ctx.accept, ctx.accept)
    assert.equal(ctx.accept, ctx.request.accept)
  })

  it('should be replaceable', () => {
    const ctx = context({ headers: { accept: 'text/plain' } })
    assert.deepEqual(ctx.accepts(), ['text/plain'])
    ctx.accept = new Accepts({ headers: { accept: 'application/*;q=.2, image/jpeg;q=.8, text/html' } })
    assert.deepEqual(ctx.accepts(), ['text/html', 'image/jpeg', 'application/*'])
    assert.equal(ctx.request.accepts('html', 'json'), 'html')
  })
})
