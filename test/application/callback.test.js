'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const http = require('node:http')
const { once } = require('node:events')

const Kone = require('../helpers/kone')

/** What a client of this server, or of node's with this listener, reads; ends the server. */
async function textOf (served, expected = [200, null]) {
  const server = typeof served === 'function' ? http.createServer(served).listen(0) : served
  if (!server.listening) await once(server, 'listening')
  const res = await fetch(`http://127.0.0.1:${server.address().port}/hand`)
  const text = await res.text()
  server.closeAllConnections()
  server.close()
  assert.deepEqual([res.status, res.headers.get('x-path')], expected)
  return text
}

describe('app.callback()', () => {
  it('should be a listener that gives a promise', async () => {
    const app = new Kone()
    app.use(ctx => { ctx.body = 'hello' })
    const callback = app.callback()
    assert.equal(callback.length, 2)

    let returned
    assert.equal(await textOf((req, res) => { returned = callback(req, res) }), 'hello')
    assert.equal(typeof returned.then, 'function')
    assert.equal(await returned, undefined)
  })

  it('should not read app.env, which is a deprecated getter in Egg', async () => {
    const app = new Kone().use(ctx => { ctx.body = 'hello' })
    Object.defineProperty(app, 'env', { get: () => assert.fail('app.env is read') })
    assert.equal(await textOf(app.callback()), 'hello')
  })

  it('should add the default error handler only if there is not one yet', () => {
    const app = new Kone()
    app.callback()
    app.callback()
    assert.deepEqual(app.listeners('error'), [app.onerror])

    const own = new Kone()
    const handler = () => {}
    own.on('error', handler)
    own.callback()
    assert.deepEqual(own.listeners('error'), [handler])
  })
})

describe('app.createContext(req, res)', () => {
  it('should be usable alone, over node’s objects', async () => {
    const app = new Kone()
    assert.equal(await textOf((req, res) => {
      const ctx = app.createContext(req, res)
      assert.deepEqual([ctx.req === req, ctx.res === res, ctx.app === app], [true, true, true])
      ctx.status = 201
      ctx.set('X-Path', ctx.path)
      ctx.body = 'by hand'
      res.end(ctx.body)
    }, [201, '/hand']), 'by hand')
  })

  it('should run the rest by handleRequest(ctx, composed)', async () => {
    const app = new Kone()
    const fn = app.compose([ctx => { ctx.body = ctx.path }])
    assert.equal(await textOf((req, res) => app.handleRequest(app.createContext(req, res), fn)), '/hand')
  })

  it('should reject when the app’s own ctx.onerror throws', async () => {
    const app = new Kone()
    app.context.onerror = () => { throw new Error('of onerror') }
    const res = { getHeader () {}, setHeader () {}, removeHeader () {}, on () {}, socket: {} }
    const ctx = app.createContext({ headers: {}, socket: {}, method: 'GET', url: '/' }, res)
    await assert.rejects(app.handleRequest(ctx, () => Promise.reject(new Error('x'))), { message: 'of onerror' })
  })
})
