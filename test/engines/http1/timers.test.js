'use strict'

const assert = require('node:assert/strict')
const { describe } = require('node:test')

const { chunked, get, hello, holding, post, sides: inTurn, unsupported, use, waitFor } = require('./sides')

/** Both beside each other: they wait, and do little else. */
const sides = (title, define) => describe(title, { concurrency: 2 }, () => inTurn(title, define))

const REQUEST_TIMEOUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n'

// Node looks for late requests every 30 s by default; the front has to use the same option.
const soon = { connectionsCheckingInterval: 20 }

// ms in which what a test does before the deadline is done, also on a busy machine
const ENOUGH = 400

const silent = { keepAliveTimeout: 20, keepAliveTimeoutBuffer: 20 }
const never = use(() => new Promise(() => {}))
const half = post('half', '', 10)

/** More than the system buffers for a client that does not read. */
const LARGE = Buffer.alloc(16_000_000)

/** In reads of their own, behind each of these requests. */
const EMPTY_LINES = [['\r\n'], ['\r', '\n'], ['\n'], ['\r'], ['\r\n', '\n\r\r'], ['\r\n'.repeat(10000)]]
const REQUESTS = [get('/'), post('body'), chunked('4\r\nbody\r\n0\r\n\r\n'), `${get('/')}\r\n`]

sides('server.headersTimeout', ({ side, it, serve, all }) => {
  const early = { ...soon, headersTimeout: 60 }

  for (const [title, bytes] of [
    ['a half-sent head', 'GET / HTTP/1.1\r\nHost: a\r\n'],
    ['half a request line', 'GE'],
    ['empty lines', '\r\n\n'],
    ['a connection that never says a word', undefined]
  ]) {
    it(`should end ${title} with 408`, async () => assert.equal(await all(hello, bytes, early), REQUEST_TIMEOUT))
  }

  it('should not be put off by single bytes', async () => {
    const { talk } = await serve(hello, early)
    const client = await talk('GET / HTTP/1.1\r\nX: ')
    const drip = setInterval(() => client.write('x'), 5)
    const text = await client.all()
    clearInterval(drip)
    assert.equal(text, REQUEST_TIMEOUT)
  })

  it('should count for the second request of a connection as well', async () => {
    const { ask } = await serve(hello, { ...soon, headersTimeout: ENOUGH })
    const client = await ask(get('/'))
    client.write('GET /2 HT')
    assert((await client.all()).endsWith(`hello${REQUEST_TIMEOUT}`))
  })

  it(`should count for an unsupported request behind an open response, ${side === 'front' ? 'once that is sent' : 'at once'}`, async () => {
    const { setup, begun, release } = holding()
    const { talk, all } = await serve(setup, { ...soon, headersTimeout: ENOUGH })
    const client = await talk(get('/slow'))
    await begun()
    client.write('TRACE / HTTP/1.1\r\nHost')
    await all('GET / HTTP/1.1\r\nHost') // by now the clock has struck for whoever is late
    assert.equal(client.text, side === 'front' ? '' : REQUEST_TIMEOUT)
    release()
    assert.equal((await client.all()).replace(/^HTTP\/1.1 200 [^]+hello/, ''), REQUEST_TIMEOUT)
  })

  it('should be read when it is used', async () => {
    const { all, server } = await serve(hello, { ...soon, headersTimeout: 60000 })
    server.headersTimeout = 60
    assert.equal(await all('GET / HTTP/1.1\r\n'), REQUEST_TIMEOUT)
  })

  it("should notify a listener of 'clientError'", async () => {
    const { all, server } = await serve(hello, early)
    const codes = []
    server.on('clientError', (err, socket) => {
      codes.push(err.code)
      socket.end('HTTP/1.1 408 Mine\r\n\r\n')
    })
    assert.equal(await all('GET / HTTP/1.1\r\n'), 'HTTP/1.1 408 Mine\r\n\r\n')
    assert.equal(codes[0], 'ERR_HTTP_REQUEST_TIMEOUT')
  })
})

