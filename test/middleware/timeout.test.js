'use strict'

const assert = require('node:assert/strict')
const net = require('node:net')
const { PassThrough, Readable } = require('node:stream')
const timeout = require('kone/middleware/timeout')
const { of } = require('../../middleware/timeout/signal')
const frameworks = require('../helpers/frameworks')
const until = require('../helpers/until')

const { setTimeout: tick } = require('node:timers/promises') // the real one, also while a test moves the clock

frameworks('timeout', ({ it, Koa, ask, listen }) => {
  const serve = (ms, handler) => {
    const app = new Koa()
    app.heard = []
    app.on('error', err => app.heard.push(err))
    app.use(timeout(ms))
    app.use(handler)
    return app
  }

  it('should define ctx.signal on the ctx where no app, or another one, made it', () => {
    const app = new Koa()
    for (const ctx of [{}, { app }]) assert.equal(of(ctx).signal, ctx.signal)
    assert(!('signal' in app.context))
  })

  it('should respond with 503 and abort ctx.signal when it takes too long', async () => {
    let signal
    const app = serve(20, ctx => { signal = ctx.signal; return new Promise(() => {}) })
    const res = await ask(app, 'GET /')
    assert.deepEqual([res.status, res.text], [503, 'Service Unavailable'])
    assert.deepEqual([signal.aborted, signal.reason.status], [true, 503])
    assert.deepEqual(app.heard.map(err => err.code), ['KONE_ERR_TIMEOUT'])
  })

  it('should leave what is in time alone', async () => {
    let signal
    const app = serve(60_000, async ctx => {
      signal = ctx.signal
      await tick()
      ctx.body = 'in time'
    })
    assert.equal((await ask(app, 'GET /')).text, 'in time')
    assert.equal(signal.aborted, false)
    assert.equal((await ask(serve(60_000, ctx => { ctx.body = 'at once' }), 'GET /')).text, 'at once')
    assert.equal((await ask(serve(60_000, ctx => ctx.throw(418)), 'GET /')).status, 418)
  })

  it('should drop whatever is written late', async () => {
    const thrown = []
    const stream = new PassThrough()
    let over = false
    const app = serve(20, async ctx => {
      if (ctx.path === '/next') {
        ctx.body = 'next'
        return
      }
      await new Promise(resolve => ctx.signal.addEventListener('abort', resolve))
      await until(() => ctx.res.writableEnded)
      for (const write of late(ctx, stream)) {
        try { write() } catch (err) { thrown.push(`${write}: ${err.code}`) }
      }
      over = true
    })
    const res = await ask(app, 'GET /')
    assert.deepEqual([res.status, res.text, res.headers['x-late']], [503, 'Service Unavailable', undefined])
    await until(() => over && stream.destroyed)
    assert.deepEqual(thrown, [])
    // the connection still carries the next response
    const next = await ask(app, 'GET /next')
    assert.equal(next.text, 'next')
    assert.equal(next.port, res.port)
    assert.deepEqual(app.heard.map(err => err.code), ['KONE_ERR_TIMEOUT'])
  })

  it('should tell the app of a late error, and nobody of the abort itself', async () => {
    const app = serve(10, async ctx => {
      await new Promise(resolve => ctx.signal.addEventListener('abort', resolve))
      await tick(5)
      if (ctx.path === '/abort') ctx.signal.throwIfAborted()
      if (ctx.path === '/fetch') await fetch('http://127.0.0.1:1', { signal: ctx.signal })
      throw new Error('late')
    })
    for (const path of ['/abort', '/fetch', '/error']) assert.equal((await ask(app, `GET ${path}`)).status, 503)
    await until(() => app.heard.at(-1).message === 'late')
    assert.deepEqual(app.heard.map(err => err.code || err.message), [
      'KONE_ERR_TIMEOUT', 'KONE_ERR_TIMEOUT', 'KONE_ERR_TIMEOUT', 'late'
    ])
  })

  it('should let a stream that has begun end whole', async t => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let signal
    const slow = async function * () {
      for (let i = 0; i < 4; i++) {
        yield `${i}`
        await tick()
        t.mock.timers.tick(15) // of the time that is allowed, once the first byte is on its way
      }
    }
    const bodied = serve(20, ctx => { signal = ctx.signal; ctx.body = Readable.from(slow()) })
    assert.equal((await ask(bodied, 'GET /')).text, '0123')
    assert.equal(signal.aborted, false)
    const written = serve(20, async ctx => {
      signal = ctx.signal
      ctx.respond = false
      ctx.res.writeHead(200)
      for await (const chunk of slow()) ctx.res.write(chunk)
      ctx.res.end()
    })
    assert.equal((await ask(written, 'GET /')).text, '0123')
    assert.equal(signal.aborted, false)
  })

  it('should respond with 503 before a stream that has not begun, and destroy it', async () => {
    const stream = new PassThrough()
    const app = serve(10, ctx => { ctx.body = stream; return new Promise(() => {}) })
    assert.equal((await ask(app, 'GET /')).status, 503)
    await until(() => stream.destroyed)
  })

  for (const wait of ['at once', 'after a while', 'in a callback', 'when the signal is aborted']) {
    it(`should drop what is written late, ${wait}, when an earlier middleware responds instead`, async () => {
      const stream = new PassThrough()
      let writing
      const written = new Promise(resolve => { writing = resolve })
      const app = [async (ctx, next) => {
        try { await next() } catch (err) {
          ctx.set('X-Above', '1')
          await written
          ctx.status = err.status
          await tick()
          ctx.body = `sorry ${ctx.status} ${ctx.response.get('X-Late') || ''}`
        }
      }, timeout(10), async (ctx, next) => {
        try { await next() } finally { ctx.set('X-Late', '2') }
      }, async ctx => {
        const write = () => {
          for (const one of late(ctx, stream)) one()
          writing()
        }
        const aborted = new Promise(resolve => ctx.signal.addEventListener('abort', resolve))
        if (wait === 'when the signal is aborted') ctx.signal.addEventListener('abort', write)
        if (wait === 'in a callback') ctx.signal.addEventListener('abort', () => setTimeout(write, 5))
        await aborted
        if (wait === 'after a while') await tick(10)
        if (wait === 'at once' || wait === 'after a while') write()
        await written
      }]
      const res = await ask(app, 'GET /')
      assert.deepEqual([res.status, res.text, res.headers['x-above']], [503, 'sorry 503 ', '1'])
      for (const name of ['x-late', 'location', 'content-disposition', 'vary', 'set-cookie']) {
        assert.equal(res.headers[name], undefined, name)
      }
      assert.match(res.headers['content-type'], /^text\/plain/)
      await until(() => stream.destroyed)
    })
  }

  it('should take the shorter of two and give both one signal', async () => {
    const signals = []
    const app = [
      timeout(5000), (ctx, next) => { signals.push(ctx.signal); return next() },
      timeout(10), ctx => { signals.push(ctx.signal); return new Promise(() => {}) }
    ]
    assert.equal((await ask(app, 'GET /')).status, 503)
    assert.equal(signals[0], signals[1])
    assert.equal(signals[0].aborted, true)
  })

  it('should give ctx.signal to the requests that pass through it alone', async () => {
    const app = new Koa()
    const seen = []
    app.use(async (ctx, next) => {
      await next()
      seen.push(ctx.path, ctx.signal instanceof AbortSignal, ctx.signal === ctx.signal) // eslint-disable-line no-self-compare
    })
    const limited = timeout(1000)
    app.use((ctx, next) => ctx.path === '/limited' ? limited(ctx, next) : next())
    app.use(ctx => {
      if (ctx.path === '/own') ctx.signal = AbortSignal.abort()
      ctx.body = String(ctx.signal?.aborted)
    })
    const texts = []
    for (const target of ['/limited', '/', '/own', '/limited']) texts.push((await ask(app, `GET ${target}`)).text)
    assert.deepEqual(texts, ['false', 'undefined', 'true', 'false'])
    assert.deepEqual(seen, ['/limited', true, true, '/', false, true, '/own', true, true, '/limited', true, true])
  })

  it('should disturb no other response', async t => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let slow = 0
    const app = serve(40, async ctx => {
      if (ctx.path === '/slow') {
        slow++
        await new Promise(() => {})
      }
      await tick()
      ctx.body = ctx.path
    })
    const asked = Array.from({ length: 20 }, (_, i) => ask(app, `GET ${i % 4 ? `/${i}` : '/slow'}`))
    await Promise.all(asked.filter((_, i) => i % 4))
    await until(() => slow === 5)
    t.mock.timers.tick(40)
    const answers = await Promise.all(asked)
    answers.forEach((res, i) => assert.deepEqual(
      [res.status, res.text],
      i % 4 ? [200, `/${i}`] : [503, 'Service Unavailable']
    ))
  })

  it('should do nothing for a client that is gone', async t => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let seen
    let finish
    const app = serve(5000, async ctx => {
      seen = ctx
      await new Promise(resolve => { finish = resolve })
      ctx.body = 'late'
    })
    const { port } = await listen(app)
    const socket = net.connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => finish) // not a pause: a socket destroyed before it connected sends nothing
    socket.destroy()
    await until(() => seen.socket.destroyed && !seen.writable)
    t.mock.timers.tick(5000)
    assert.equal(seen.signal.aborted, false)
    finish()
    t.mock.timers.reset()
    assert.equal((await ask(serve(60_000, ctx => { ctx.body = 'next' }), 'GET /')).text, 'next')
    assert.deepEqual(app.heard, [])
  })
})

/** All that a handler may do to a response. */
function late (ctx, stream) {
  return [
    () => { ctx.status = 418 },
    () => { ctx.body = 'late' },
    () => { ctx.body = stream },
    () => { ctx.set('X-Late', '1') },
    () => { ctx.append('X-Late', '1') },
    () => { ctx.remove('X-Above') },
    () => { ctx.type = 'text/late' },
    () => { ctx.length = 1 },
    () => { ctx.redirect('/late') },
    () => { ctx.attachment('late') },
    () => { ctx.vary('X-Late') },
    () => { ctx.flushHeaders() },
    () => { ctx.cookies.set('late', '1') },
    () => { ctx.response.message = 'late' },
    () => { ctx.res.statusCode = 418 },
    () => { ctx.res.setHeader('X-Late', '1') },
    () => { ctx.res.writeHead(418) },
    () => { ctx.res.write('late') },
    () => { ctx.res.end('late') },
    () => { ctx.respond = false }
  ]
}
