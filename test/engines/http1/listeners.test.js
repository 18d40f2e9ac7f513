'use strict'

const assert = require('node:assert/strict')
const { IncomingMessage } = require('node:http')
const { finished, pipeline, PassThrough } = require('node:stream')
const { setImmediate: turn } = require('node:timers/promises')
const onFinished = require('on-finished')

const { get, sides, use, waitFor } = require('./sides')

/** What a handler may do that adds a listener to the socket for the time of its request. */
const USES = {
  nothing: () => {},
  'ctx.req.setTimeout()': ctx => ctx.req.setTimeout(60000, () => {}),
  'ctx.res.setTimeout()': ctx => ctx.res.setTimeout(60000, () => {}),
  'stream.finished() of ctx.req': ctx => finished(ctx.req, () => {}),
  'stream.finished() of ctx.res': ctx => finished(ctx.res, () => {}),
  'on-finished of ctx.res': ctx => onFinished(ctx.res, () => {}),
  'ctx.onFinished()': ctx => ctx.onFinished(() => {}),
  'ctx.body = ctx.req': ctx => { ctx.body = ctx.req },
  'stream.pipeline()': ctx => {
    ctx.respond = false
    ctx.res.statusCode = 200
    pipeline(ctx.req, new PassThrough(), ctx.res, () => {})
  }
}

/** Of these node itself warns when many requests are pipelined. */
const ALONE = {
  'ctx.req.signal': ctx => ctx.req.signal,
  'a listener for its abort': ctx => ctx.req.signal?.addEventListener('abort', () => {}),
  'ctx.req.signal read late': ctx => ctx.onFinished(() => ctx.req.signal),
  'on-finished of ctx.req': ctx => onFinished(ctx.req, () => {})
}

const MANY = 20

/** Pipelined: more than one batch of responses. */
const BURST = 300

sides('the listeners of a socket', ({ it, serve }) => {
  for (const [what, touch] of Object.entries({ ...USES, ...ALONE })) {
    it(`should not grow with the number of requests, nor be warned of: ${what}`, async t => {
      const warnings = []
      const warned = ({ name }) => warnings.push(name)
      process.on('warning', warned)
      t.after(() => process.off('warning', warned))
      const { sockets, talk } = await serve(use(async ctx => {
        touch(ctx)
        ctx.body ??= 'hello'
      }))
      const client = await talk()
      const came = count => waitFor(() => client.text.split('HTTP/1.1 200').length - 1 === count, () => `${count} responses`)
      const ask = async count => {
        client.write(get('/', 'Content-Length: 0\r\n'))
        await came(count)
        await turn()
        await turn()
      }
      await ask(1)
      await ask(2)
      const before = counts(sockets[0])
      for (let i = 3; i <= MANY; i++) await ask(i)
      assert.deepEqual(counts(sockets[0]), before)
      if (what in ALONE) return
      client.write(get('/').repeat(BURST))
      await came(MANY + BURST)
      await turn()
      assert.deepEqual(warnings, [])
    })
  }
})

const noSignal = !('signal' in IncomingMessage.prototype) && "this Node's requests have no signal"

sides('ctx.req.signal', ({ it, serve }) => {
  for (const path of ['/early', '/late']) {
    it(`should not be aborted by the end of the connection after the response: ${path}`, { skip: noSignal }, async () => {
      const signals = []
      const { sockets, ask } = await serve(use(ctx => {
        if (ctx.path === '/early') signals.push(ctx.req.signal)
        else ctx.onFinished(() => setImmediate(() => signals.push(ctx.req.signal)))
        ctx.body = 'hello'
      }))
      const client = await ask(get(path))
      await waitFor(() => signals.length === 1, 'the signal')
      client.destroy()
      await waitFor(() => sockets[0].closed, 'the end of the connection')
      assert.equal(signals[0].aborted, false)
    })
  }

  it('should be aborted by the end of the connection before the response', { skip: noSignal }, async () => {
    let signal
    const { talk } = await serve(use(ctx => {
      signal = ctx.req.signal
      return new Promise(() => {})
    }))
    const client = await talk(get('/'))
    await waitFor(() => signal, 'the request')
    client.destroy()
    await waitFor(() => signal.aborted, 'the abort')
  })
})

function counts (socket) {
  return Object.fromEntries(socket.eventNames().map(event => [event, socket.listenerCount(event)]))
}
