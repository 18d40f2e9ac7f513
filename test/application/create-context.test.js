'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const http = require('node:http')
const { once } = require('node:events')

const Kone = require('../helpers/kone')

describe('app.createContext(req, res)', () => {
  /** What a server of node with this listener sends. */
  async function responseOf (listener) {
    const server = http.createServer(listener).listen(0)
    await once(server, 'listening')
    const res = await fetch(`http://127.0.0.1:${server.address().port}/hand`)
    const text = await res.text()
    server.closeAllConnections()
    server.close()
    return [res.status, res.headers.get('x-path'), text]
  }

  it('should be usable alone, over node’s objects', async () => {
    const app = new Kone()
    assert.deepEqual(await responseOf((req, res) => {
      const ctx = app.createContext(req, res)
      assert.deepEqual([ctx.req === req, ctx.res === res, ctx.app === app], [true, true, true])
      ctx.status = 201
      ctx.set('X-Path', ctx.path)
      ctx.body = 'by hand'
      res.end(ctx.body)
    }), [201, '/hand', 'by hand'])
  })

  it('should run the rest by handleRequest(ctx, composed)', async () => {
    const app = new Kone()
    const fn = app.compose([ctx => { ctx.body = ctx.path }])
    assert.deepEqual(await responseOf((req, res) => app.handleRequest(app.createContext(req, res), fn)), [200, null, '/hand'])
  })

  it('should reject when the app’s own ctx.onerror throws', async () => {
    const app = new Kone()
    app.context.onerror = () => { throw new Error('of onerror') }
    const res = { getHeader () {}, setHeader () {}, removeHeader () {}, on () {}, socket: {} }
    const ctx = app.createContext({ headers: {}, socket: {}, method: 'GET', url: '/' }, res)
    await assert.rejects(app.handleRequest(ctx, () => Promise.reject(new Error('x'))), { message: 'of onerror' })
  })
})
