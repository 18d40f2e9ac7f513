'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const { request } = require('../helpers/context')

describe('req.type', () => {
  it('should be the content type without its parameters', () => {
    assert.equal(request({ headers: { 'content-type': 'text/html; charset=utf-8' } }).type, 'text/html')
    assert.equal(request({ headers: { 'content-type': 'image/png' } }).type, 'image/png')
  })

  it("should be '' when it is missing", () => {
    assert.equal(request().type, '')
  })
})
