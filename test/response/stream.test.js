'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const net = require('node:net')
const { PassThrough, Readable } = require('node:stream')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

/** What was written so far has left this process. */
async function sent (ctx) {
  do await new Promise(resolve => setImmediate(resolve))
  while (!ctx.headerSent || ctx.socket.writableLength > 0)
}

describe('ctx.body= a stream of another library', () => {
  /** What readable-stream and web shims give: everything but the prototype. */
  const foreign = () => ({
    pipe () {},
    read () {},
    on () { return this },
    once () { return this },
    removeListener () { return this },
    destroy () { this.destroyed = true },
    destroyed: false,
    readable: true,
    readableObjectMode: false
  })

  test('should be taken for a stream by its shape', () => {
    const ctx = context()
    ctx.body = foreign()
    assert.equal(ctx.type, 'application/octet-stream')
    assert.equal(ctx.length, undefined)
  })

  test('should be json when it only looks a little like one', () => {
    const ctx = context()
    ctx.body = { pipe () {}, readable: true }
    assert.equal(ctx.type, 'application/json')
  })
})

engines('a stream body', ({ it, ask, serve }) => {
  it('should not end a response whole when it fails in the middle', {
    skip: { inject: 'has no connection to cut' }
  }, async () => {
    const errors = []
    const res = await ask(app => {
      app.on('error', error => errors.push([error.message, error.headerSent]))
      app.use(ctx => {
        const body = ctx.body = new PassThrough()
        body.write('half')
        sent(ctx).then(() => body.destroy(new Error('disk on fire')))
      })
    }, 'GET /')
    assert.equal(res.status, 200)
    assert.equal(res.complete, false)
    assert.deepEqual(errors, [['disk on fire', true]])
  })

  it('should end the connection when it fails while its response is queued', {
    timeout: 5000,
    skip: { http2: 'has no queue', inject: 'has no connection', fetch: 'has no connection' }
  }, async () => {
    const failed = new EventEmitter()
    const { port } = await serve(app => app.use(async ctx => {
      if (ctx.path === '/first') {
        await once(failed, 'close')
        ctx.body = 'first'
        return
      }
      ctx.body = Readable.from((async function * () {
        yield 'half'
        await new Promise(resolve => setImmediate(resolve))
        setImmediate(() => failed.emit('close'))
        throw new Error('disk on fire')
      })())
    }))
    const client = net.connect(port, '127.0.0.1')
    const received = client.toArray().then(chunks => chunks.join(''))
    client.write('GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET /fails HTTP/1.1\r\nHost: a\r\n\r\n')
    const text = await received.catch(err => err.code)
    assert.doesNotMatch(text, /\r\n0\r\n/)
  })

  it('should be a 500 when it was gone before it was set', async () => {
    for (const body of [new PassThrough().destroy(), new PassThrough().destroy(new Error('gone')).on('error', () => {})]) {
      const errors = []
      const res = await ask(app => {
        app.on('error', error => errors.push(error.code))
        app.use(async ctx => {
          await new Promise(resolve => setImmediate(resolve))
          ctx.body = body
        })
      }, 'GET /')
      assert.equal(res.status, 500)
      assert.deepEqual(errors, ['ERR_STREAM_PREMATURE_CLOSE'])
    }
  })

  it('should be a 500 when it closes before its end', async () => {
    const res = await ask(app => app.use(ctx => {
      const body = ctx.body = new PassThrough()
      setImmediate(() => body.destroy())
    }), 'GET /')
    assert.equal(res.status, 500)
  })

  it('should be a 500 under headers that cannot be sent', {
    skip: { http2: 'has neither a reason phrase nor chunks' }
  }, async () => {
    const heads = {
      ERR_INVALID_CHAR: ctx => { ctx.message = 'a\r\nb' },
      ERR_HTTP_INVALID_STATUS_CODE: ctx => { ctx.res.statusCode = 1000 },
      ERR_HTTP_TRAILER_INVALID: ctx => ctx.set({ Trailer: 'X-Sum', 'Content-Length': '4' })
    }
    for (const [code, set] of Object.entries(heads)) {
      for (const chunks of [['text'], []]) {
        const errors = []
        const stream = Readable.from(chunks)
        const res = await ask(app => {
          app.on('error', error => errors.push(error.code))
          app.use(ctx => {
            ctx.body = stream
            set(ctx)
          })
        }, 'GET /')
        assert.equal(res.status, 500)
        assert.equal(res.text, 'Internal Server Error')
        assert.deepEqual(errors, [code])
        assert.equal(stream.destroyed, true)
      }
    }
  })

  it('should be a 500 when its first chunk is an object', { skip: { http2: 'sends the headers before it looks' } }, async () => {
    const errors = []
    const res = await ask(app => {
      app.on('error', error => errors.push(error.code))
      app.use(ctx => { ctx.body = Readable.from([{}, 'text']) })
    }, 'GET /')
    assert.equal(res.status, 500)
    assert.equal(res.text, 'Internal Server Error')
    assert.deepEqual(errors, ['ERR_INVALID_ARG_TYPE'])
  })

  it('should not end a response whole when a later chunk is an object', {
    skip: { inject: 'has no connection to cut' }
  }, async () => {
    const errors = []
    const res = await ask(app => {
      app.on('error', error => errors.push(error.code))
      app.use(ctx => {
        ctx.body = Readable.from((async function * () {
          yield 'text'
          await sent(ctx)
          yield {}
        })())
      })
    }, 'GET /')
    assert.equal(res.status, 200)
    assert.equal(res.complete, false)
    assert.deepEqual(errors, ['ERR_INVALID_ARG_TYPE'])
  })

  it('should be sent with trailers', { skip: { fetch: 'a web Response has no trailers' } }, async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.set('Trailer', 'X-Sum')
      const body = ctx.body = new PassThrough()
      body.end('text')
    }), 'GET /')
    assert.equal(res.status, 200)
    assert.equal(res.headers.trailer, 'X-Sum')
    assert.equal(res.text, 'text')
  })

  it('should be destroyed when the response is a 204', async () => {
    const stream = new PassThrough()
    await ask(app => app.use(ctx => {
      ctx.body = stream
      ctx.status = 204
    }), 'GET /')
    assert.equal(stream.destroyed, true)
  })

  it('should be destroyed when an error is sent instead', async () => {
    const stream = new PassThrough()
    const { ask } = await serve(app => app.use(ctx => {
      ctx.body = stream
      throw new Error('boom')
    }))
    const res = await ask('GET /')
    assert.equal(res.status, 500)
    if (!stream.destroyed) await once(stream, 'close')
    assert.equal(stream.destroyed, true)
  })
})
