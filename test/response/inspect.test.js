'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const util = require('node:util')

const { response } = require('../helpers/context')

const filled = () => {
  const res = response()
  res.body = 'hello'
  return res
}

describe('res.inspect()', () => {
  it('should be undefined without res', () => {
    const res = filled()
    delete res.res
    assert.equal(res.inspect(), undefined)
    assert.equal(util.inspect(res), 'undefined')
  })

  it('should be the JSON of the response and its body', () => {
    const expected = {
      status: 200,
      message: 'OK',
      header: { 'content-type': 'text/plain; charset=utf-8', 'content-length': '5' },
      body: 'hello'
    }
    assert.deepEqual(filled().inspect(), expected)
    assert.equal(util.inspect(filled()), util.inspect(expected))
  })
})

describe('res.toJSON()', () => {
  it('should have status, message and header', () => {
    assert.deepEqual(filled().toJSON(), {
      status: 200,
      message: 'OK',
      header: { 'content-type': 'text/plain; charset=utf-8', 'content-length': '5' }
    })
  })
})
