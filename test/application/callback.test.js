'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const http = require('node:http')
const { once } = require('node:events')

const Kone = require('../helpers/kone')

describe('app.callback()', () => {
  it('should be a listener that gives a promise', async () => {
    const app = new Kone()
    app.use(ctx => { ctx.body = 'hello' })
    const callback = app.callback()
    assert.equal(callback.length, 2)

    let returned
    const server = http.createServer((req, res) => { returned = callback(req, res) }).listen(0)
    await once(server, 'listening')
    const res = await fetch(`http://127.0.0.1:${server.address().port}`)
    assert.equal(await res.text(), 'hello')
    assert.equal(typeof returned.then, 'function')
    assert.equal(await returned, undefined)
    server.closeAllConnections()
    server.close()
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

  it('should call createContext and handleRequest of the app, which may be wrapped', async () => {
    const calls = []
    class Own extends Kone {
      createContext (req, res) {
        calls.push('createContext')
        return super.createContext(req, res)
      }

      handleRequest (ctx, fn) {
        calls.push('handleRequest')
        return super.handleRequest(ctx, fn)
      }
    }
    const app = new Own()
    app.use(ctx => { ctx.body = 'hello' })
    const server = app.listen(0)
    await once(server, 'listening')
    const res = await fetch(`http://127.0.0.1:${server.address().port}`)
    assert.equal(await res.text(), 'hello')
    assert.deepEqual(calls, ['createContext', 'handleRequest'])
    server.closeAllConnections()
    server.close()
  })

  it('should let two apps share a process without sharing anything else', async () => {
    const one = new Kone()
    const two = new Kone()
    one.context.name = 'one'
    one.use(ctx => { ctx.body = String(ctx.name) })
    two.use(ctx => { ctx.body = String(ctx.name) })
    const texts = []
    for (const app of [one, two]) {
      const server = http.createServer(app.callback()).listen(0)
      await once(server, 'listening')
      texts.push(await (await fetch(`http://127.0.0.1:${server.address().port}`)).text())
      server.closeAllConnections()
      server.close()
    }
    assert.deepEqual(texts, ['one', 'undefined'])
  })
})
