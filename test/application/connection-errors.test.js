'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const net = require('node:net')

const engines = require('../helpers/engines')

engines('an error of the connection', ({ it, serve }) => {
  const http2 = 'has one connection for many requests'
  const raw = { skip: { http2, inject: 'has no connection', fetch: 'has no client' } }

  it("should reach app.on('error') with the ctx", { skip: { http2, inject: 'has no connection' } }, async () => {
    const { app, ask } = await serve(app => app.use(ctx => {
      ctx.socket.emit('error', new Error('boom'))
    }))
    const seen = []
    app.on('error', (error, ctx) => seen.push([error.message, ctx.path]))
    await ask('GET /broken').catch(() => {})
    assert.deepEqual(seen, [['boom', '/broken']])
  })

  it('should be a reset that is reported at most once and survived', raw, async () => {
    let asked
    const waiting = new Promise(resolve => { asked = resolve })
    const { app, port, ask } = await serve(app => app.use(async ctx => {
      if (ctx.path === '/alive') return
      asked()
      await new Promise(resolve => ctx.onFinished(resolve))
      ctx.body = 'too late'
    }))
    const errors = []
    app.on('error', error => errors.push(error.code))
    const finished = new Promise(resolve => app.once('finish', resolve))
    const client = net.connect(port, '127.0.0.1')
    client.on('error', () => {})
    await once(client, 'connect')
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await waiting
    client.resetAndDestroy()
    await finished
    assert.equal((await ask('GET /alive')).status, 404)
    assert(errors.length <= 1, errors.join())
  })
})
