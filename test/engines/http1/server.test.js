'use strict'

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { createServer } = require('node:http')
const path = require('node:path')

const websocket = require('../../../middleware/websocket')
const { connect, handshake, requestOf, responseOf } = require('../../helpers/handshake')
const { MAJOR, get, hello, holding, last, post, sides, use, waitFor } = require('./sides')
const { download, wire } = require('./wire')

const has26 = MAJOR >= 26
const LARGE = Buffer.alloc(32 * 1024 * 1024)
const closed = server => new Promise(resolve => server.close(resolve))
const connections = server => new Promise((resolve, reject) => {
  server.getConnections((err, count) => err ? reject(err) : resolve(count))
})

sides('server.close()', ({ it, serve }) => {
  it('should end kept connections and call back', async () => {
    const { server, ask } = await serve(hello)
    const client = await ask(get('/'))
    await closed(server)
    await client.all()
  })

  it('should let a response end, then close its connection', async () => {
    const { begun, release, setup } = holding()
    const { server, talk } = await serve(setup, { keepAliveTimeout: 20, keepAliveTimeoutBuffer: 20 })
    const client = await talk(get('/slow'))
    await begun()
    const end = closed(server)
    release()
    await end
    assert.match(client.text, /hello$/)
  })

  it('should call back when the last client went away by itself', async () => {
    const { begun, setup } = holding()
    const { server, talk } = await serve(setup)
    const client = await talk(get('/slow'))
    await begun()
    const end = closed(server)
    client.end()
    await end
  })
})

sides('server.closeIdleConnections()', ({ it, serve }) => {
  it('should end connections between two requests, and leave busy ones alone', async () => {
    const { begun, release, setup } = holding()
    const { server, talk, ask } = await serve(setup)
    const busy = await talk(get('/slow'))
    await ask(post('ha', '', 4))
    const idle = await ask(get('/'))
    await begun()
    server.closeIdleConnections()
    await idle.all()
    assert(!busy.ended)
    release()
    await busy.until(/hello$/)
  })

  it('should leave half-sent requests alone', async () => {
    const { server, talk, ask, sockets } = await serve(hello)
    const half = await talk('GET / HT')
    const idle = await ask(get('/'))
    await waitFor(() => sockets[0].bytesRead > 0, 'the half request')
    server.closeIdleConnections()
    await idle.all()
    await half.ask('TP/1.1\r\nHost: a\r\n\r\n')
  })

  it(`should ${has26 ? 'close' : 'leave'} connections that were never used`, async () => {
    const { server, talk, ask } = await serve(hello)
    const silent = await talk()
    const idle = await ask(get('/'))
    server.closeIdleConnections()
    await idle.all()
    await (has26 ? silent.all() : silent.ask(get('/')))
  })
})

wire('socket._httpMessage', ({ it, serve }) => {
  for (const [what, bytes] of [['one', get('/')], ['the last one', last('/')], ['two', get('/') + get('/')]]) {
    it(`should be there until the response is flushed, for who closes all other connections (http-terminator): ${what}`, async () => {
      const { port, sockets } = await serve(use(ctx => { ctx.body = Buffer.alloc(16_000_000) }))
      const client = await download(port, bytes)
      await waitFor(() => sockets[0]?.bytesWritten > 0, 'the response')
      assert.equal(sockets[0]._httpMessage?.headersSent, true)
      client.resume()
      await waitFor(() => sockets[0]._httpMessage === null, 'its end')
    })
  }
})

