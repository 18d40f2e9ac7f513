'use strict'

const assert = require('node:assert/strict')
const { Readable } = require('node:stream')
const { setImmediate: turn } = require('node:timers/promises')

const { get, waitFor } = require('./sides')
const { front, wire } = require('./wire')
const Kone = require('../helpers/kone')

const has26 = Number(process.versions.node.split('.')[0]) >= 26
const last = target => get(target, 'Connection: close\r\n')
const hello = app => app.use(ctx => { ctx.body = 'hello' })

wire('a request pipelined behind a response that closes', ({ it, serve }) => {
  const post = 'POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n'

  /** What the reader of its body gets: how it ends, and the bytes. */
  async function reading (bytes, read) {
    const seen = []
    const { talk } = await serve(app => app.use(async ctx => {
      if (ctx.path === '/1') {
        ctx.set('Connection', 'close')
        ctx.body = 'first'
        return
      }
      await read(ctx, seen)
    }))
    const client = await talk(bytes)
    assert.match(await client.all(), /first$/)
    await waitFor(() => seen.length, 'the end of the body')
    for (let i = 0; i < 5; i++) await turn()
    return seen
  }

  const stream = async (ctx, seen) => {
    let text = ''
    ctx.req.on('data', chunk => { text += chunk })
      .on('end', () => seen.push(`end ${text}`))
      .on('error', err => seen.push(err.code))
  }

  const whole = async (ctx, seen) => {
    try {
      seen.push(`${await ctx.request.readBody()}`)
    } catch (err) {
      seen.push(err.code)
    }
  }

  for (const [what, bytes, streamed, read] of [
    ['that came with it', `${post}hello`, 'end hello', 'hello'],
    ['that came in part', `${post}he`, 'ECONNRESET', 'KONE_ERR_BODY_ABORTED'],
    ['that is not a size', get('/2'), 'end ', '']
  ]) {
    it(`should have the body ${what}, as a stream`, async () => {
      assert.deepEqual(await reading(get('/1') + bytes, stream), [streamed])
    })

    it(`should have the body ${what}, by readBody()`, async () => {
      assert.deepEqual(await reading(get('/1') + bytes, whole), [read])
    })
  }
})

wire('a response that was ready before its turn', ({ it, serve }) => {
  const BODIES = {
    'a string': () => 'body',
    'a Buffer': () => Buffer.from('body'),
    'a stream': () => Readable.from(['bo', 'dy']),
    nothing: () => null
  }

  for (const [first, body] of [
    ['a late string', async () => { await later(); return 'first' }],
    ['a stream', () => Readable.from(slowly())],
    ['a late stream', async () => { await later(); return Readable.from(slowly()) }],
    ['a large Buffer', async () => { await later(); return Buffer.alloc(1_000_000, 'x') }]
  ]) {
    it(`should be sent behind ${first}`, async () => {
      const { talk } = await serve(app => app.use(async ctx => {
        ctx.body = ctx.path === '/first' ? await body() : BODIES[decodeURI(ctx.path.slice(1))]()
      }))
      const paths = ['first', ...Object.keys(BODIES), 'first', ...Object.keys(BODIES)].map(name => `/${encodeURI(name)}`)
      const client = await talk(paths.map(path => get(path)).join('') + last('/nothing'))
      const text = await client.all()
      assert.equal(text.split('HTTP/1.1 20').length - 1, paths.length + 1)
      assert.match(text, /\r\nConnection: close\r\n\r\n$/)
    })
  }

  const later = async () => { for (let i = 0; i < 5; i++) await turn() }

  async function * slowly () {
    for (let i = 0; i < 3; i++) {
      await later()
      yield 'part'
    }
  }
})

