'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { createServer } = require('node:http')
const path = require('node:path')

const { get, sides, waitFor } = require('./sides')

const hello = app => app.use(ctx => { ctx.body = 'hello' })
const has26 = Number(process.versions.node.split('.')[0]) >= 26

/** An app that responds to /slow when `finish()` is called. */
function holding () {
  const held = []
  return {
    held,
    setup: app => app.use(async ctx => {
      if (ctx.path === '/slow') await new Promise(resolve => held.push(resolve))
      ctx.body = 'hello'
    })
  }
}

const connections = server => new Promise((resolve, reject) => {
  server.getConnections((err, count) => err ? reject(err) : resolve(count))
})

sides('server.close()', ({ it, serve }) => {
  it('should end kept connections and call back', async () => {
    const { server, talk } = await serve(hello)
    const client = await talk(get('/'))
    await client.until(/hello$/)
    await new Promise(resolve => server.close(resolve))
    await client.all()
  })

  it('should let a response end, then close its connection', async () => {
    const { held, setup } = holding()
    const { server, talk } = await serve(setup, { keepAliveTimeout: 20, keepAliveTimeoutBuffer: 20 })
    const client = await talk(get('/slow'))
    await waitFor(() => held.length, 'the request')
    const closed = new Promise(resolve => server.close(resolve))
    held[0]()
    await closed
    assert.match(client.text, /hello$/)
  })

  it('should call back when the last client went away by itself', async () => {
    const { held, setup } = holding()
    const { server, talk } = await serve(setup)
    const client = await talk(get('/slow'))
    await waitFor(() => held.length, 'the request')
    const closed = new Promise(resolve => server.close(resolve))
    client.end()
    await closed
  })
})

sides('server.closeIdleConnections()', ({ it, serve }) => {
  it('should end connections between two requests', async () => {
    const { server, talk } = await serve(hello)
    const client = await talk(get('/'))
    await client.until(/hello$/)
    server.closeIdleConnections()
    await client.all()
  })

  it('should leave busy ones alone', async () => {
    const { held, setup } = holding()
    const { server, talk } = await serve(setup)
    const busy = await talk(get('/slow'))
    const sending = await talk('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nha')
    const idle = await talk(get('/'))
    await idle.until(/hello$/)
    await sending.until(/hello$/)
    await waitFor(() => held.length, 'the request')
    server.closeIdleConnections()
    await idle.all()
    assert(!busy.ended)
    held[0]()
    await busy.until(/hello$/)
  })

  it('should leave half-sent requests alone', async () => {
    const { server, talk, sockets } = await serve(hello)
    const half = await talk('GET / HT')
    const idle = await talk(get('/'))
    await idle.until(/hello$/)
    await waitFor(() => sockets[0].bytesRead > 0, 'the half request')
    server.closeIdleConnections()
    await idle.all()
    half.write('TP/1.1\r\nHost: a\r\n\r\n')
    await half.until(/hello$/)
  })

  it(`should ${has26 ? 'close' : 'leave'} connections that were never used`, async () => {
    const { server, talk } = await serve(hello)
    const silent = await talk()
    const idle = await talk(get('/'))
    await idle.until(/hello$/)
    server.closeIdleConnections()
    await idle.all()
    if (has26) return silent.all()
    silent.write(get('/'))
    await silent.until(/hello$/)
  })
})

sides('server.closeAllConnections()', ({ it, serve }) => {
  it('should destroy busy, idle, half-sent and unused ones', async () => {
    const { held, setup } = holding()
    const { server, talk } = await serve(setup)
    const clients = [await talk(get('/slow')), await talk(get('/')), await talk('GET / HT'), await talk()]
    await clients[1].until(/hello$/)
    await waitFor(() => held.length, 'the request')
    server.closeAllConnections()
    for (const client of clients) await client.all()
    assert.equal(clients[0].text, '')
  })

  it('should let close() call back', async () => {
    const { server, talk } = await serve(hello)
    await (await talk(get('/'))).until(/hello$/)
    await talk('GET / HT')
    const closed = new Promise(resolve => server.close(resolve))
    server.closeAllConnections()
    await closed
  })
})

sides('server.getConnections()', ({ it, serve }) => {
  it('should count what is open', async () => {
    const { server, talk } = await serve(hello)
    const one = await talk(get('/'))
    const two = await talk(get('/'))
    await one.until(/hello$/)
    await two.until(/hello$/)
    assert.equal(await connections(server), 2)
    one.end()
    await one.all()
    let count
    await waitFor(() => {
      connections(server).then(now => { count = now })
      return count === 1
    }, 'one connection')
  })
})