sides('server.requestTimeout', ({ it, serve, all }) => {
  const late = { ...soon, headersTimeout: ENOUGH, requestTimeout: ENOUGH }

  for (const [how, code, read] of [
    ['by readBody()', 'KONE_ERR_BODY_ABORTED', (ctx, note) => ctx.request.readBody({ limit: 100 }).catch(note)],
    ['as a stream', 'ECONNRESET', (ctx, note) => new Promise(resolve => ctx.req.on('data', () => {}).on('error', note).on('close', resolve))]
  ]) {
    it(`should end a half-sent body with 408 that is read ${how}`, async () => {
      const seen = []
      assert.equal(await all(use(ctx => read(ctx, err => { seen.push(err.code) })), half, late), REQUEST_TIMEOUT)
      await waitFor(() => seen.length, 'the reader to be notified')
      assert.deepEqual(seen, [code])
    })
  }

  it('should count for a chunked body behind an open response, to its end', async () => {
    const { setup, begun } = holding()
    const { talk } = await serve(setup, late)
    const whole = await talk(get('/slow'))
    const half = await talk(get('/slow'))
    await begun(2)
    const part = chunked('5\r\nab')
    whole.write(part)
    half.write(part)
    whole.write('cde\r\n0\r\n\r\n')
    assert.equal(await half.all(), REQUEST_TIMEOUT)
    assert(!whole.ended)
  })

  for (const part of ['', '5', '5\r\nab', '5;a', '5;a=b\r\nabcde', '0\r\n', '0\r\nX: y']) {
    it(`should end a chunked body with 408 that ends behind ${JSON.stringify(part)}`, async () => {
      assert.equal(await all(use(ctx => ctx.request.readBody().catch(() => {})), chunked(part), late), REQUEST_TIMEOUT)
    })
  }

  for (const [what, ...reads] of [
    ['a malformed chunk', chunked('2\r\nbo\r\n'), 'x'],
    ['a malformed extension', chunked('2'), ';a=\0']
  ]) {
    it(`should count behind ${what}, while a listener keeps the connection`, async () => {
      const { talk, server, sockets } = await serve(use(ctx => ctx.request.readBody().catch(() => {})), late)
      const codes = []
      server.on('clientError', err => codes.push(err.code))
      const client = await talk(reads[0])
      await waitFor(() => sockets[0]?.bytesRead === reads[0].length, 'the good chunks')
      client.write(reads[1])
      await waitFor(() => codes.includes('ERR_HTTP_REQUEST_TIMEOUT'), 'the timeout')
      assert.match(codes[0], /^HPE_/)
      assert.equal(codes.length, 2)
      server.closeAllConnections()
    })
  }

  it('should not count for a tunnel behind an open response', async () => {
    const { setup, begun } = holding()
    const { talk, server, all } = await serve(setup, late)
    server.on('connect', () => {})
    const tunnel = await talk(get('/slow'))
    await begun()
    tunnel.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
    await all('junk\r\n\r\n') // behind it, what was written before has been read
    tunnel.write('bytes of another protocol')
    await all('junk\r\n\r\n')
    assert.equal(await all('GET / HTTP/1.1\r\nHost'), REQUEST_TIMEOUT)
    assert(!tunnel.ended)
  })

  it('should write nothing when the response has begun', async () => {
    assert.match(await all(use(ctx => {
      ctx.respond = false
      ctx.res.writeHead(200, { 'Content-Length': '10' })
      ctx.res.write('begun')
    }), half, late), /\r\n\r\nbegun$/)
  })

  it('should leave a request alone that is complete, however slow its response', async () => {
    const { setup, begun, release } = holding()
    const { talk, all } = await serve(setup, late)
    const client = await talk(get('/slow'))
    await begun()
    await all('GET / HTTP/1.1\r\n') // by now the clock has struck for whoever is late
    release()
    await client.until(/hello$/)
  })
})

