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

  it('should read no more than 1,024 characters of a field with quotes', () => {
    const accept = `text/plain;a="${','.repeat(400)}", application/json, text/html;b="${','.repeat(1000)}", image/png`
    const ctx = context({ headers: { accept, 'accept-language': 'de' } })
    assert(ctx.accept instanceof Accepts)
    assert.equal(ctx.accepts('json', 'png'), 'json')
    assert.equal(ctx.accepts('png'), false)
    assert.equal(ctx.acceptsLanguages('en', 'de'), 'de')
    assert.equal(context({ headers: { accept: `"${'x'.repeat(2000)}` } }).accepts('png', 'json'), 'png') // as without one
  })

  it('should read a long field without quotes whole', () => {
    const ctx = context({ headers: { accept: `${'text/x, '.repeat(1000)}image/png` } })
    assert.equal(ctx.accepts('json', 'png'), 'png')
  })
})
