'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

const check = ctx => {
  ctx.set('X-Foo', '')
  return [ctx.has('X-Foo'), ctx.has('x-foo'), ctx.response.has('X-FOO'), ctx.has('x-bar')]
}

describe('ctx.has(name)', () => {
  it('should tell whether a header is set, even an empty one', () => {
    assert.deepEqual(check(context()), [true, true, true, false])
  })

  it('should use hasHeader when the fake has one', () => {
    const ctx = context({}, { hasHeader: name => name === 'only-this' })
    assert.equal(ctx.has('only-this'), true)
    assert.equal(ctx.has('x-foo'), false)
  })
})

engines('ctx.has(name)', ({ it, see }) => {
  it('should tell whether a header is set', async () => {
    assert.deepEqual(await see(check, 'GET /'), [true, true, true, false])
  })
})
