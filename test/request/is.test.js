'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

const typed = type => context({
  headers: { 'transfer-encoding': 'chunked', ...(type !== undefined && { 'content-type': type }) }
})

describe('ctx.is()', () => {
  it('should be null without a body', () => {
    assert.equal(context({ headers: { 'content-type': 'text/html' } }).is(), null)
    assert.equal(context().is('image/*'), null)
  })

  it('should be false without a usable type', () => {
    assert.equal(typed().is('image/*'), false)
    assert.equal(typed('').is('image/*'), false)
    assert.equal(typed('text').is('text/*'), false)
  })

  it('should be the type when none is asked for', () => {
    assert.equal(typed('text/html; charset=utf-8').is(), 'text/html')
  })

  it('should be the match in the form it was asked for', () => {
    const ctx = typed('image/png')
    assert.equal(ctx.is('png'), 'png')
    assert.equal(ctx.is('.png'), '.png')
    assert.equal(ctx.is('image/png'), 'image/png')
    assert.equal(ctx.request.is('image/*'), 'image/png')
    assert.equal(ctx.is('text/*', 'image/*'), 'image/png')
    assert.equal(ctx.is(['application/*', 'image/png']), 'image/png')
    assert.equal(ctx.is('jpeg'), false)
    assert.equal(ctx.is('text/*', 'application/*'), false)
  })

  it('should know urlencoded', () => {
    const ctx = typed('application/x-www-form-urlencoded')
    assert.equal(ctx.is('urlencoded'), 'urlencoded')
    assert.equal(ctx.is('json', 'urlencoded'), 'urlencoded')
  })
})

engines('ctx.is()', ({ it, see }) => {
  it('should read the headers of the wire', async () => {
    const options = { body: '{}', headers: { 'content-type': 'application/json', 'content-length': '2' } }
    assert.equal(await see(ctx => ctx.is('html', 'json'), 'POST /', options), 'json')
    assert.equal(await see(ctx => ctx.is('json'), 'GET /'), null)
  })
})
