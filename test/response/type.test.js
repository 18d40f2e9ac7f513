'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')

describe('ctx.type=', () => {
  const table = [
    ['html', 'text/html; charset=utf-8'],
    ['.html', 'text/html; charset=utf-8'],
    ['text', 'text/plain; charset=utf-8'],
    ['json', 'application/json; charset=utf-8'],
    ['png', 'image/png'],
    ['bin', 'application/octet-stream'],
    ['js', 'application/javascript; charset=utf-8'],
    ['text/plain', 'text/plain; charset=utf-8'],
    ['text/html; charset=foo', 'text/html; charset=foo'],
    ['application/json', 'application/json; charset=utf-8'],
    ['image/png', 'image/png'],
    ['application/vnd.custom+json', 'application/vnd.custom+json']
  ]

  for (const [given, expected] of table) {
    it(`should make '${expected}' of '${given}'`, () => {
      const ctx = context()
      ctx.type = given
      assert.equal(ctx.response.get('Content-Type'), expected)
      assert.equal(ctx.type, expected.split(';')[0])
    })
  }

  it('should remove the header for what it does not know', () => {
    const ctx = context()
    for (const unknown of ['asdf', '', null, undefined, false]) {
      ctx.type = 'json'
      ctx.type = unknown
      assert.equal(ctx.response.has('Content-Type'), false)
      assert.equal(ctx.type, '')
    }
  })
})

describe('ctx.type', () => {
  it("should be '' when it is missing", () => {
    assert.equal(context().type, '')
    assert.equal(context().response.type, '')
  })
})
