'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const { request } = require('../helpers/context')

const subdomains = (host, offset) => {
  const req = request({ headers: { host } })
  if (offset !== undefined) req.app.subdomainOffset = offset
  return req.subdomains
}

describe('ctx.subdomains', () => {
  it('should list what stands before the domain, nearest first', () => {
    assert.deepEqual(subdomains('tobi.ferrets.example.com'), ['ferrets', 'tobi'])
    assert.deepEqual(subdomains('example.com'), [])
    assert.deepEqual(subdomains('tobi.example.com:3000'), ['tobi'])
  })

  it('should follow app.subdomainOffset', () => {
    assert.deepEqual(subdomains('tobi.ferrets.example.com', 3), ['tobi'])
    assert.deepEqual(subdomains('tobi.ferrets.example.com', 0), ['com', 'example', 'ferrets', 'tobi'])
  })

  it('should be empty for an address', () => {
    assert.deepEqual(subdomains('127.0.0.1'), [])
    assert.deepEqual(subdomains('127.0.0.1:3000'), [])
    assert.deepEqual(subdomains('[::1]:3000'), [])
  })

  it('should be empty without a host', () => {
    assert.deepEqual(request().subdomains, [])
  })
})
