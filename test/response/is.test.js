'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const { response } = require('../helpers/context')

const typed = type => {
  const res = response()
  if (type) res.type = type
  return res
}

describe('res.is()', () => {
  it('should be false without a type', () => {
    assert.equal(typed().is(), false)
    assert.equal(typed().is('html'), false)
  })

  it('should be the type when none is asked for', () => {
    assert.equal(typed('text/html; charset=utf-8').is(), 'text/html')
  })

  it('should be the match in the form it was asked for', () => {
    const res = typed('image/png')
    assert.equal(res.is('png'), 'png')
    assert.equal(res.is('.png'), '.png')
    assert.equal(res.is('image/*'), 'image/png')
    assert.equal(res.is('text/*', 'image/*'), 'image/png')
    assert.equal(res.is(['text/*', 'png']), 'png')
    assert.equal(res.is('jpeg'), false)
    assert.equal(typed('application/x-www-form-urlencoded').is('urlencoded'), 'urlencoded')
  })
})
