'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const { response } = require('../helpers/context')

describe('res.get(name)', () => {
  it('should be the header, whatever the case of its name', () => {
    const res = response()
    res.set('X-Foo', 'bar')
    assert.equal(res.get('X-Foo'), 'bar')
    assert.equal(res.get('x-foo'), 'bar')
    assert.equal(res.get('x-FOO'), 'bar')
  })

  it('should be an array for several values', () => {
    const res = response()
    res.set('Set-Cookie', ['a=1', 'b=2'])
    assert.deepEqual(res.get('set-cookie'), ['a=1', 'b=2'])
  })

  it("should be '' when it is not set", () => {
    assert.equal(response().get('x-foo'), '')
  })
})
