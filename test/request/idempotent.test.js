'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')

describe('ctx.idempotent', () => {
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE']) {
    it(`should be true for ${method}`, () => {
      assert.equal(context({ method }).idempotent, true)
    })
  }

  for (const method of ['POST', 'PATCH', 'get', '']) {
    it(`should be false for '${method}'`, () => {
      assert.equal(context({ method }).request.idempotent, false)
    })
  }
})
