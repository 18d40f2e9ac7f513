'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { PassThrough } = require('node:stream')

const Kone = require('../helpers/kone')
const engines = require('../helpers/engines')

engines('ctx.request.readBody()', ({ it, ask, see, serve, engine }) => {
  const refusal = async (read, ctx) => {
    try {
      return `${await read(ctx)}`
    } catch (error) {
      assert(error instanceof Kone.HttpError)
      return [error.code, error.status]
    }
  }

  it('should give the bytes', async () => {
    const bytes = Buffer.from([0, 1, 255, 13, 10])
    const read = await see(ctx => ctx.request.readBody(), 'POST /', { body: bytes })
    assert(Buffer.isBuffer(read))
    assert.deepEqual(read, bytes)
  })

  it('should give nothing for a request without a body', async () => {
    for (const line of ['GET /', 'POST /', 'DELETE /']) {
      assert.equal((await see(ctx => ctx.request.readBody(), line)).length, 0)
    }
    assert.equal((await see(ctx => ctx.request.readBody(), 'POST /', { body: '' })).length, 0)
  })

  it('should give the same when it is called again', async () => {
    assert.equal(await see(async ctx => {
      const first = await ctx.request.readBody()
      return first === await ctx.request.readBody()
    }, 'POST /', { body: 'hello' }), true)
  })

  it('should read what was sent in chunks', async () => {
    const headers = engine === 'http2' ? {} : { 'transfer-encoding': 'chunked' }
    assert.equal(String(await see(ctx => ctx.request.readBody(), 'POST /', { headers, body: 'hello' })), 'hello')
  })

  it('should read a body some turns of the event loop after its request', async () => {
    assert.equal(String(await see(async ctx => {
      for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setImmediate(resolve))
      return ctx.request.readBody()
    }, 'POST /', { body: 'hello' })), 'hello')
  })

  it('should read 1 MiB at most by default', async () => {
    const body = Buffer.alloc(1024 * 1024 + 1, 'x')
    const read = ctx => refusal(ctx => ctx.request.readBody(), ctx)
    assert.deepEqual(await see(read, 'POST /', { body }), ['KONE_ERR_BODY_LIMIT', 413])
    assert.equal((await see(read, 'POST /', { body: body.subarray(1) })).length, 1024 * 1024)
  })

  it('should refuse what is longer than the limit, declared or not', async () => {
    const read = limit => ctx => refusal(ctx => ctx.request.readBody({ limit }), ctx)
    const chunked = engine === 'http2' ? {} : { 'transfer-encoding': 'chunked' }
    for (const headers of [{}, chunked]) {
      assert.deepEqual(await see(read(4), 'POST /', { headers, body: 'hello' }), ['KONE_ERR_BODY_LIMIT', 413])
      assert.equal(await see(read(5), 'POST /', { headers, body: 'hello' }), 'hello')
      assert.equal(await see(read(Infinity), 'POST /', { headers, body: 'hello' }), 'hello')
    }
    assert.deepEqual(await see(read(0), 'POST /', { body: 'x' }), ['KONE_ERR_BODY_LIMIT', 413])
  })

  it('should refuse a misspelt option beside limit', async () => {
    assert.equal(await see(ctx => {
      assert.throws(() => ctx.request.readBody({ limit: 5, limt: 3 }), /options\.limt is unknown: did you mean `limit`/)
      return 'refused'
    }, 'POST /', { body: 'hello' }), 'refused')
  })

  it('should be a 413 when nobody catches it', async () => {
    const res = await ask(app => app.use(async ctx => {
      ctx.body = await ctx.request.readBody({ limit: 1 })
    }), 'POST /', { body: 'hello' })
    assert.equal(res.status, 413)
  })

  it('should refuse what was read as a stream before', async () => {
    assert.deepEqual(await see(async ctx => {
      for await (const chunk of ctx.req) assert(chunk)
      return refusal(ctx => ctx.request.readBody(), ctx)
    }, 'POST /', { body: 'hello' }), ['KONE_ERR_BODY_USED', 500])
  })

  it('should read what node’s stream has when ctx.req was touched', async () => {
    assert.equal(String(await see(ctx => {
      assert.equal(ctx.req.method, 'POST')
      return ctx.request.readBody()
    }, 'POST /', { body: 'hello' })), 'hello')
  })

  it('should read beside other readers, and what they have paused, but not behind them', async () => {
    const readers = {
      data: req => { req.on('data', () => {}) },
      pipe: req => { req.pipe(new PassThrough()) },
      pause: req => { req.pause() },
      both: req => { req.on('data', () => {}).pause() }
    }
    for (const [name, read] of Object.entries(readers)) {
      assert.equal(String(await see(ctx => {
        read(ctx.req)
        return ctx.request.readBody()
      }, 'POST /', { body: 'hello' })), 'hello', name)
    }
    assert.deepEqual(await see(async ctx => {
      await once(ctx.req, 'data')
      return refusal(ctx => ctx.request.readBody(), ctx)
    }, 'POST /', { body: 'hello' }), ['KONE_ERR_BODY_USED', 500])
  })

  it('should refuse the rest of a body whose first bytes another reader has taken, unless they are put back', async () => {
    const readers = {
      pause: async req => {
        req.on('data', () => {})
        await once(req, 'data').finally(() => req.pause())
      },
      read: first
    }
    const body = Buffer.alloc(300_000, 'x')
    for (const [name, take] of Object.entries(readers)) {
      assert.deepEqual(await see(async ctx => {
        await take(ctx.req)
        return refusal(ctx => ctx.request.readBody({ limit: Infinity }), ctx)
      }, 'POST /', { body, headers: { 'content-length': body.length } }), ['KONE_ERR_BODY_USED', 500], name)
    }
    assert.equal((await see(async ctx => {
      ctx.req.unshift(await first(ctx.req))
      return ctx.request.readBody({ limit: Infinity })
    }, 'POST /', { body, headers: { 'content-length': body.length } })).length, body.length)
  })

  it('should refuse a stream that gives text, in one piece or in many', async () => {
    for (const size of [5, 500_000]) {
      for (const isLate of [false, true]) {
        assert.deepEqual(await see(ctx => refusal(ctx => {
          if (!isLate) ctx.req.setEncoding('utf8')
          const { req } = ctx
          const read = ctx.request.readBody()
          if (isLate) req.setEncoding('utf8')
          return read
        }, ctx), 'POST /', { body: Buffer.alloc(size, 'x') }), ['KONE_ERR_BODY_USED', 500])
      }
    }
  })
})

/** The first bytes that `req` has. */
async function first (req) {
  for (let bytes; ;) {
    if ((bytes = req.read()) !== null) return bytes
    await once(req, 'readable')
  }
}
