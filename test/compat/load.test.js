'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const Client = require('./real/client')

describe('a request of a real application for a load generator', () => {
  it('should have the method, the path, and a body of the type that it names', () => {
    const json = { method: 'POST', path: '/users', headers: { 'content-type': 'application/json' }, body: '{"name":"Ada"}' }
    assert.deepEqual(Client.request('POST /users', { json: { name: 'Ada' } }), json)
    const form = { ...json, headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'name=Ada+L' }
    assert.deepEqual(Client.request('POST /users', { form: { name: 'Ada L' } }), form)
  })

  it('should leave other headers and bodies as they are', () => {
    const headers = { 'content-type': 'text/csv', accept: '*/*' }
    assert.deepEqual(Client.request('PUT /a', { headers, body: 'a,b' }), { method: 'PUT', path: '/a', headers, body: 'a,b' })
    const { headers: own } = Client.request('GET /', { headers })
    own.accept = 'text/html'
    assert.equal(headers.accept, '*/*')
  })
})
