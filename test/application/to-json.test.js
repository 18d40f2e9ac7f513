'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const util = require('node:util')

const Kone = require('../helpers/kone')

describe('app.toJSON() and app.inspect()', () => {
  const app = new Kone({ env: 'test', proxy: true })
  const expected = { subdomainOffset: 2, proxy: true, env: 'test' }

  it('should be the settings', () => {
    assert.deepEqual(app.toJSON(), expected)
    assert.deepEqual(app.inspect(), expected)
    assert.equal(JSON.stringify(app), JSON.stringify(expected))
  })

  it('should be what util.inspect shows', () => {
    assert.equal(util.inspect(app), util.inspect(expected))
    assert.equal(app[util.inspect.custom], app.inspect)
  })
})
