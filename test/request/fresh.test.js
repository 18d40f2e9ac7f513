'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

const matching = (method, status, headers = { 'if-none-match': '"123"' }) => {
  const ctx = context({ method, headers })
  ctx.status = status
  ctx.set('ETag', '"123"')
  return ctx
}

describe('ctx.fresh', () => {
  it('should be false for methods other than GET and HEAD', () => {
    assert.equal(matching('POST', 200).fresh, false)
    assert.equal(matching('GET', 200).fresh, true)
    assert.equal(matching('HEAD', 200).fresh, true)
  })

  it('should be false unless the status is 2xx or 304', () => {
    for (const status of [200, 204, 299, 304]) assert.equal(matching('GET', status).fresh, true)
    for (const status of [301, 400, 404, 500]) assert.equal(matching('GET', status).fresh, false)
  })

  it('should be false when the response does not match', () => {
    const ctx = matching('GET', 200, { 'if-none-match': '"999"' })
    assert.equal(ctx.fresh, false)
    assert.equal(ctx.stale, true)
  })

  it('should compare Last-Modified', () => {
    const ctx = context({ method: 'GET', headers: { 'if-modified-since': new Date(2e9).toUTCString() } })
    ctx.status = 200
    ctx.lastModified = new Date(1e9)
    assert.equal(ctx.fresh, true)
    ctx.lastModified = new Date(3e9)
    assert.equal(ctx.fresh, false)
  })
})

describe('ctx.stale', () => {
  it('should be the opposite of ctx.fresh', () => {
    assert.equal(matching('GET', 200).stale, false)
    assert.equal(matching('POST', 200).stale, true)
  })
})

engines('ctx.fresh', ({ it, ask }) => {
  it('should let an app respond with 304', async () => {
    const setup = app => app.use(ctx => {
      ctx.body = 'hello'
      ctx.etag = 'v1'
      if (ctx.fresh) ctx.status = 304
    })
    const fresh = await ask(setup, 'GET /', { headers: { 'if-none-match': '"v1"' } })
    assert.equal(fresh.status, 304)
    assert.equal(fresh.text, '')
    assert.equal(fresh.headers['content-type'], undefined)

    const forced = { 'if-none-match': '"v1"', 'cache-control': 'no-cache' }
    assert.equal((await ask(setup, 'GET /', { headers: forced })).status, 200)
  })
})