wire('server.timeout', ({ it, serve }) => {
  it('should leave the half-sent header section behind a response to the keep-alive timeout', async () => {
    // long enough for the second request to begin, also on a busy machine
    const { talk } = await serve(hello, { timeout: 400, keepAliveTimeout: 60000 })
    const client = await talk(get('/'))
    await client.until(/hello$/)
    client.write('GET /2 HTTP/1.1\r\n')
    const silent = await talk() // began later, and is not left alone
    await silent.all()
    assert(!client.ended, 'the connection was cut')
    client.write('Host: a\r\n\r\n')
    await client.until(/hello[^]+hello$/)
  })
})

front('a HEAD whose body is the request', ({ it, serve }) => {
  // node:http closes it on every version
  const skip = !has26 && 'before Node 26 a request that is destroyed takes its socket with it'

  it('should keep the connection', { skip }, async () => {
    const { talk } = await serve(app => app.use(ctx => { ctx.body = ctx.method === 'HEAD' ? ctx.req : 'hello' }))
    const client = await talk('HEAD / HTTP/1.1\r\nHost: a\r\n\r\n')
    await client.until(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n$/)
    assert.match(client.text, /^Connection: keep-alive\r$/m)
    client.write(get('/2'))
    await client.until(/hello$/)
  })
})

wire('a value of Connection that only resembles close', ({ it, serve }) => {
  for (const value of ['close\xa0', '\xa0close', 'close\x85', 'xclose', 'close;x']) {
    for (const pieces of ['whole', 'byte by byte']) {
      it(`should keep the connection, ${JSON.stringify(value)}, ${pieces}`, async () => {
        const { talk, sockets } = await serve(hello)
        const client = await talk()
        const text = get('/', `Connection: ${value}\r\n`)
        for (const piece of pieces === 'whole' ? [text] : text) {
          client.write(piece)
          await waitFor(() => sockets[0]?.bytesRead === client.socket.bytesWritten, 'the byte')
        }
        await client.until(/hello$/)
        assert.match(client.text, /^Connection: keep-alive\r$/m)
        client.write(get('/2'))
        await client.until(/hello[^]+hello$/)
      })
    }
  }
})

front('a synchronous layer that sets the body a microtask later', ({ it, serve }) => {
  const late = ctx => { Promise.resolve().then(() => { ctx.body = 'late' }) }

  for (const [what, layers] of [
    ['alone', [late]],
    ['behind another one', [(ctx, next) => next(), late]],
    ['behind one that does not return next()', [(ctx, next) => { next() }, late]],
    ['behind an async one', [async (ctx, next) => { await next() }, late]]
  ]) {
    it(`should be in time, ${what}`, async () => {
      const { talk } = await serve(app => layers.forEach(layer => app.use(layer)))
      const client = await talk(last('/'))
      assert.match(await client.all(), /^HTTP\/1\.1 200 OK\r\n[^]+late$/)
    })
  }

  it('should be in time in a pipelined batch, in order', async () => {
    const { talk } = await serve(app => app.use(ctx => {
      if (ctx.path === '/1') Promise.resolve().then(() => { ctx.body = 'late' })
      else ctx.body = 'soon'
    }))
    const client = await talk(get('/1') + get('/2') + last('/1'))
    assert.match(await client.all(), /late[^]+soon[^]+late$/)
  })

  it('should come before what app.final() adds', async () => {
    const { talk } = await serve(app => {
      app.use(late)
      app.final(ctx => { ctx.body += ' final' })
    })
    const client = await talk(last('/'))
    assert.match(await client.all(), /late final$/)
  })
})

front('app.listen() with a compose of its own', ({ it }) => {
  it('should call it once', async () => {
    let calls = 0
    const compose = middleware => {
      calls++
      return Kone.compose(middleware)
    }
    const app = new Kone({ compose })
    hello(app)
    const server = app.listen(0, '127.0.0.1')
    try {
      await waitFor(() => server.listening, 'the server')
      assert.equal(calls, 1)
    } finally {
      await new Promise(resolve => server.close(resolve))
    }
  })
})