sides('server.maxConnections', ({ it, serve }) => {
  it("should drop what is too much and tell 'drop'", async () => {
    const { server, talk } = await serve(hello, { maxConnections: 1 })
    const dropped = once(server, 'drop')
    const one = await talk(get('/'))
    await one.until(/hello$/)
    const two = await talk()
    assert.equal(await two.all(), '')
    await dropped
    one.write(get('/'))
    await one.until(/hello[^]+hello$/)
  })
})

sides('server.maxRequestsPerSocket', ({ it, serve }) => {
  it("should send it in a header, respond with 503 beyond, and emit 'dropRequest'", async () => {
    const { server, talk } = await serve(hello, { maxRequestsPerSocket: 2 })
    const urls = []
    server.on('dropRequest', req => urls.push(req.url))
    const client = await talk(get('/1'))
    await client.until(/Connection: keep-alive\r\nKeep-Alive: timeout=5, max=2\r\n\r\nhello$/)
    client.write(get('/2'))
    await client.until(/Connection: close\r\n\r\nhello$/)
    client.write(get('/3'))
    await client.until(/HTTP\/1\.1 503 Service Unavailable\r\n[^]+\r\n\r\n0\r\n\r\n$/)
    assert.deepEqual(urls, ['/3'])
  })

  it('should count from the moment it is set', async () => {
    const { server, talk } = await serve(hello)
    const client = await talk(get('/1'))
    await client.until(/timeout=5\r\n\r\nhello$/)
    server.maxRequestsPerSocket = 1
    const other = await talk(get('/1'))
    await other.until(/Connection: close\r\n\r\nhello$/)
  })
})

sides("'clientError'", ({ it, serve }) => {
  const seen = async (serve, bytes) => {
    const { server, talk } = await serve(hello)
    const errors = []
    server.on('clientError', (err, socket) => {
      errors.push([err.code, err.bytesParsed, err.rawPacket?.toString('latin1')])
      socket.end('HTTP/1.1 400 Mine\r\n\r\n')
    })
    const client = await talk(bytes)
    return { text: await client.all(), errors }
  }

  it('should get the error with its bytes, and the socket', async () => {
    const { text, errors } = await seen(serve, 'BREW / HTTP/1.1\r\n\r\n')
    assert.equal(text, 'HTTP/1.1 400 Mine\r\n\r\n')
    assert.equal(errors.length, 1)
    assert.deepEqual(errors[0][0], 'HPE_INVALID_METHOD')
    assert.equal(errors[0][2], 'BREW / HTTP/1.1\r\n\r\n')
  })

  it('should get an overflow', async () => {
    const { text, errors } = await seen(serve, `GET / HTTP/1.1\r\nX: ${'x'.repeat(20000)}`)
    assert.equal(text, 'HTTP/1.1 400 Mine\r\n\r\n')
    assert.deepEqual(errors[0][0], 'HPE_HEADER_OVERFLOW')
  })

  it('should get the end in the middle of a request', async () => {
    const { server, talk } = await serve(hello)
    const error = once(server, 'clientError')
    const client = await talk('GET / HTTP/1.1\r\nHost')
    client.end()
    const [err, socket] = await error
    assert.equal(err.code, 'HPE_INVALID_EOF_STATE')
    socket.destroy()
  })

  it('should get a reset as ECONNRESET', async () => {
    const { server, talk } = await serve(hello)
    const error = once(server, 'clientError')
    const client = await talk(get('/'))
    await client.until(/hello$/)
    client.socket.resetAndDestroy()
    const [err] = await error
    assert.equal(err.code, 'ECONNRESET')
  })
})

