'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const util = require('node:util')

const prototype = require(`${process.env.KONE_CLASS || 'kone'}/lib/context`)
const context = require('../helpers/context')
const engines = require('../helpers/engines')

const parts = ['request', 'response', 'app', 'originalUrl', 'req', 'res', 'socket']

describe('ctx.inspect()', () => {
  it('should be the JSON of the context', () => {
    const ctx = context()
    assert.deepEqual(ctx.inspect(), ctx.toJSON())
    assert.equal(util.inspect(ctx), util.inspect(ctx.toJSON()))
  })

  it('should be the prototype itself for the prototype', () => {
    assert.equal(prototype.inspect(), prototype)
    assert.doesNotThrow(() => util.inspect(prototype))
    assert.doesNotThrow(() => util.format('%o', prototype))
  })
})

describe('ctx.toJSON()', () => {
  it('should have the parts, node’s objects by name only', () => {
    const json = JSON.parse(JSON.stringify(context({ url: '/x' })))
    assert.deepEqual(Object.keys(json).sort(), [...parts].sort())
    assert.equal(json.req, '<original node req>')
    assert.equal(json.res, '<original node res>')
    assert.equal(json.socket, '<original node socket>')
    assert.equal(json.originalUrl, '/x')
    assert.equal(json.app.subdomainOffset, 2)
  })
})

engines('ctx.toJSON()', ({ it, see }) => {
  it('should have the parts of a real request', async () => {
    const json = await see(ctx => JSON.parse(JSON.stringify(ctx)), 'GET /a')
    assert.deepEqual(Object.keys(json).sort(), [...parts].sort())
    assert.equal(json.request.url, '/a')
    assert.equal(json.response.status, 404)
  })

  it('should not fail to be printed by util.inspect', async () => {
    assert.match(await see(ctx => util.inspect(ctx), 'GET /printed'), /printed/)
    assert.equal(typeof await see(ctx => util.inspect(ctx.request) + util.inspect(ctx.response), 'GET /'),
      'string')
  })
})
