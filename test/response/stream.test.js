'use strict'

const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const https = require('node:https')
const net = require('node:net')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { Readable } = require('node:stream')
const tls = require('node:tls')

const { credentials } = require('../engines/http1/sides')
const engines = require('../helpers/engines')

let paths = 0

engines('a stream body', ({ it, ask, serve }) => {
  const FAILING = {
    'a stream': (ctx, release) => {
      ctx.body = Readable.from((async function * () {
        yield 'half'
        await new Promise(resolve => setImmediate(resolve))
        setImmediate(release)
        throw new Error('disk on fire')
      })())
    },
    'a response that the app has begun': ({ res }, release) => {
      res.write('half')
      setImmediate(release)
      throw new Error('disk on fire')
    }
  }
  for (const [what, fail] of Object.entries(FAILING)) {
    it(`should end the connection when ${what} fails while it is queued`, {
      timeout: 5000,
      skip: { http2: 'has no queue', inject: 'has no connection', fetch: 'has no connection' }
    }, async () => {
      const failed = new EventEmitter()
      const errors = []
      const { port } = await serve(app => app.on('error', err => errors.push(err.message)).use(async ctx => {
        if (ctx.path === '/fails') return fail(ctx, () => failed.emit('close'))
        await once(failed, 'close')
        ctx.body = 'first'
      }))
      const client = net.connect(port, '127.0.0.1')
      const received = client.toArray().then(chunks => chunks.join(''))
      client.write('GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET /fails HTTP/1.1\r\nHost: a\r\n\r\n')
      const text = await received.catch(err => err.code)
      assert.doesNotMatch(text, /\r\n0\r\n/)
      assert.deepEqual(errors, ['disk on fire'])
    })
  }

  const BROKEN = {
    'a stream': (ctx, arrived) => {
      ctx.body = Readable.from((async function * () {
        yield 'half'
        await arrived
        throw new Error('disk on fire')
      })())
    },
    'a response that the app has begun': async ({ res }, arrived) => {
      res.write('half')
      await arrived
      throw new Error('disk on fire')
    }
  }
  const skip = { http2: 'has streams', inject: 'has no connection', fetch: 'has no connection' }
  for (const [what, fail] of Object.entries(BROKEN)) {
    it(`should reset the connection of HTTP/1.0, whose end would complete the body, when ${what} fails`, { skip }, async () => {
      const client = new net.Socket()
      const arrived = new Promise(resolve => { // libuv takes a reset for an end that comes in one read with data
        let text = ''
        client.on('data', chunk => { if ((text += chunk).endsWith('half')) resolve() })
      })
      const { port } = await serve(app => Object.assign(app, { silent: true }).use(ctx => fail(ctx, arrived)))
      client.connect(port, '127.0.0.1').write('GET / HTTP/1.0\r\n\r\n')
      await assert.rejects(once(client, 'end'), { code: 'ECONNRESET' })
    })

    // Where there is no reset only the client's timeout can cut it. Koa leaves each such response open.
    for (const where of ['a Unix socket', 'TLS']) {
      it(`should not end the connection of ${where} when ${what} fails on HTTP/1.0`, { skip }, async t => {
        const reported = []
        const half = new EventEmitter()
        const arrived = once(half, 'arrives')
        let finished
        const { app } = await serve(app => app.on('error', err => reported.push(err.message)).use(ctx => {
          if (ctx.path === '/whole') {
            ctx.body = 'whole'
            return
          }
          finished = new Promise(resolve => ctx.onFinished(resolve))
          return fail(ctx, arrived)
        }))
        const socketPath = join(tmpdir(), `kone-stream-${process.pid}-${paths++}.sock`)
        const isSecure = where === 'TLS'
        const server = isSecure
          ? app.attach(https.createServer(await credentials())).listen(0, '127.0.0.1')
          : app.listen(socketPath)
        t.after(() => server.close())
        await once(server, 'listening')
        const to = isSecure ? { port: server.address().port, host: '127.0.0.1', rejectUnauthorized: false } : { path: socketPath }
        const failed = once(app, 'error')
        let hasEnded = false
        const client = isSecure ? tls.connect(to) : net.connect(to)
        client.on('data', () => half.emit('arrives')).on('end', () => { hasEnded = true }).write('GET / HTTP/1.0\r\n\r\n')
        await failed
        for (let i = 0; i < 2; i++) {
          const other = isSecure ? tls.connect(to) : net.connect(to)
          other.write('GET /whole HTTP/1.0\r\n\r\n')
          assert.match(String(await other.toArray()), /whole$/)
        }
        assert.equal(hasEnded, false)
        client.destroy()
        assert.ok(await finished instanceof Error)
        assert.deepEqual(reported, ['disk on fire'])
      })
    }
  }

  it('should be sent whole when it has each chunk at once, with and without a declared length', async () => {
    const sizes = [1, 70, 216, 3072].map(kib => kib * 1024)
    for (const size of sizes) {
      for (const declared of [undefined, size, size - 5]) {
        const bytes = Buffer.alloc(size, 'abcdefg')
        let at = 0
        const stream = new Readable({
          read (size) {
            this.push(at < bytes.length ? bytes.subarray(at, at += size) : null)
          }
        })
        const { status, body, complete } = await ask(app => app.use(ctx => {
          ctx.type = 'text'
          ctx.body = stream
          if (declared !== undefined) ctx.length = declared
        }), 'GET /')
        assert.deepEqual([status, complete], [200, true])
        assert(body.equals(bytes.subarray(0, declared)), `${body.length} bytes of ${declared}`)
      }
    }
  })

  it('should be a 500 under headers that cannot be sent', {
    skip: { http2: 'has neither a reason phrase nor chunks' }
  }, async () => {
    const heads = {
      ERR_INVALID_CHAR: ctx => { ctx.message = 'a\r\nb' },
      ERR_HTTP_INVALID_STATUS_CODE: ctx => { ctx.res.statusCode = 1000 },
      ERR_HTTP_TRAILER_INVALID: (ctx, length) => ctx.set({ Trailer: 'X-Sum', 'Content-Length': String(length) })
    }
    for (const [code, set] of Object.entries(heads)) {
      for (const chunks of [['text'], []]) {
        const errors = []
        const stream = Readable.from(chunks)
        const res = await ask(app => {
          app.on('error', error => errors.push(error.code))
          app.use(ctx => {
            ctx.body = stream
            set(ctx, chunks.join('').length)
          })
        }, 'GET /')
        assert.equal(res.status, 500)
        assert.equal(res.text, 'Internal Server Error')
        assert.deepEqual(errors, [code])
        assert.equal(stream.destroyed, true)
      }
    }
  })
})
