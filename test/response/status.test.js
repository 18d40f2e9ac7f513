'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const statuses = require('statuses')

const context = require('../helpers/context')
const engines = require('../helpers/engines')
const { response } = require('../helpers/context')

describe('ctx.status=', () => {
  it('should set the code and its message', () => {
    const res = response({ httpVersionMajor: 1 })
    res.status = 403
    assert.equal(res.res.statusCode, 403)
    assert.equal(res.res.statusMessage, 'Forbidden')
    assert.equal(res.status, 403)
  })

  it('should set no message in HTTP/2', () => {
    const res = response({ httpVersionMajor: 2, httpVersion: '2.0' })
    res.status = 200
    assert.equal(res.res.statusMessage, undefined)
  })

  it('should take a code that nobody knows, without a message', () => {
    const res = response()
    res.status = 700
    assert.equal(res.res.statusCode, 700)
    assert.equal(res.res.statusMessage, undefined)
  })

  it('should refuse what is no code', () => {
    const res = response()
    for (const code of [99, 1000, 0, -1]) {
      assert.throws(() => { res.status = code }, { message: `invalid status code: ${code}` })
    }
    for (const code of ['200', 'forbidden', 200.5, NaN, null, undefined, {}]) {
      assert.throws(() => { res.status = code }, { message: 'status code must be a number' })
    }
  })

  it('should do nothing when the headers are sent', () => {
    const res = response({}, { headersSent: true, statusCode: 200 })
    res.status = 500
    assert.equal(res.status, 200)
  })

  it('should remember that it was explicit', () => {
    const res = response()
    assert.equal(res._explicitStatus, undefined)
    res.status = 201
    assert.equal(res._explicitStatus, true)
    res.body = 'hello'
    assert.equal(res.status, 201)
  })

  for (const code of [204, 205, 304]) {
    it(`should take the body and its headers away at ${code}`, () => {
      const ctx = context()
      ctx.body = 'hello'
      ctx.set('Transfer-Encoding', 'chunked')
      ctx.status = code
      assert.equal(ctx.body, null)
      assert.equal(ctx.response.has('Content-Type'), false)
      assert.equal(ctx.response.has('Content-Length'), false)
      assert.equal(ctx.response.has('Transfer-Encoding'), false)
    })
  }

  it('should use the messages that an app patched into statuses', () => {
    statuses.message[799] = 'Koa 3 Knows'
    statuses[798] = 'Koa 2 Knows'
    try {
      const res = response()
      res.status = 799
      assert.equal(res.message, 'Koa 3 Knows')
      res.status = 798
      assert.equal(res.message, 'Koa 2 Knows')
    } finally {
      delete statuses.message[799]
      delete statuses[798]
    }
  })
})

engines('ctx.status', ({ it, ask, engine }) => {
  it('should be 404 until something is set', async () => {
    let status
    const res = await ask(app => app.use(ctx => { status = ctx.status }), 'GET /')
    assert.equal(status, 404)
    assert.equal(res.status, 404)
    assert.equal(res.text, engine === 'http2' ? '404' : 'Not Found')
    assert.equal(res.headers['content-type'], 'text/plain; charset=utf-8')
  })

  for (const status of [204, 205, 304]) {
    it(`should respond with ${status} without body, type and length`, async () => {
      const res = await ask(app => app.use(ctx => {
        ctx.status = status
        ctx.body = 'hello'
        ctx.set('Content-Type', 'application/json')
      }), 'GET /')
      assert.equal(res.status, status)
      assert.equal(res.text, '')
      assert.equal(res.headers['content-type'], undefined)
    })
  }

  it('should respond with the code as text when there is no body', async () => {
    const res = await ask(app => app.use(ctx => { ctx.status = 402 }), 'GET /')
    assert.equal(res.status, 402)
    assert.equal(res.text, engine === 'http2' ? '402' : 'Payment Required')
  })

  it('should respond with an unknown code by its number', {
    skip: { http2: 'node’s HTTP/2 has no status above 599', fetch: 'a web Response has none, either' }
  }, async () => {
    const res = await ask(app => app.use(ctx => { ctx.status = 700 }), 'GET /')
    assert.equal(res.status, 700)
    assert.equal(res.text, '700')
  })
})