sides('server.keepAliveTimeout', ({ it, serve, all }) => {
  it('should end a connection that is silent after a response, without a word', async () => {
    assert.match(await all(hello, get('/'), silent), /\r\nConnection: keep-alive\r\nKeep-Alive: timeout=0\r\n\r\nhello$/)
  })

  it('should end a connection that has sent empty lines since, without a word, and not by another timeout', async () => {
    const { ask, sockets } = await serve(hello, {
      ...soon, headersTimeout: ENOUGH, requestTimeout: ENOUGH, keepAliveTimeout: 3 * ENOUGH, keepAliveTimeoutBuffer: 20
    })
    const clients = EMPTY_LINES.flatMap(lines => REQUESTS.map(async request => {
      const client = await ask(request)
      const socket = sockets.find(({ remotePort }) => remotePort === client.socket.localPort)
      let read = request.length
      for (const piece of lines) {
        client.write(piece)
        read += piece.length
        await waitFor(() => socket.bytesRead === read, 'the piece')
      }
      return client.all()
    }))
    for (const text of await Promise.all(clients)) assert.match(text, /^HTTP\/1\.1 200 [^]+hello$/)
  })

  it('should be read when it is used', async () => {
    const { all, server } = await serve(hello, { keepAliveTimeoutBuffer: 20 })
    server.keepAliveTimeout = 20
    await all(get('/'))
  })

  it('should not end a connection whose response ends while another one is over', async () => {
    let end
    const { server, sockets, ask, talk } = await serve(use(ctx => {
      if (ctx.path === '/') return
      ctx.respond = false
      end = () => ctx.res.end('hello')
    }), { keepAliveTimeout: ENOUGH, keepAliveTimeoutBuffer: 0 })
    const over = []
    server.on('timeout', socket => {
      over.push(sockets.indexOf(socket))
      end()
      socket.destroy()
    })
    const idle = await ask(get('/'), /Not Found$/)
    const busy = await talk(get('/slow'))
    await idle.all()
    await busy.until(/hello$/)
    assert.deepEqual(over, [0])
  })

  it('should end a connection that stops in the middle of a body after the response', async () => {
    assert.match(await all(use(ctx => { ctx.status = 413 }), half, { ...silent, requestTimeout: 0 }), /^HTTP\/1\.1 413 /)
  })

  it('should not end a connection before its first request', async () => {
    const { talk, all } = await serve(hello, silent)
    const client = await talk()
    await all(get('/'))
    assert(!client.ended)
    await client.ask(get('/'))
  })

  it('should go on while the next headers are on their way', async () => {
    const { ask } = await serve(hello, silent)
    const client = await ask(get('/'))
    client.write('GET /2 HTTP/1.1\r\n')
    await client.all() // only a complete head stops the clock
  })

  it('should not count while a response is on its way', async () => {
    const { setup, begun, release } = holding()
    const { ask, all } = await serve(setup, { keepAliveTimeout: ENOUGH, keepAliveTimeoutBuffer: 20 })
    const slow = await ask(get('/'))
    slow.write(get('/slow'))
    await all(get('/'))
    await begun()
    release()
    await slow.until(/hello[^]+hello$/)
  })

  it('should never end a connection when it is 0', async () => {
    const { ask } = await serve(hello, { ...silent, keepAliveTimeout: 0 })
    const kept = await ask(get('/'))
    assert.doesNotMatch(kept.text, /Keep-Alive: /)
    await all(hello, get('/'), silent)
    assert(!kept.ended)
  })
})

sides('server.timeout', ({ it, serve, ask, all }) => {
  it('should destroy a silent connection', async () => assert.equal(await all(hello, undefined, { timeout: 50 }), ''))

  it('should destroy a connection whose response does not come', async () => {
    assert.equal(await all(never, get('/'), { timeout: 50 }), '')
  })

  const MINE = 'HTTP/1.1 504 Mine\r\n\r\n'
  for (const [title, options, listen] of [
    ["a listener of 'timeout'", { timeout: 50 }, (server, listener) => server.on('timeout', listener)],
    ['that of server.setTimeout()', {}, (server, listener) => server.setTimeout(50, listener)]
  ]) {
    it(`should leave the connection to ${title}`, async () => {
      const { all, server } = await serve(never, options)
      listen(server, socket => socket.end(MINE))
      assert.equal(await all(get('/')), MINE)
    })
  }

  it('should do the same by ctx.req.setTimeout() and ctx.res.setTimeout()', async () => {
    const setup = use(ctx => new Promise(resolve => ctx[ctx.path.slice(1)].setTimeout(50, () => {
      ctx.body = 'timed out'
      resolve()
    })))
    await ask(setup, post('half', '', 5, '/req'), /timed out$/)
    await ask(setup, get('/res'), /timed out$/)
  })

  for (const [what, bytes, respond] of [
    ['ctx.req.setTimeout(), for a body behind an open response', get('/open') + half, () => new Promise(() => {})],
    ['ctx.req.setTimeout(), for a body whose response was sent', half, ctx => { ctx.body = 'early' }],
    ['ctx.res.setTimeout(), for a response that the client does not read', get('/'), ctx => { ctx.body = LARGE }]
  ]) {
    it(`should leave the connection to ${what}`, async () => {
      let calls = 0
      const { talk, sockets } = await serve(use(ctx => {
        if (ctx.path === '/') ctx[what.slice(4, 7)].setTimeout(50, () => calls++)
        return respond(ctx)
      }), silent)
      const client = await talk()
      client.socket.pause()
      client.write(bytes)
      await waitFor(() => calls > 0 || sockets[0]?.destroyed, 'the timeout')
      assert.equal(sockets[0].destroyed, false)
      client.destroy()
    })
  }
})

