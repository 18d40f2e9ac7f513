'use strict'

const assert = require('node:assert/strict')

const { get, sides, waitFor } = require('./sides')

const hello = app => app.use(ctx => { ctx.body = 'hello' })

// Middleware that never responds, and a promise of its first request.
function hanging () {
  const waiting = {}
  waiting.reached = new Promise(resolve => { waiting.define = app => app.use(() => new Promise(() => resolve())) })
  return waiting
}

const REQUEST_TIMEOUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'

// Node looks for late requests every 30 s by default; the front has to use the same option.
const soon = { connectionsCheckingInterval: 20 }

// ms in which what a test does before the deadline is done, also on a busy machine
const ENOUGH = 400

sides('server.headersTimeout', ({ it, serve }) => {
  it('should end a half-sent head with 408', async () => {
    const { talk } = await serve(hello, { ...soon, headersTimeout: 60 })
    const client = await talk('GET / HTTP/1.1\r\nHost: a\r\n')
    assert.equal(await client.all(), REQUEST_TIMEOUT)
  })

  it('should end half a request line with 408', async () => {
    const { talk } = await serve(hello, { ...soon, headersTimeout: 60 })
    const client = await talk('GE')
    assert.equal(await client.all(), REQUEST_TIMEOUT)
  })

  it('should end a connection that never says a word', async () => {
    const { talk } = await serve(hello, { ...soon, headersTimeout: 60 })
    const client = await talk()
    assert.equal(await client.all(), REQUEST_TIMEOUT)
  })

  it('should not be put off by single bytes', async () => {
    const { talk } = await serve(hello, { ...soon, headersTimeout: 60 })
    const client = await talk('GET / HTTP/1.1\r\nX: ')
    const drip = setInterval(() => client.write('x'), 5)
    const all = await client.all()
    clearInterval(drip)
    assert.equal(all, REQUEST_TIMEOUT)
  })

  it('should count for the second request of a connection as well', async () => {
    const { talk } = await serve(hello, { ...soon, headersTimeout: ENOUGH })
    const client = await talk(get('/'))
    await client.until(/hello$/)
    client.write('GET /2 HT')
    assert((await client.all()).endsWith(`hello${REQUEST_TIMEOUT}`))
  })

  it('should count for an unsupported request behind an open response', async () => {
    const { define, reached } = hanging()
    const { talk } = await serve(define, { ...soon, headersTimeout: 60 })
    const client = await talk(get('/'))
    await reached
    client.write('TRACE / HTTP/1.1\r\nHost')
    assert.equal(await client.all(), REQUEST_TIMEOUT)
  })

  it('should be read when it is used', async () => {
    const { talk, server } = await serve(hello, { ...soon, headersTimeout: 60000 })
    server.headersTimeout = 60
    const client = await talk('GET / HTTP/1.1\r\n')
    assert.equal(await client.all(), REQUEST_TIMEOUT)
  })

  it("should tell 'clientError'", async () => {
    const { talk, server } = await serve(hello, { ...soon, headersTimeout: 60 })
    const codes = []
    server.on('clientError', (err, socket) => {
      codes.push(err.code)
      socket.end('HTTP/1.1 408 Mine\r\n\r\n')
    })
    const client = await talk('GET / HTTP/1.1\r\n')
    assert.equal(await client.all(), 'HTTP/1.1 408 Mine\r\n\r\n')
    assert.equal(codes[0], 'ERR_HTTP_REQUEST_TIMEOUT')
  })
})

