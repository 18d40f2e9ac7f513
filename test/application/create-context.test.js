'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const http = require('node:http')
const { once } = require('node:events')

const Kone = require('../helpers/kone')

describe('app.createContext(req, res)', () => {
  it('should be usable alone, over node’s objects', async () => {
    const app = new Kone()
    const server = http.createServer((req, res) => {
      const ctx = app.createContext(req, res)
      assert.equal(ctx.req, req)
      assert.equal(ctx.res, res)
      assert.equal(ctx.app, app)
      ctx.status = 201
      ctx.set('X-Path', ctx.path)
      ctx.body = 'by hand'
      res.end(ctx.body)
    }).listen(0)
    await once(server, 'listening')
    const res = await fetch(`http://127.0.0.1:${server.address().port}/hand`)
    assert.equal(res.status, 201)
    assert.equal(res.headers.get('x-path'), '/hand')
    assert.equal(await res.text(), 'by hand')
    server.closeAllConnections()
    server.close()
  })

  it('should run the rest by handleRequest(ctx, composed)', async () => {
    const app = new Kone()
    app.silent = true
    const fn = app.compose([ctx => { ctx.body = ctx.path }])
    const server = http.createServer((req, res) => {
      app.handleRequest(app.createContext(req, res), fn)
    }).listen(0)
    await once(server, 'listening')
    const res = await fetch(`http://127.0.0.1:${server.address().port}/rest`)
    assert.equal(await res.text(), '/rest')
    server.closeAllConnections()
    server.close()
  })

  it('should reject when the app’s own ctx.onerror throws', async () => {
    const app = new Kone()
    app.context.onerror = () => { throw new Error('of onerror') }
    const res = { getHeader () {}, setHeader () {}, removeHeader () {}, on () {}, socket: {} }
    const ctx = app.createContext({ headers: {}, socket: {}, method: 'GET', url: '/' }, res)
    await assert.rejects(app.handleRequest(ctx, () => Promise.reject(new Error('x'))), { message: 'of onerror' })
  })
})
