'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const { request } = require('../helpers/context')

const charset = type => request({ headers: type === undefined ? {} : { 'content-type': type } }).charset

describe('req.charset', () => {
  it('should be the parameter of the content type', () => {
    assert.equal(charset('text/plain; charset=utf-8'), 'utf-8')
    assert.equal(charset('text/plain; charset="ISO-8859-1"'), 'ISO-8859-1')
  })

  it("should be '' when it is missing", () => {
    assert.equal(charset(), '')
    assert.equal(charset('text/plain'), '')
  })

  it("should be '' when the type cannot be parsed", () => {
    assert.equal(charset('application/json; application/text; charset=utf-8'), '')
    assert.equal(charset('/'), '')
  })
})