wire('server.closeIdleConnections()', ({ side, it, serve }) => {
  const isNode = side === 'node:http'

  /** What happens on a connection, and whether it is idle then. */
  const ROWS = {
    'that was responded to': [true, async ({ port, sockets }) => {
      const client = await download(port, get('/'))
      client.resume()
      await waitFor(() => client.last.endsWith('hello') && sockets[0]._httpMessage === null, 'the response')
    }],
    'that has sent empty lines since': [true, async ({ ask, sockets }) => {
      const client = await ask(get('/'))
      client.write('\r\n\n')
      await waitFor(() => sockets[0].bytesRead === get('/').length + 3, 'the lines')
    }],
    'with an open response': [false, async ({ port, begun }) => {
      await download(port, get('/slow'))
      await begun()
    }],
    'with an open response behind one that was sent': [false, async ({ port, begun }) => {
      await download(port, get('/') + get('/slow'))
      await begun()
    }],
    // node:http loses the responses of these, see siege/exceptions.js
    'with a response that is not flushed': [isNode, site => unflushed(site, get('/large'))],
    'with one that is queued behind it': [isNode, site => unflushed(site, get('/slow/large') + get('/'))],
    'with both, whose socket other code has ended': [isNode, async site => {
      await unflushed(site, get('/slow/large') + get('/'))
      site.sockets[0].end()
    }],
    'whose socket other code has ended, with an open response': [false, site => endsOpen(site)],
    'whose socket other code has ended, with a response that has ended since': [true, async site => {
      await endsOpen(site)
      site.release()
      await waitFor(() => site.ended.includes('/slow'), 'its end')
    }]
  }

  /** The client does not read. What is behind a slow response has ended before. */
  async function unflushed ({ port, sockets, ended, release }, requests) {
    await download(port, requests)
    if (requests.includes('slow')) await waitFor(() => ended.includes('/'), 'the response behind it')
    release()
    await waitFor(() => sockets[0]?.writableLength > 0, 'the response')
  }

  /** The client has bytes to read first, so that it does not notice the end. */
  async function endsOpen ({ port, begun, sockets }) {
    await download(port, get('/') + get('/slow'))
    await begun()
    await waitFor(() => sockets[0].bytesWritten > 0, 'the first response')
    sockets[0].end()
  }

  for (const [title, [isIdle, reach]] of Object.entries(ROWS)) {
    it(`should ${isIdle ? 'close' : 'leave'} a connection ${title}`, async () => {
      const ended = []
      const { setup, begun, release } = holding(ctx => {
        ctx.respond = false
        ctx.response.outgoing.end(ctx.path.endsWith('/large') ? LARGE : 'hello')
        ended.push(ctx.path)
      })
      const site = { ...await serve(setup), begun, release, ended }
      await reach(site)
      const [socket] = site.sockets
      assert(!socket.destroyed)
      site.server.closeIdleConnections()
      assert.equal(socket.destroyed, isIdle)
    })
  }
})

wire('server.close() when a response has ended and is not flushed', ({ it, serve, side }) => {
  // node:http cuts the response
  it('should close the connection once it is flushed', { skip: side === 'node:http' }, async () => {
    const { server, port, sockets } = await serve(use(ctx => { ctx.body = LARGE }), { keepAliveTimeout: 0 })
    const client = await download(port, get('/'))
    await waitFor(() => sockets[0]?.writableLength > 0, 'the response')
    const end = closed(server)
    assert(!sockets[0].destroyed)
    client.resume()
    await client.end()
    assert(client.size > LARGE.length, `${client.size} bytes`)
    await end
  })

  it('should leave it open if only closeIdleConnections() is called', { skip: side === 'node:http' }, async () => {
    const { server, port, sockets } = await serve(use(ctx => { ctx.body = ctx.path === '/' ? LARGE : 'next' }))
    const client = await download(port, get('/'))
    await waitFor(() => sockets[0]?.writableLength > 0, 'the response')
    server.closeIdleConnections()
    client.resume()
    await client.received(LARGE.length)
    client.write(last('/next'))
    await client.end()
    assert.match(client.last, /next$/)
  })
})

sides('server.closeAllConnections()', ({ it, serve }) => {
  it('should destroy busy, idle, half-sent and unused ones, and let close() call back', async () => {
    const { begun, setup } = holding()
    const { server, talk, ask } = await serve(setup)
    const clients = [await talk(get('/slow')), await ask(get('/')), await talk('GET / HT'), await talk()]
    await begun()
    const end = closed(server)
    server.closeAllConnections()
    for (const client of clients) await client.all()
    assert.equal(clients[0].text, '')
    await end
  })
})

sides('server.getConnections()', ({ it, serve }) => {
  it('should count what is open', async () => {
    const { server, ask } = await serve(hello)
    const one = await ask(get('/'))
    await ask(get('/'))
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
    const { server, ask, all } = await serve(hello, { maxConnections: 1 })
    const dropped = once(server, 'drop')
    const one = await ask(get('/'))
    assert.equal(await all(), '')
    await dropped
    await one.ask(get('/'))
  })
})

sides('server.maxRequestsPerSocket', ({ it, serve }) => {
  it('should count from the moment it is set', async () => {
    const { server, ask } = await serve(hello)
    await ask(get('/1'), /timeout=5\r\n\r\nhello$/)
    server.maxRequestsPerSocket = 1
    await ask(get('/1'), /Connection: close\r\n\r\nhello$/)
  })
})