sides('server.requestTimeout', ({ it, serve }) => {
  it('should end a half-sent body with 408', async () => {
    let code
    const { talk } = await serve(app => app.use(async ctx => {
      await ctx.request.readBody({ limit: 100 }).catch(err => { code = err.code })
    }), { ...soon, headersTimeout: ENOUGH, requestTimeout: ENOUGH })
    const client = await talk('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf')
    assert.equal(await client.all(), REQUEST_TIMEOUT)
    await waitFor(() => code, 'the reader to be notified')
    assert.equal(code, 'KONE_ERR_BODY_ABORTED')
  })

  it('should count for a chunked body behind an open response, to its end', async () => {
    const { define, reached } = hanging()
    const { talk } = await serve(define, { ...soon, requestTimeout: ENOUGH, headersTimeout: ENOUGH })
    const whole = await talk(get('/'))
    await reached
    const half = await talk(get('/'))
    const chunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab'
    whole.write(chunked)
    setImmediate(() => half.write(chunked))
    whole.write('cde\r\n0\r\n\r\n')
    assert.equal(await half.all(), REQUEST_TIMEOUT)
    assert(!whole.ended)
  })

  it('should not count for a tunnel behind an open response', async () => {
    const { define, reached } = hanging()
    const { talk, server } = await serve(define, { ...soon, requestTimeout: ENOUGH, headersTimeout: ENOUGH })
    server.on('connect', () => {})
    const junk = async () => (await talk('junk\r\n\r\n')).all() // behind it, what was written before has been read
    const tunnel = await talk(get('/'))
    await reached
    tunnel.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
    await junk()
    tunnel.write('bytes of another protocol')
    await junk()
    const half = await talk('GET / HTTP/1.1\r\nHost')
    assert.equal(await half.all(), REQUEST_TIMEOUT)
    assert(!tunnel.ended)
  })

  it('should end a half-sent body that is read as a stream', async () => {
    const seen = []
    const { talk } = await serve(app => app.use(ctx => new Promise(resolve => {
      ctx.req.on('data', () => {}).on('error', err => seen.push(err.code)).on('close', resolve)
    })), { ...soon, headersTimeout: ENOUGH, requestTimeout: ENOUGH })
    const client = await talk('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf')
    assert.equal(await client.all(), REQUEST_TIMEOUT)
    await waitFor(() => seen.length, 'the reader to be notified')
    assert.deepEqual(seen, ['ECONNRESET'])
  })

  it('should write nothing when the response has begun', async () => {
    const { talk } = await serve(app => app.use(ctx => {
      ctx.respond = false
      ctx.res.writeHead(200, { 'Content-Length': '10' })
      ctx.res.write('begun')
    }), { ...soon, headersTimeout: ENOUGH, requestTimeout: ENOUGH })
    const client = await talk('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf')
    assert.match(await client.all(), /\r\n\r\nbegun$/)
  })

  it('should leave a request alone that is complete, however slow its response', async () => {
    let answer
    const { talk } = await serve(app => app.use(async ctx => {
      await new Promise(resolve => { answer = resolve })
      ctx.body = 'late'
    }), { ...soon, headersTimeout: ENOUGH, requestTimeout: ENOUGH })
    const client = await talk(get('/'))
    await waitFor(() => answer, 'the request')
    const other = await talk('GET / HTTP/1.1\r\n')
    await other.all() // by now the clock has struck for whoever is late
    answer()
    await client.until(/late$/)
  })
})

sides('server.keepAliveTimeout', ({ it, serve }) => {
  it('should end a connection that is silent after a response, without a word', async () => {
    const { talk } = await serve(hello, { keepAliveTimeout: 20, keepAliveTimeoutBuffer: 20 })
    const client = await talk(get('/'))
    assert.match(await client.all(), /\r\nConnection: keep-alive\r\nKeep-Alive: timeout=0\r\n\r\nhello$/)
  })

  it('should be read when it is used', async () => {
    const { talk, server } = await serve(hello, { keepAliveTimeoutBuffer: 20 })
    server.keepAliveTimeout = 20
    const client = await talk(get('/'))
    await client.all()
  })

  it('should end a connection that stops in the middle of a body after the response', async () => {
    const options = { keepAliveTimeout: 20, keepAliveTimeoutBuffer: 20, requestTimeout: 0 }
    const { talk } = await serve(app => app.use(ctx => { ctx.status = 413 }), options)
    const client = await talk('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf')
    assert.match(await client.all(), /^HTTP\/1\.1 413 /)
  })

  it('should not end a connection before its first request', async () => {
    const { talk } = await serve(hello, { keepAliveTimeout: 20, keepAliveTimeoutBuffer: 20 })
    const silent = await talk()
    const client = await talk(get('/'))
    await client.all()
    assert(!silent.ended)
    silent.write(get('/'))
    await silent.until(/hello$/)
  })

  it('should go on while the next headers are on their way', async () => {
    const { talk } = await serve(hello, { keepAliveTimeout: 20, keepAliveTimeoutBuffer: 20 })
    const client = await talk(get('/'))
    await client.until(/hello$/)
    client.write('GET /2 HTTP/1.1\r\n')
    await client.all() // only a complete head stops the clock
  })

  it('should not count while a response is on its way', async () => {
    let answer
    const { talk } = await serve(app => app.use(async ctx => {
      if (ctx.path === '/slow') await new Promise(resolve => { answer = resolve })
      ctx.body = 'hello'
    }), { keepAliveTimeout: ENOUGH, keepAliveTimeoutBuffer: 20 })
    const slow = await talk(get('/'))
    await slow.until(/hello$/)
    slow.write(get('/slow'))
    const other = await talk(get('/'))
    await other.all()
    await waitFor(() => answer, 'the slow request')
    answer()
    await slow.until(/hello[^]+hello$/)
  })

  it('should never end a connection when it is 0', async () => {
    const { talk } = await serve(hello, { keepAliveTimeout: 0, keepAliveTimeoutBuffer: 20 })
    const kept = await talk(get('/'))
    await kept.until(/hello$/)
    assert.doesNotMatch(kept.text, /Keep-Alive: /)
    const { talk: other } = await serve(hello, { keepAliveTimeout: 20, keepAliveTimeoutBuffer: 20 })
    const client = await other(get('/'))
    await client.all()
    assert(!kept.ended)
  })
})

