'use strict'

const assert = require('node:assert/strict')
const { tracingChannel } = require('node:diagnostics_channel')

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

  it('should work with asyncLocalStorage', async () => {
    const { app, ask } = await serve(app => app.use(ctx => {
      ctx.body = String(app.currentContext === ctx)
    }), { asyncLocalStorage: true })
    assert(app)
    await traced(async () => assert.equal((await ask('GET /')).text, 'true'))
  })
})
