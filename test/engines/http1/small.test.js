'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage, AsyncResource } = require('node:async_hooks')
const net = require('node:net')
const { Readable } = require('node:stream')
const { setImmediate: turn } = require('node:timers/promises')

const { MAJOR, get, hello, holding, last, post, settled, use, waitFor } = require('./sides')
const { download, front, wire } = require('./wire')

wire('a request pipelined behind a response that closes', ({ it, serve }) => {
  const READERS = {
    'as a stream': (ctx, note) => {
      let text = ''
      ctx.req.on('data', chunk => { text += chunk }).on('end', () => note(`end ${text}`)).on('error', err => note(err.code))
    },
    'by readBody()': async (ctx, note) => {
      try {
        note(`end ${await ctx.request.readBody()}`)
      } catch (err) {
        note(err.code)
      }
    }
  }

  for (const [what, bytes, ...ends] of [
    ['that came with it', post('hello'), 'end hello', 'end hello'],
    ['that came in part', post('he', '', 5), 'ECONNRESET', 'KONE_ERR_BODY_ABORTED'],
    ['that is not a size', get('/'), 'end ', 'end ']
  ]) {
    for (const [i, [how, read]] of Object.entries(READERS).entries()) {
      it(`should have the body ${what}, ${how}`, async () => {
        const seen = []
        const { all } = await serve(use(ctx => {
          if (ctx.path === '/') return read(ctx, end => seen.push(end))
          ctx.set('Connection', 'close')
          ctx.body = 'first'
        }))
        assert.match(await all(get('/1') + bytes), /first$/)
        await waitFor(() => seen.length, 'the end of the body')
        for (let i = 0; i < 5; i++) await turn()
        assert.deepEqual(seen, [ends[i]])
      })
    }
  }
})

wire('server.timeout', ({ it, serve }) => {
  it('should leave the half-sent header section behind a response to the keep-alive timeout', async () => {
    // long enough for the second request to begin, also on a busy machine
    const { ask, all } = await serve(hello, { timeout: 400, keepAliveTimeout: 60000 })
    const client = await ask(get('/'))
    client.write('GET /2 HTTP/1.1\r\n')
    await all() // began later, and is not left alone
    assert(!client.ended, 'the connection was cut')
    await client.ask('Host: a\r\n\r\n')
  })
})

wire('server.timeout behind responses', ({ it, serve }) => {
  const setup = use(ctx => {
    if (ctx.path === '/never') ctx.respond = false
    else ctx.body = ctx.path === '/large' ? Buffer.alloc(LARGE) : 'hello'
  })
  const LARGE = 8 * 1024 * 1024
  const options = { timeout: 400, keepAliveTimeout: 60000 }

  /** What a connection has sent, its bytes, and whether the timeout ends it. */
  const ROWS = {
    'one response': [get('/'), 1, false],
    'pipelined responses': [get('/') + get('/') + get('/'), 3, false],
    'a large response': [get('/large'), LARGE, false],
    'an open response behind a large one': [get('/large') + get('/never'), LARGE, true]
  }

  for (const [title, [requests, size, isEnded]] of Object.entries(ROWS)) {
    it(`should ${isEnded ? 'count for' : 'be replaced by the keep-alive timeout, behind'} ${title}`, async () => {
      const { all, port } = await serve(setup, options)
      const client = await download(port, requests)
      client.resume()
      await client.received(size)
      if (isEnded) return client.end()
      if (size < 5) await waitFor(() => client.last.match(/hello/g)?.length === size, 'the responses')
      await all(get('/never')) // begins later, and is ended by the timeout
      assert(!client.ended, 'the connection was ended')
    })
  }
})

wire('a response whose socket other code ends', ({ it, serve }) => {
  const WAYS = {
    'by ctx.res': async ctx => {
      ctx.respond = false
      ctx.res.write('one')
      await turn()
      await turn()
      ctx.socket.end()
      ctx.res.write('two')
      ctx.res.end('three')
    },
    'as a stream': ctx => {
      ctx.body = Readable.from((async function * () {
        yield 'one'
        await turn()
        await turn()
        ctx.socket.end()
        yield 'two'
      })())
    }
  }

  for (const [how, respond] of Object.entries(WAYS)) {
    it(`should be cut without an error of the client, ${how}`, async () => {
      const { all, server } = await serve(use(respond))
      const errors = []
      server.on('clientError', (err, socket) => {
        errors.push(err.code)
        socket.destroy()
      })
      assert.match(await all(get('/')), /\r\n\r\n3\r\none\r\n$/)
      for (let i = 0; i < 5; i++) await turn()
      assert.deepEqual(errors, [])
    })
  }
})