sides("'clientError'", ({ it, serve }) => {
  for (const [title, bytes, code, packet] of [
    ['the error with its bytes, and the socket', 'BREW / HTTP/1.1\r\n\r\n', 'HPE_INVALID_METHOD', 'BREW / HTTP/1.1\r\n\r\n'],
    ['an overflow', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20000)}`, 'HPE_HEADER_OVERFLOW']
  ]) {
    it(`should get ${title}`, async () => {
      const { server, all } = await serve(hello)
      const errors = []
      server.on('clientError', (err, socket) => {
        errors.push(err)
        socket.end('HTTP/1.1 400 Mine\r\n\r\n')
      })
      assert.equal(await all(bytes), 'HTTP/1.1 400 Mine\r\n\r\n')
      assert.equal(errors[0].code, code)
      if (packet === undefined) return
      assert.equal(errors.length, 1)
      assert.equal(errors[0].rawPacket.toString('latin1'), packet)
    })
  }

  it('should get a reset as ECONNRESET', async () => {
    const { server, ask } = await serve(hello)
    const error = once(server, 'clientError')
    const client = await ask(get('/'))
    client.socket.resetAndDestroy()
    assert.equal((await error)[0].code, 'ECONNRESET')
  })
})

sides("'upgrade' and 'connect'", ({ it, serve }) => {
  const upgrade = 'GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n'
  const connect = 'CONNECT b:1 HTTP/1.1\r\nHost: b\r\n\r\n'
  const echo = server => {
    for (const event of ['upgrade', 'connect']) {
      server.on(event, (req, socket, head) => {
        socket.write(`HTTP/1.1 ${event === 'upgrade' ? '101 Switching Protocols' : '200 OK'}\r\n\r\n${req.url} ${head}`)
        socket.pipe(socket)
      })
    }
  }

  for (const [event, bytes, target] of [['upgrade', upgrade, '\\/chat'], ['connect', connect, 'b:1']]) {
    it(`should get the socket and the first bytes: '${event}'`, async () => {
      const { server, ask } = await serve(hello)
      echo(server)
      const client = await ask(`${bytes}first`, new RegExp(`${target} first$`))
      await client.ask(' echoed', / echoed$/)
      client.end()
      await client.all()
    })

    it(`should get it after requests on the same connection: '${event}'`, async () => {
      const { server, ask } = await serve(hello)
      echo(server)
      const client = await ask(get('/'))
      await client.ask(bytes, new RegExp(`${target} $`))
      await client.ask('echoed', /echoed$/)
    })
  }

  it("should get it after a request that waits: 'upgrade'", async () => {
    const { begun, release, setup } = holding()
    const { server, talk } = await serve(setup)
    echo(server)
    const client = await talk(get('/slow'))
    await begun()
    release()
    await client.until(/hello$/)
    await client.ask(upgrade, /\/chat $/)
  })

  // As Java's HttpClient asks for HTTP/2, with any of its methods.
  for (const version of ['1.1', '1.0']) {
    for (const [coding, body] of [['Content-Length: 4', 'body'], ...version === '1.1' ? [['Transfer-Encoding: chunked', '4\r\nbody\r\n0\r\n\r\n']] : []]) {
      const fields = `Host: a\r\nConnection: keep-alive, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n${coding}\r\n`
      const h2c = `POST /chat HTTP/${version}\r\n${fields}\r\n${body}`
      const setup = use(async ctx => { ctx.body = `${ctx.method} ${ctx.get('Upgrade')} ${await ctx.request.readBody()};` })

      it(`should not come without a listener: h2c, a POST of HTTP/${version} with ${coding}`, async () => {
        const { ask } = await serve(setup)
        const client = await ask(get('/'), /;$/)
        for (let i = 0; i < 2; i++) {
          await client.ask(h2c, /^HTTP\/1\.1 200 [^]+\r\n\r\nPOST h2c body;$/)
          await client.ask(get('/'), /\r\n\r\nGET {2};$/)
        }
      })

      // As the first bytes of the tunnel; since Node 26 as the body of the request.
      it(`should get what follows the header section: h2c, a POST of HTTP/${version} with ${coding}`, async () => {
        const { server, talk } = await serve(setup)
        server.on('upgrade', async (req, socket, head) => {
          const bytes = [head, ...await req.toArray()]
          socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\n${Buffer.concat(bytes)}`)
        })
        const text = await (await talk(h2c)).all()
        assert.equal(text.split('\r\n\r\n').slice(1).join('\r\n\r\n'), has26 ? 'body' : body)
      })
    }
  }
})

