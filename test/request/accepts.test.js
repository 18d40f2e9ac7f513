'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

const accepting = accept => context({ headers: accept === undefined ? {} : { accept } })

describe('ctx.accepts()', () => {
  it('should list what the client accepts, best first', () => {
    assert.deepEqual(accepting('application/*;q=.2, image/jpeg;q=.8, text/html, text/plain').accepts(),
      ['text/html', 'text/plain', 'image/jpeg', 'application/*'])
  })

  it('should be everything without an Accept header', () => {
    assert.deepEqual(accepting().accepts(), ['*/*'])
  })
})

describe('ctx.accepts(types)', () => {
  const ctx = accepting('text/plain;q=.5, application/json')

  it('should be the best match, in the form it was asked for', () => {
    assert.equal(ctx.accepts('json', 'text'), 'json')
    assert.equal(ctx.accepts(['text', 'json']), 'json')
    assert.equal(ctx.accepts('text/plain'), 'text/plain')
    assert.equal(ctx.accepts('.json', 'text'), '.json')
    assert.equal(ctx.accepts('png', 'text', 'html'), 'text')
  })

  it('should be false without a match', () => {
    assert.equal(ctx.accepts('image/png', 'png'), false)
    assert.equal(accepting('foo').accepts('text/plain'), false)
  })

  it('should be the first without an Accept header', () => {
    assert.equal(accepting().accepts('text', 'html'), 'text')
    assert.equal(accepting('').accepts('image/png', 'html'), 'image/png')
  })

  it('should know wildcards', () => {
    assert.equal(accepting('text/*;q=.5, application/json').accepts('html'), 'html')
    assert.equal(accepting('*/*').accepts('html'), 'html')
    assert.equal(accepting('image/*').accepts('html'), false)
  })
})

engines('ctx.accepts()', ({ it, see }) => {
  it('should read the header of the wire', async () => {
    const headers = { accept: 'text/html;q=.1, application/json' }
    assert.equal(await see(ctx => ctx.accepts('html', 'json'), 'GET /', { headers }), 'json')
  })
})
