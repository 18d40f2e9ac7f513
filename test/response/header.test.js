'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const engines = require('../helpers/engines')
const { response } = require('../helpers/context')

for (const name of ['header', 'headers']) {
  describe(`res.${name}`, () => {
    it('should be what was set, in lower case', () => {
      const res = response()
      res.set('X-Foo', 'bar')
      res.set('X-Number', 200)
      assert.deepEqual({ ...res[name] }, { 'x-foo': 'bar', 'x-number': '200' })
    })

    it('should be empty when a fake res has no headers at all', () => {
      const res = response()
      delete res.res._headers
      assert.deepEqual({ ...res[name] }, {})
    })
  })
}

engines('res.header', ({ it, see }) => {
  it('should have names in lower case and values as they were set', async () => {
    assert.deepEqual(await see(({ response }) => {
      response.set('X-Foo', 'bar')
      response.set('X-List', ['a', 'b'])
      return [response.header['x-foo'], response.headers['x-list'], response.header['X-Foo']]
    }, 'GET /'), ['bar', ['a', 'b'], undefined])
  })
})