sides("'checkContinue' and 'checkExpectation'", ({ it, serve, ask }) => {
  const expecting = what => post('', `Expect: ${what}\r\n`, 4)

  it('should be called', async () => {
    const { server, ask } = await serve(hello)
    server.on('checkContinue', (req, res) => res.end('asked'))
    server.on('checkExpectation', (req, res) => {
      res.statusCode = 417
      res.end(`no ${req.headers.expect}`)
    })
    await ask(expecting('100-continue'), /asked$/)
    await ask(expecting('miracles'), /no miracles$/)
  })

  it('should get a response by node without listeners', async () => {
    const client = await ask(use(async ctx => {
      ctx.body = await ctx.request.readBody({ limit: 10 })
      ctx.type = 'text'
    }), expecting('100-continue'), /^HTTP\/1\.1 100 Continue\r\n\r\n$/)
    await client.ask('body', /\r\n\r\nbody$/)
  })
})

sides('server.on(…)', ({ it, serve }) => {
  it("should tell 'connection' and 'close' once", async () => {
    const { server, ask, sockets } = await serve(hello)
    let closes = 0
    server.on('connection', socket => socket.on('close', () => closes++))
    const client = await ask(get('/'))
    client.end()
    await client.all()
    await waitFor(() => closes, 'the close')
    assert.deepEqual([closes, sockets.length], [1, 1])
    assert.equal(sockets[0].server, server)
  })
})

sides('headers that a connection repeats', ({ it, serve, ask }) => {
  const fields = 'X-Twice: 1\r\nCookie: a=b\r\nX-Twice: 2\r\nCookie: c=d\r\n'
  const agents = 'User-Agent: a\r\nUser-Agent: b\r\n'

  it('should have the same fields every time', async () => {
    const pattern = /\r\n\r\n1, 2[|]a=b; c=d[|]a[|][|];$/
    const client = await ask(use(ctx => {
      ctx.body = ['X-Twice', 'Cookie', 'Host', 'X-None', 'Set-Cookie'].map(name => ctx.get(name)).join('|') + ';'
    }), get('/', fields), pattern)
    for (let i = 0; i < 2; i++) await client.ask(get('/', fields), pattern)
  })

  it('should give every request raw headers of its own', async () => {
    const client = await ask(use(ctx => {
      ctx.req.rawHeaders.push('mine')
      ctx.body = `${ctx.req.rawHeaders};`
    }), get('/'), /\r\n\r\nHost,a,mine;$/)
    for (let i = 0; i < 2; i++) await client.ask(get('/'), /\r\n\r\nHost,a,mine;$/)
  })

  it('should be read by server.joinDuplicateHeaders of the moment', async () => {
    const { ask, server } = await serve(use(ctx => { ctx.body = `${ctx.get('User-Agent')};` }))
    const client = await ask(get('/', agents), /\r\n\r\na;$/)
    await client.ask(get('/', agents), /\r\n\r\na;$/)
    server.joinDuplicateHeaders = true
    await client.ask(get('/', agents), /\r\n\r\na, b;$/)
  })
})

sides('the limits of a header section', ({ it, serve }) => {
  const long = get('/', `X: ${'x'.repeat(200)}\r\n`)
  const many = get('/', 'A: 1\r\nB: 2\r\nC: 3\r\n')
  const names = use(ctx => { ctx.body = `${Object.keys(ctx.headers)};` })

  it('should be those of the beginning of a connection: maxHeaderSize', async () => {
    const { server, ask, talk } = await serve(hello)
    const client = await ask(get('/'))
    server.maxHeaderSize = 100
    await client.ask(long)
    const later = await talk(long)
    assert.match(await later.all(), /^HTTP\/1\.1 431 /)
  })

  it('should be those of the beginning of a connection: trailers', async () => {
    const { server, ask } = await serve(hello)
    const client = await ask(get('/'))
    server.maxHeaderSize = 100
    await client.ask(`POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ${'x'.repeat(200)}\r\n\r\n`)
  })

  it('should be those of the beginning of a connection: an unsupported request behind an open response', async () => {
    const { begun, release, setup } = holding()
    const { server, talk, sockets } = await serve(setup)
    const client = await talk(get('/slow'))
    await begun()
    server.maxHeaderSize = 100
    const { bytesRead } = sockets[0]
    client.write(long.replace('HTTP/1.1', 'HTTP/0.9'))
    await waitFor(() => sockets[0].bytesRead > bytesRead, 'the second request')
    release()
    await client.until(/hello/)
  })

  it('should be those of the beginning of a connection: maxHeadersCount', async () => {
    const { server, ask } = await serve(names)
    const client = await ask(many, /\r\n\r\nhost,a,b,c;$/)
    server.maxHeadersCount = 2
    await client.ask(many, /\r\n\r\nhost,a,b,c;$/)
    await ask(many, /\r\n\r\nhost,a;$|^HTTP\/1\.1 431 /) // from 22.23 on node rejects what is too much
  })
})

