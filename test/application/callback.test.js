'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const http = require('node:http')
const { once } = require('node:events')

const Kone = require('../helpers/kone')

/** What a client of this server reads; ends the server. */
async function textOf (server) {
  if (!server.listening) await once(server, 'listening')
  const text = await (await fetch(`http://127.0.0.1:${server.address().port}`)).text()
  server.closeAllConnections()
  server.close()
  return text
}

describe('app.callback()', () => {
  it('should be a listener that gives a promise', async () => {
    const app = new Kone()
    app.use(ctx => { ctx.body = 'hello' })
    const callback = app.callback()
    assert.equal(callback.length, 2)

    let returned
    const server = http.createServer((req, res) => { returned = callback(req, res) }).listen(0)
    assert.equal(await textOf(server), 'hello')
    assert.equal(typeof returned.then, 'function')
    assert.equal(await returned, undefined)
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
    assert.equal(await textOf(app.listen(0)), 'hello')
    assert.deepEqual(calls, ['createContext', 'handleRequest'])
  })

  it('should let two apps share a process without sharing anything else', async () => {
    const one = new Kone()
    const two = new Kone()
    one.context.name = 'one'
    one.use(ctx => { ctx.body = String(ctx.name) })
    two.use(ctx => { ctx.body = String(ctx.name) })
    const texts = [one, two].map(app => textOf(http.createServer(app.callback()).listen(0)))
    assert.deepEqual(await Promise.all(texts), ['one', 'undefined'])
  })
})