sides("'upgrade'", ({ it, serve }) => {
  const upgrade = 'GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n'
  const echo = server => server.on('upgrade', (req, socket, head) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n${req.url} ${head}`)
    socket.pipe(socket)
  })

  it('should get the socket and the first bytes', async () => {
    const { server, talk } = await serve(hello)
    echo(server)
    const client = await talk(`${upgrade}first`)
    await client.until(/\/chat first$/)
    client.write(' echoed')
    await client.until(/first echoed$/)
    client.end()
    await client.all()
  })

  it('should get it after requests on the same connection', async () => {
    const { server, talk } = await serve(hello)
    echo(server)
    const client = await talk(get('/'))
    await client.until(/hello$/)
    client.write(upgrade)
    await client.until(/\/chat $/)
    client.write('echoed')
    await client.until(/echoed$/)
  })

  it('should get it after a request that waits', async () => {
    const { held, setup } = holding()
    const { server, talk } = await serve(setup)
    echo(server)
    const client = await talk(get('/slow'))
    await waitFor(() => held.length, 'the request')
    held[0]()
    await client.until(/hello$/)
    client.write(upgrade)
    await client.until(/\/chat $/)
  })
})

sides("'connect'", ({ it, serve }) => {
  const tunnel = server => server.on('connect', (req, socket, head) => {
    socket.write(`HTTP/1.1 200 OK\r\n\r\n${req.url} ${head}`)
    socket.pipe(socket)
  })

  it('should get the socket, first or later', async () => {
    const { server, talk } = await serve(hello)
    tunnel(server)
    const client = await talk('CONNECT b:1 HTTP/1.1\r\nHost: b\r\n\r\nfirst')
    await client.until(/b:1 first$/)
    client.write(' echoed')
    await client.until(/echoed$/)

    const other = await talk(get('/'))
    await other.until(/hello$/)
    other.write('CONNECT b:1 HTTP/1.1\r\nHost: b\r\n\r\n')
    await other.until(/b:1 $/)
  })
})

sides("'checkContinue' and 'checkExpectation'", ({ it, serve }) => {
  const expecting = what => `POST / HTTP/1.1\r\nHost: a\r\nExpect: ${what}\r\nContent-Length: 4\r\n\r\n`

  it('should be called', async () => {
    const { server, talk } = await serve(hello)
    server.on('checkContinue', (req, res) => res.end('asked'))
    server.on('checkExpectation', (req, res) => {
      res.statusCode = 417
      res.end(`no ${req.headers.expect}`)
    })
    const client = await talk(expecting('100-continue'))
    await client.until(/asked$/)
    const other = await talk(expecting('miracles'))
    await other.until(/no miracles$/)
  })

  it('should get a response by node without listeners', async () => {
    const { talk } = await serve(app => app.use(async ctx => {
      ctx.body = await ctx.request.readBody({ limit: 10 })
      ctx.type = 'text'
    }))
    const client = await talk(expecting('100-continue'))
    await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/)
    client.write('body')
    await client.until(/\r\n\r\nbody$/)
  })
})

sides('server.on(…)', ({ it, serve }) => {
  it("should tell 'connection' and 'close' once", async () => {
    const { server, talk, sockets } = await serve(hello)
    let closed = 0
    server.on('connection', socket => socket.on('close', () => closed++))
    const client = await talk(get('/'))
    await client.until(/hello$/)
    client.end()
    await client.all()
    await waitFor(() => closed, 'the close')
    assert.equal(closed, 1)
    assert.equal(sockets.length, 1)
    assert.equal(sockets[0].server, server)
  })

  it('should respond with a socket that was emitted by hand', async () => {
    const { duplexPair } = require('./harness')
    const { server } = await serve(hello)
    const [client, socket] = duplexPair()
    server.emit('connection', socket)
    client.write(get('/'))
    let text = ''
    client.on('data', chunk => { text += chunk })
    await waitFor(() => text.endsWith('hello'), 'the response')
    client.destroy()
  })
})

sides('AsyncLocalStorage', ({ side, it, serve }) => {
  // Up to Node 22 enterWith() in a handler is seen by the connection's next request; with the front it is not.
  const skip = side === 'node:http' && Number(process.versions.node.split('.')[0]) < 24 && 'node:http leaks here'

  it('should not leak from one request of a connection into the next', { skip }, async () => {
    const storage = new AsyncLocalStorage()
    const seen = []
    const { talk } = await serve(app => app.use(async ctx => {
      seen.push(storage.getStore())
      storage.enterWith(ctx.path)
      await null
      seen.push(storage.getStore())
      ctx.body = 'hello'
    }))
    const client = await talk(get('/1'))
    await client.until(/hello$/)
    client.write(get('/2') + get('/3'))
    await client.until(/(?:hello[^]+){2}hello$/)
    const expected = [undefined, '/1', undefined, '/2', undefined, '/3']
    assert.deepEqual(seen.toSorted(), expected.toSorted())
    assert.equal(seen.filter(value => value === undefined).length, 3)
  })
})

sides('headers that a connection repeats', ({ it, serve }) => {
  const fields = 'X-Twice: 1\r\nCookie: a=b\r\nX-Twice: 2\r\nCookie: c=d\r\n'

  it('should have the same fields every time', async () => {
    const { talk } = await serve(app => app.use(ctx => {
      ctx.body = ['X-Twice', 'Cookie', 'Host', 'X-None', 'Set-Cookie'].map(name => ctx.get(name)).join('|') + ';'
    }))
    const client = await talk(get('/', fields))
    for (const times of [1, 2, 3]) {
      await client.until(new RegExp(`(?:\\r\\n\\r\\n1, 2[|]a=b; c=d[|]a[|][|];[^]*){${times}}$`))
      client.write(get('/', fields))
    }
  })

  it('should give every request raw headers of its own', async () => {
    const { talk } = await serve(app => app.use(ctx => {
      ctx.req.rawHeaders.push('mine')
      ctx.body = `${ctx.req.rawHeaders};`
    }))
    const client = await talk(get('/'))
    for (const times of [1, 2, 3]) {
      await client.until(new RegExp(`(?:\\r\\n\\r\\nHost,a,mine;[^]*){${times}}$`))
      client.write(get('/'))
    }
  })

  it('should be read by server.joinDuplicateHeaders of the moment', async () => {
    const { talk, server } = await serve(app => app.use(ctx => { ctx.body = `${ctx.get('User-Agent')};` }))
    const agents = 'User-Agent: a\r\nUser-Agent: b\r\n'
    const client = await talk(get('/', agents))
    await client.until(/\r\n\r\na;$/)
    client.write(get('/', agents))
    await client.until(/(?:\r\n\r\na;[^]*){2}$/)
    server.joinDuplicateHeaders = true
    client.write(get('/', agents))
    await client.until(/\r\n\r\na, b;$/)
  })
})

sides('--max-http-header-size', ({ side, it }) => {
  it('should be the limit', async () => {
    const script = `
      const http = require('node:http')
      const Kone = require(${JSON.stringify(path.join(__dirname, '../helpers/kone'))})
      const { talk, get } = require(${JSON.stringify(path.join(__dirname, 'sides'))})
      const app = new Kone()
      app.use(ctx => { ctx.body = 'hello' })
      const server = http.createServer()
      ${side === 'front' ? 'app.attach(server)' : "server.on('request', app.callback())"}
      server.listen(0, '127.0.0.1', async () => {
        const { port } = server.address()
        const small = await talk(port, get('/', 'X: ' + 'x'.repeat(900) + '\\r\\n'))
        await small.until(/hello$/)
        const large = await talk(port, get('/', 'X: ' + 'x'.repeat(1100) + '\\r\\n'))
        console.log((await large.all()).split('\\r\\n')[0])
        process.exit()
      })`
    const child = spawn(process.execPath, ['--max-http-header-size=1024', '-e', script], {
      cwd: __dirname,
      stdio: ['ignore', 'pipe', 'inherit']
    })
    let text = ''
    child.stdout.on('data', chunk => { text += chunk })
    await once(child, 'close')
    assert.equal(text, 'HTTP/1.1 431 Request Header Fields Too Large\n')
  })
})

sides('http.createServer({ highWaterMark })', ({ it, serve }) => {
  for (const highWaterMark of [0, 1]) {
    it(`should serve one request after another, and pipelined ones, with ${highWaterMark}`, async () => {
      const { talk } = await serve(app => app.use(ctx => { ctx.body = ctx.path }), { highWaterMark })
      const client = await talk(get('/1'))
      await client.until(/\/1$/)
      client.write(get('/2'))
      await client.until(/\/2$/)
      client.write(get('/3') + get('/4') + get('/5'))
      await client.until(/\/3HTTP[^]+\/4HTTP[^]+\/5$/)
      client.write(get('/6'))
      await client.until(/\/6$/)
    })
  }
})

sides('http.createServer({ httpValidation })', ({ it, serve }) => {
  const skip = !('httpValidation' in createServer()) && 'this Node does not know it'
  const ODD = get('/odd', 'X-Odd: a\x01b\r\n')

  for (const [httpValidation, seen] of [['relaxed', ['/open', '/odd']], ['insecure', ['/open', '/odd']], ['strict', ['/open']]]) {
    it(`should decide about a request behind an open response, ${httpValidation}`, { skip }, async () => {
      const { held, setup } = holding()
      const paths = []
      const { talk, sockets } = await serve(app => {
        app.use((ctx, next) => {
          paths.push(ctx.path)
          return ctx.path === '/open' ? new Promise(resolve => held.push(resolve)).then(next) : next()
        })
        setup(app)
      }, { httpValidation })
      const client = await talk(get('/open'))
      await waitFor(() => held.length, 'the first request')
      const sent = sockets[0].bytesRead + ODD.length
      client.write(ODD)
      if (httpValidation === 'strict') {
        assert.match(await client.all(), /^HTTP\/1\.1 400 /)
      } else {
        await waitFor(() => sockets[0].bytesRead === sent, 'the second request')
        held[0]()
        await client.until(/hello[^]+hello$/)
      }
      assert.deepEqual(paths, seen)
    })
  }
})