sides("the socket's own timeout", ({ it, serve }) => {
  const UNSUPPORTED = unsupported('0\r\n\r\n', '/slow')
  const SHORT = 60

  /** A site that never responds to /slow, and whose 'connection' listener sets a timeout. */
  async function site (options) {
    const site = await serve(holding().setup, options)
    site.server.on('connection', socket => socket.setTimeout(SHORT))
    return site
  }

  for (const [what, bytes] of [
    ['a request', get('/slow')],
    ['pipelined requests', get('/slow') + get('/slow')],
    ['a chunked request', chunked('0\r\n\r\n', '/slow')],
    ['an unsupported request', UNSUPPORTED],
    ['an unsupported request behind another one', get('/slow') + UNSUPPORTED]
  ]) {
    it(`should count as a 'connection' listener sets it, for ${what}`, async () => {
      assert.equal(await (await site()).all(bytes), '')
    })
  }

  it('should be kept by a request in the next packet', async () => {
    const timeouts = []
    const { talk } = await serve(use(ctx => {
      if (ctx.path === '/slow') ctx.req.setTimeout(SHORT, () => timeouts.push(ctx.url))
      return new Promise(() => {})
    }))
    const client = await talk(get('/slow'))
    client.write(get('/two'))
    // The listener is called for a request that is complete, because the socket got it.
    await client.all()
    assert.deepEqual(timeouts, [])
  })

  it('should count for an unsupported request behind a batch of responses', async () => {
    const { setup, begun, release } = holding()
    const { server, sockets, talk } = await serve(setup)
    server.on('connection', socket => socket.setTimeout(ENOUGH))
    const batch = get('/slow') + get('/slow')
    const client = await talk(batch)
    await begun(2)
    client.write(UNSUPPORTED)
    await waitFor(() => sockets[0].bytesRead > batch.length, 'the last request')
    release()
    await client.all()
  })

  for (const [what, bytes] of [['a request', get('/slow')], ['an unsupported request', UNSUPPORTED]]) {
    it(`should be kept by ${what} behind a response that the client still reads`, async () => {
      const { talk } = await serve(use(ctx => {
        if (ctx.path !== '/slow') {
          ctx.body = LARGE
          return
        }
        ctx.socket.setTimeout(SHORT)
        client.socket.resume()
        return new Promise(() => {})
      }))
      const client = await talk()
      client.socket.pause()
      client.write(get('/'))
      client.write(bytes)
      await client.all()
    })
  }

  it('should be replaced by keepAliveTimeout after a response, and be gone for the next request', async () => {
    const { server, ask, all } = await serve(holding().setup)
    server.on('connection', socket => socket.setTimeout(ENOUGH))
    const client = await ask(get('/'))
    const slow = await ask(get('/'))
    slow.write(get('/slow'))
    await all() // by now the other two would be over, too
    assert.deepEqual([client.ended, slow.ended], [false, false])
    await client.ask(get('/'))
    slow.destroy()
  })

  it('should be kept after a response where there is no keepAliveTimeout', async () => {
    assert.match(await (await site({ keepAliveTimeout: 0 })).all(get('/')), /hello$/)
  })

  it('should not be set by server.setTimeout() of a time after the connection', async () => {
    const { server, talk, all, sockets } = await serve(hello)
    const client = await talk()
    await waitFor(() => sockets.length === 1, 'the connection')
    server.setTimeout(SHORT)
    client.write(chunked(''))
    await all() // by now the other one would be over, too
    client.write('0\r\n\r\n')
    await client.until(/hello$/)
  })

  it('should count between two requests, where it is set there', async () => {
    const { app, all } = await serve(hello)
    app.on('finish', ctx => ctx.socket.setTimeout(SHORT))
    assert.match(await all(get('/')), /hello$/)
  })
})
