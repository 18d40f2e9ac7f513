'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const util = require('node:util')

const engines = require('../helpers/engines')
const { request } = require('../helpers/context')

const fake = { method: 'GET', url: '/example', headers: { host: 'example.com' } }
const expected = { method: 'GET', url: '/example', header: { host: 'example.com' } }

describe('req.inspect()', () => {
  it('should be undefined without req', () => {
    const req = request()
    req.method = 'GET'
    delete req.req
    assert.equal(req.inspect(), undefined)
    assert.equal(util.inspect(req), 'undefined')
  })

  it('should be the JSON of the request', () => {
    const req = request(fake)
    assert.deepEqual(req.inspect(), expected)
    assert.equal(util.inspect(req), util.inspect(expected))
  })
})

describe('req.toJSON()', () => {
  it('should have method, url and header', () => {
    assert.deepEqual(request(fake).toJSON(), expected)
    assert.equal(JSON.stringify(request(fake)), JSON.stringify(expected))
  })

  it('should leave out what is not there', () => {
    assert.deepEqual(request({ url: '/' }).toJSON(), { url: '/', header: {} })
  })
})

engines('req.toJSON()', ({ it, see }) => {
  it('should show the request of the wire', async () => {
    const json = await see(ctx => JSON.parse(JSON.stringify(ctx.request)), 'GET /a?b', { headers: { 'x-c': 'd' } })
    assert.equal(json.method, 'GET')
    assert.equal(json.url, '/a?b')
    assert.equal(json.header['x-c'], 'd')
  })
})
