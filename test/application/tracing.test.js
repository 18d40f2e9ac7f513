'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { tracingChannel } = require('node:diagnostics_channel')
const http = require('node:http')

const engines = require('../helpers/engines')

const NAMES = ['start', 'end', 'asyncStart', 'asyncEnd', 'error']

/** Subscribe to kone:request and give back what was published meanwhile. */
async function traced (run) {
  const seen = []
  const channel = tracingChannel('kone:request')
  const subscribers = Object.fromEntries(NAMES.map(name => [name, message => seen.push([name, message])]))
  channel.subscribe(subscribers)
  try {
    await run(seen)
  } finally {
    channel.unsubscribe(subscribers)
  }
  return seen
}

const notTheFront = Object.fromEntries(
  ['callback', 'listen', 'http2', 'inject-node', 'http1-materialised', 'create-context'].map(engine => [engine, "has node's own objects, or none"])
)

engines('the channel kone:request', ({ it, serve }) => {
  it('should publish the way of a request, with app and ctx', async () => {
    const { app, ask } = await serve(app => app.use(async ctx => {
      await null
      ctx.body = 'hello'
    }))
    const seen = await traced(async () => {
      const finished = new Promise(resolve => app.once('finish', resolve))
      assert.equal((await ask('GET /traced')).text, 'hello')
      await finished
      await new Promise(resolve => setImmediate(resolve))
    })
    assert.deepEqual(seen.map(([name]) => name), ['start', 'end', 'asyncStart', 'asyncEnd'])
    for (const [, message] of seen) {
      assert.equal(message.app, app)
      assert.equal(message.ctx.path, '/traced')
      assert.equal(message.ctx.status, 200)
    }
  })

  it('should publish the error of a request', async () => {
    const { ask } = await serve(app => app.use(() => { throw new Error('boom') }))
    const seen = await traced(async () => {
      assert.equal((await ask('GET /')).status, 500)
      await new Promise(resolve => setImmediate(resolve))
    })
    const [, message] = seen.find(([name]) => name === 'error')
    assert.equal(message.error.message, 'boom')
    assert.equal(message.ctx.status, 500)
  })

  it('should publish one message per request, in one order', async () => {
    const { ask } = await serve(app => app.use(async ctx => {
      await null
      ctx.throw(404, 'nobody')
    }))
    const seen = await traced(async () => {
      await ask('GET /')
      await new Promise(resolve => setImmediate(resolve))
    })
    assert.deepEqual(seen.map(([name]) => name), ['start', 'end', 'error', 'asyncStart', 'asyncEnd'])
    assert.equal(new Set(seen.map(([, message]) => message)).size, 1)
  })

  it('should carry a store that is bound to its start', async () => {
    const { start } = tracingChannel('kone:request')
    const storage = new AsyncLocalStorage()
    start.bindStore(storage, ({ ctx }) => ctx.path)
    const { ask } = await serve(app => app.use(async ctx => {
      await null
      ctx.body = storage.getStore()
    }))
    try {
      assert.equal((await ask('GET /stored')).text, '/stored')
    } finally {
      start.unbindStore(storage)
    }
  })

  it('should leave the front in its place', { skip: notTheFront }, async () => {
    const { ask } = await serve(app => app.use(ctx => {
      ctx.body = String(ctx.outgoing instanceof http.ServerResponse)
    }))
    await traced(async () => assert.equal((await ask('GET /')).text, 'false'))
  })

  it('should publish a request in the context of asyncLocalStorage', async () => {
    const { app, ask } = await serve(app => app.use(ctx => {
      ctx.body = String(app.currentContext === ctx)
    }), { asyncLocalStorage: true })
    assert(app)
    await traced(async () => assert.equal((await ask('GET /')).text, 'true'))
  })
})