sides('server.timeout', ({ it, serve }) => {
  it('should destroy a silent connection', async () => {
    const { talk } = await serve(hello, { timeout: 50 })
    const client = await talk()
    assert.equal(await client.all(), '')
  })

  it('should destroy a connection whose response does not come', async () => {
    const { talk } = await serve(app => app.use(() => new Promise(() => {})), { timeout: 50 })
    const client = await talk(get('/'))
    assert.equal(await client.all(), '')
  })

  it("should leave the connection to a listener of 'timeout'", async () => {
    let told
    const { talk, server } = await serve(app => app.use(() => new Promise(() => {})), { timeout: 50 })
    server.on('timeout', socket => {
      told = socket
      socket.end('HTTP/1.1 504 Mine\r\n\r\n')
    })
    const client = await talk(get('/'))
    assert.equal(await client.all(), 'HTTP/1.1 504 Mine\r\n\r\n')
    assert(told)
  })

  it('should do the same by server.setTimeout()', async () => {
    const { talk, server } = await serve(app => app.use(() => new Promise(() => {})))
    server.setTimeout(50, socket => socket.end('HTTP/1.1 504 Mine\r\n\r\n'))
    const client = await talk(get('/'))
    assert.equal(await client.all(), 'HTTP/1.1 504 Mine\r\n\r\n')
  })

  it('should do the same by ctx.req.setTimeout() and ctx.res.setTimeout()', async () => {
    const { talk } = await serve(app => app.use(ctx => {
      const which = ctx.path === '/req' ? ctx.req : ctx.res
      return new Promise(resolve => which.setTimeout(50, () => {
        ctx.body = 'timed out'
        resolve()
      }))
    }))
    const client = await talk('POST /req HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhalf')
    await client.until(/timed out$/)
    const other = await talk(get('/res'))
    await other.until(/timed out$/)
  })
})

sides("the socket's own timeout", ({ it, serve }) => {
  const CHUNKED = 'POST /slow HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'
  const SHORT = 60

  /** A site that never responds to /slow, and whose 'connection' listener sets a timeout. */
  async function site (serve, options) {
    const { server, app, talk } = await serve(app => app.use(ctx => {
      if (ctx.path === '/slow') return new Promise(() => {})
      ctx.body = 'hello'
    }), options)
    server.on('connection', socket => socket.setTimeout(SHORT))
    return { server, app, talk }
  }

  for (const [what, bytes] of [
    ['a request', get('/slow')],
    ['pipelined requests', get('/slow') + get('/slow')],
    ['an unsupported request', CHUNKED],
    ['an unsupported request behind another one', get('/slow') + CHUNKED]
  ]) {
    it(`should count as a 'connection' listener sets it, for ${what}`, async () => {
      const { talk } = await site(serve)
      const client = await talk(bytes)
      assert.equal(await client.all(), '')
    })
  }

  it('should be kept by a request in the next packet', async () => {
    const timeouts = []
    const { talk } = await serve(app => app.use(ctx => {
      if (ctx.path === '/slow') ctx.req.setTimeout(SHORT, () => timeouts.push(ctx.url))
      return new Promise(() => {})
    }))
    const client = await talk(get('/slow'))
    client.write(get('/two'))
    // The listener is called for a request that is complete, because the socket got it.
    await client.all()
    assert.deepEqual(timeouts, [])
  })

  it('should be replaced by keepAliveTimeout after a response, and be gone for the next request', async () => {
    const { talk } = await site(serve)
    const client = await talk(get('/'))
    await client.until(/hello$/)
    const slow = await talk(get('/'))
    await slow.until(/hello$/)
    slow.write(get('/slow'))
    const silent = await talk()
    await silent.all() // by now the other two would be over, too
    assert.deepEqual([client.ended, slow.ended], [false, false])
    client.write(get('/'))
    await client.until(/hello[^]+hello$/)
    slow.destroy()
  })

  it('should be kept after a response where there is no keepAliveTimeout', async () => {
    const { talk } = await site(serve, { keepAliveTimeout: 0 })
    const client = await talk(get('/'))
    assert.match(await client.all(), /hello$/)
  })

  it('should not be set by server.setTimeout() of a time after the connection', async () => {
    const { server, talk, sockets } = await serve(hello)
    const client = await talk()
    await waitFor(() => sockets.length === 1, 'the connection')
    server.setTimeout(SHORT)
    client.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
    const silent = await talk()
    await silent.all() // by now the other one would be over, too
    client.write('0\r\n\r\n')
    await client.until(/hello$/)
  })

  it('should count between two requests, where it is set there', async () => {
    const { app, talk } = await serve(hello)
    app.on('finish', ctx => ctx.socket.setTimeout(SHORT))
    const client = await talk(get('/'))
    assert.match(await client.all(), /hello$/)
  })
})
