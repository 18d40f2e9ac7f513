'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const net = require('node:net')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

describe('ctx.onFinished(fn)', () => {
  test('should refuse what is no function', () => {
    assert.throws(() => context().onFinished('fn'), TypeError)
  })
})

engines('ctx.onFinished(fn)', ({ it, serve }) => {
  it('should be called once, with null, when the answer is out', async () => {
    const calls = []
    let told
    const finished = new Promise(resolve => { told = resolve })
    const { ask } = await serve(app => app.use(ctx => {
      ctx.onFinished(error => {
        calls.push(error)
        told()
      })
      ctx.body = 'hello'
    }))
    await ask('GET /')
    await finished
    assert.deepEqual(calls, [null])
  })

  it('should be called at once, later, when the answer is already out', async () => {
    let late
    const { ask } = await serve(app => app.use(async ctx => {
      ctx.body = 'hello'
      late = new Promise(resolve => ctx.onFinished(() => ctx.onFinished(resolve)))
    }))
    await ask('GET /')
    assert.equal(await late, null)
  })

  it('should be called when the client goes away', {
    skip: { http2: 'is asked by a raw client here', inject: 'has no client that could go', fetch: 'is aborted instead: test/fetch' }
  }, async () => {
    let told
    const finished = new Promise(resolve => { told = resolve })
    const { port } = await serve(app => app.use(ctx => {
      ctx.respond = false
      ctx.onFinished(told)
      client.destroy()
    }))
    const client = net.connect(port, '127.0.0.1')
    await once(client, 'connect')
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await finished
  })
})
