'use strict'

const assert = require('node:assert/strict')
const { PassThrough } = require('node:stream')

const engines = require('../helpers/engines')

engines('ctx.flushHeaders()', ({ it, ask }) => {
  it('should send status and headers, and end without a body as empty', async () => {
    const res = await ask(app => app.use(async ctx => {
      ctx.body = ''
      ctx.status = 200
      ctx.type = 'text/plain'
      ctx.flushHeaders()
      assert.equal(ctx.headerSent, true)
    }), 'GET /')
    assert.equal(res.status, 200)
    assert.equal(res.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(res.text, '')
  })

  it('should leave what is set later out', async () => {
    const res = await ask(app => app.use(async ctx => {
      ctx.status = 401
      ctx.res.setHeader('Content-Type', 'text/plain')
      ctx.flushHeaders()
      ctx.status = 200
      ctx.set('X-Shoe', 'late')
      ctx.type = 'json'
      ctx.vary('Content-Type')
      ctx.remove('Content-Type')
      ctx.body = 'Body'
    }), 'GET /')
    assert.equal(res.status, 401)
    assert.equal(res.headers['content-type'], 'text/plain')
    assert.equal(res.headers['x-shoe'], undefined)
    assert.equal(res.headers.vary, undefined)
    assert.equal(res.text, 'Body')
  })

  it('should go before the first bytes of a stream', async () => {
    const res = await ask(app => app.use(async ctx => {
      ctx.type = 'json'
      ctx.status = 200
      const body = ctx.body = new PassThrough()
      ctx.flushHeaders()
      setImmediate(() => body.end('{"ok":true}'))
    }), 'GET /')
    assert.equal(res.status, 200)
    assert.equal(res.headers['content-type'], 'application/json; charset=utf-8')
    assert.deepEqual(res.json(), { ok: true })
  })

  it('should let an error behind it reach app.onerror with headerSent', async () => {
    let seen
    const res = await ask(app => {
      app.on('error', (error, ctx) => { seen = [error.message, error.headerSent, ctx.path] })
      app.use(ctx => {
        ctx.status = 200
        ctx.type = 'text'
        ctx.length = 0
        ctx.flushHeaders()
        ctx.res.end()
        throw new Error('late')
      })
    }, 'GET /a')
    assert.equal(res.status, 200)
    assert.deepEqual(seen, ['late', true, '/a'])
  })
})