sides('a header section that another connection has begun with', ({ it, serve, side }) => {
  const show = ctx => { ctx.body = `${ctx.method} ${ctx.url} ${ctx.req.httpVersion} ${ctx.get('A')};` }

  it('should be read anew for another request', async () => {
    const { ask, all } = await serve(use(show))
    const first = await ask(get('/a', 'A: 1\r\n'), /GET \/a 1\.1 1;$/)
    assert.match(await all('POST /b HTTP/1.0\r\nHost: a\r\nA: 1\r\n\r\n'), /POST \/b 1\.0 1;$/)
    await ask(get('/c', 'A: 2\r\n'), /GET \/c 1\.1 2;$/)
    await first.ask(get('/d', 'A: 1\r\n'), /GET \/d 1\.1 1;$/)
  })

  it('should be a handshake with GET alone', async () => {
    const accept = websocket(socket => socket.close())
    const { port } = await serve(use((ctx, next) => ctx.method === 'GET' ? accept(ctx, next) : show(ctx)))
    const post = async () => {
      const socket = await connect(port)
      socket.write(requestOf(port, '/').replace('GET', 'POST'))
      const { head } = await responseOf(socket)
      socket.destroy()
      return head.replace(/Date: .*/, '')
    }
    const before = await post()
    assert.equal((await handshake(port, '/')).status, 101)
    assert.equal(await post(), before)
  })

  if (side === 'node:http') return

  it('should be compared, not read again', async () => {
    const { server, ask } = await serve(hello)
    for (const fields of ['', 'A: 1\r\n', 'A: 1\r\n']) await ask(get('/', fields))
    const sections = Array.from(server[Symbol.for('kone.front')].connections, ({ reader }) => reader.section)
    assert.deepEqual([sections[0] === sections[1], sections[1] === sections[2]], [false, true])
  })
})

sides('--max-http-header-size', ({ side, it }) => {
  it('should be the limit', async () => {
    const script = `
      const http = require('node:http')
      const Kone = require(${JSON.stringify(path.join(__dirname, '../../helpers/kone'))})
      const { talk, get, setUp } = require(${JSON.stringify(path.join(__dirname, 'sides'))})
      const app = new Kone()
      app.use(ctx => { ctx.body = 'hello' })
      const server = http.createServer()
      setUp(server, app, ${side === 'front'})
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
    assert.equal(String(Buffer.concat(await child.stdout.toArray())), 'HTTP/1.1 431 Request Header Fields Too Large\n')
  })
})

sides('http.createServer({ highWaterMark })', ({ it, ask }) => {
  for (const highWaterMark of [0, 1]) {
    it(`should serve one request after another, and pipelined ones, with ${highWaterMark}`, async () => {
      const client = await ask(use(ctx => { ctx.body = ctx.path }), get('/1'), /\/1$/, { highWaterMark })
      await client.ask(get('/2'), /\/2$/)
      await client.ask(get('/3') + get('/4') + get('/5'), /\/3HTTP[^]+\/4HTTP[^]+\/5$/)
      await client.ask(get('/6'), /\/6$/)
    })
  }
})

sides('http.createServer({ httpValidation })', ({ it, serve }) => {
  const skip = !('httpValidation' in createServer()) && 'this Node does not know it'
  const ODD = get('/odd', 'X-Odd: a\x01b\r\n')

  for (const [httpValidation, seen] of [['relaxed', ['/open', '/odd']], ['insecure', ['/open', '/odd']], ['strict', ['/open']]]) {
    it(`should decide about a request behind an open response, ${httpValidation}`, { skip }, async () => {
      const paths = []
      const { begun, release, setup } = holding(undefined, ({ path }) => paths.push(path) && path === '/open')
      const { talk, sockets } = await serve(setup, { httpValidation })
      const client = await talk(get('/open'))
      await begun()
      const sent = sockets[0].bytesRead + ODD.length
      client.write(ODD)
      await waitFor(() => sockets[0].bytesRead === sent, 'the second request')
      release()
      if (httpValidation === 'strict') assert.match(await client.all(), /HTTP\/1\.1 400 [^\n]+\r\nConnection: close\r\n\r\n$/)
      else await client.until(/hello[^]+hello$/)
      assert.deepEqual(paths, seen)
    })
  }
})