// node:http stops reading once the responses that it will drop are too many
front('the last response, which a client reads slowly while it sends more', ({ it, serve }) => {
  const SIZE = 16_000_000
  const REQUESTS = [get('/2'), get('/3'), get('/4')]

  for (const [how, request, closes] of [
    ["by the app's field", get('/'), ctx => ctx.set('Connection', 'close')],
    ["by the app's field, in front of its body", post('', '', 300_000), ctx => ctx.set('Connection', 'close')],
    ["by the client's field", last('/'), () => {}],
    ['because app.close() drains', get('/'), ctx => { ctx.app.close({ timeout: 60000 }) }]
  ]) {
    for (const [what, reads] of [
      ['three requests', REQUESTS],
      ['a body', [post('', '', 300_000), 'x'.repeat(150_000), 'x'.repeat(150_000)]],
      ['half a request and the end', [...REQUESTS, 'GET /', null]]
    ]) {
      it(`should be whole: ${how}, behind it ${what}`, () => test(request, closes, reads))
    }
  }

  it('should be the only one, behind it a request that waits for node', async () => {
    const { held, setup, begun, release } = holding(ctx => {
      ctx.set('Connection', 'close')
      ctx.body = Buffer.alloc(SIZE)
    }, () => true)
    const { port, sockets } = await serve(setup)
    const client = await download(port, get('/'))
    await begun()
    client.write('TRACE / HTTP/1.1\r\nHost: a\r\n\r\n')
    await settled(() => sockets[0].bytesRead)
    release()
    await waitFor(() => sockets[0].bytesWritten > 0, 'the response')
    client.resume()
    await client.end()
    assert.equal(held.length, 0)
  })

  async function test (request, closes, reads) {
    const { port, sockets } = await serve(use(ctx => {
      closes(ctx)
      ctx.body = Buffer.alloc(SIZE)
    }))
    const client = await download(port, request)
    await waitFor(() => sockets[0]?.bytesWritten > 0, 'the response')
    for (const bytes of reads) {
      if (bytes === null) client.socket.end()
      else client.write(bytes)
      await settled(() => sockets[0].bytesRead)
    }
    client.resume()
    await client.end()
    assert.equal(client.size, SIZE + client.first.indexOf('\r\n\r\n') + 4)
  }
})

// on node:http a response that is destroyed before it has its socket keeps the connection open
front('a response in front of one that is destroyed', ({ it, serve }) => {
  it('should be whole, and end the connection', async () => {
    const { port } = await serve(use(async ctx => {
      ctx.body = Buffer.alloc(16_000_000)
      if (ctx.path === '/') return
      await null
      ctx.res.destroy()
    }))
    const client = await download(port, get('/') + get('/2'))
    client.resume()
    await client.end()
    assert.equal(client.size, 16_000_000 + client.first.indexOf('\r\n\r\n') + 4)
  })
})

front('a HEAD whose body is the request', ({ it, ask }) => {
  // node:http closes it on every version
  const skip = MAJOR < 26 && 'before Node 26 a request that is destroyed takes its socket with it'

  it('should keep the connection', { skip }, async () => {
    const client = await ask(use(ctx => { ctx.body = ctx.method === 'HEAD' ? ctx.req : 'hello' }),
      'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n', /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n$/)
    assert.match(client.text, /^Connection: keep-alive\r$/m)
    await client.ask(get('/2'))
  })
})

wire('the socket of a last response', ({ it, serve }) => {
  const store = new AsyncLocalStorage()

  it('should finish in no request of another connection, and be closed behind the microtasks of the handler', async () => {
    const logs = []
    const ends = []
    const site = await serve(use(ctx => store.run(ctx.path, () => {
      const { socket } = ctx
      const log = []
      for (const event of ['prefinish', 'finish', 'close']) {
        socket.on(event, () => log.push(event, [undefined, ctx.path].includes(store.getStore())))
      }
      ctx.respond = false
      logs.push(log)
      ends.push(AsyncResource.bind(async () => {
        ctx.res.end('last')
        for (let i = 0; i < 3; i++) await null
        log.push(socket.destroyed, ctx.ip)
      }))
      if (ends.length === 4) for (const end of ends) end()
    })))
    for (const text of await Promise.all(['/1', '/2', '/3', '/4'].map(path => site.all(last(path))))) assert.match(text, /last/)
    await waitFor(() => logs.every(log => log.includes('close')), "'close'")
    for (const log of logs) assert.deepEqual(log, [false, '127.0.0.1', 'prefinish', true, 'finish', true, 'close', true])
  })

  it('should end a response before the rest of its request resets the connection', async () => {
    const { port } = await serve(use(ctx => {
      ctx.set('Connection', 'close')
      ctx.body = 'early'
    }))
    const ends = await Promise.all(Array.from({ length: 10 }, async () => {
      const client = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      const log = []
      client.on('end', () => log.push('end')).on('error', () => log.push('error'))
      client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${1e6}\r\n\r\n`)
      client.write(Buffer.alloc(1e6), () => client.resume()) // as one who sends everything, then reads
      await waitFor(() => log.length > 0, 'the end')
      client.destroy()
      return log[0]
    }))
    assert.deepEqual(ends, Array(10).fill('end'))
  })
})
