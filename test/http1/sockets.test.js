'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { once } = require('node:events')
const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { PassThrough } = require('node:stream')
const tls = require('node:tls')
const { generate } = require('selfsigned')

const Kone = require('../helpers/kone')
const { get, sides, talk, waitFor } = require('./sides')

/*
 * Every way in which a socket can come to a server, and what other code can do with it first, times what a client can
 * send. The bytes that the client gets, the requests that the app gets, and what the other code saw are compared with
 * node:http's.
 */

const TIMEOUT = 60000

// Turns of the event loop without a sign of life after which a piece has arrived and led to all it leads to.
const QUIET = 20

const LF = '\r\n'

/** What a client sends: each piece reaches the server before the next one is sent. */
const CONVERSATIONS = {
  'a GET': [`GET /one HTTP/1.1${LF}Host: a${LF}${LF}`],
  'a GET in two pieces': [`GET /one HTTP/1.1${LF}Ho`, `st: a${LF}${LF}`],
  'two requests, one after the other': [`GET /one HTTP/1.1${LF}Host: a${LF}${LF}`, `GET /two HTTP/1.1${LF}Host: a${LF}${LF}`],
  'pipelined requests': [`GET /one HTTP/1.1${LF}Host: a${LF}${LF}GET /two HTTP/1.1${LF}Host: a${LF}${LF}`],
  'a POST whose body is a request': [
    `POST /upload HTTP/1.1${LF}Host: a${LF}Content-Length: 34${LF}${LF}`, `GET /admin HTTP/1.1${LF}Host: a${LF}${LF}xx`
  ],
  'a POST in three pieces, then a GET': [
    `POST /upload HTTP/1.1${LF}Host: a${LF}Content-`, `Length: 8${LF}${LF}four`, 'more', `GET /two HTTP/1.1${LF}Host: a${LF}${LF}`
  ],
  'a chunked POST': [
    `POST /upload HTTP/1.1${LF}Host: a${LF}Transfer-Encoding: chunked${LF}${LF}`, `4${LF}four${LF}0${LF}${LF}`
  ],
  'a GET, then a chunked POST': [
    `GET /one HTTP/1.1${LF}Host: a${LF}${LF}`,
    `POST /upload HTTP/1.1${LF}Host: a${LF}Transfer-Encoding: chunked${LF}${LF}4${LF}four${LF}0${LF}${LF}`
  ],
  junk: ['JUNK\r\n\r\n']
}

const onPort = { port: 0, host: '127.0.0.1' }

let unique = 0

/** A server whose sockets `give(socket, server)` brings to the HTTP server. */
const byOther = give => server => net.createServer(socket => give(socket, server)).listen(onPort)

/** The HTTP server itself, whose sockets other code gets, too. */
const touched = touch => server => {
  server.on('connection', touch)
  return server.listen(onPort)
}

/** Way → `(server, note) => the server that listens`. */
const WAYS = {
  'accepted by the server': server => server.listen(onPort),
  'accepted on a unix socket': server => server.listen(path.join(os.tmpdir(), `kone-${process.pid}-${++unique}.sock`)),
  'accepted by another server': byOther((socket, server) => server.emit('connection', socket)),
  'a stream that is not a socket': byOther((socket, server) => {
    const [near, far] = [new PassThrough(), new PassThrough()]
    const stream = require('node:stream').Duplex.from({ readable: near, writable: far })
    socket.pipe(near)
    far.pipe(socket)
    server.emit('connection', stream)
  }),
  'bytes are put back, then it is emitted': byOther((socket, server) => socket.once('data', chunk => {
    socket.pause()
    socket.unshift(chunk)
    server.emit('connection', socket)
    socket.resume()
  })),
  'it is emitted, then bytes are put back': byOther((socket, server) => socket.once('data', chunk => {
    server.emit('connection', socket)
    socket.unshift(chunk)
  })),
  "bytes are put back after a 'readable' sniff": byOther((socket, server) => socket.once('readable', () => {
    socket.unshift(socket.read())
    server.emit('connection', socket)
  })),
  "the first byte is put back after a 'readable' sniff": byOther((socket, server) => socket.once('readable', () => {
    const first = socket.read(1)
    if (first === null) return
    socket.unshift(first)
    server.emit('connection', socket)
  })),
  "'data' is emitted": byOther((socket, server) => socket.once('data', chunk => {
    socket.pause()
    server.emit('connection', socket)
    socket.emit('data', chunk)
    socket.resume()
  })),
  'it is paused, and resumed later': byOther((socket, server) => {
    socket.pause()
    server.emit('connection', socket)
    setImmediate(() => socket.resume())
  }),
  'a string is put back': byOther((socket, server) => {
    socket.once('data', chunk => {
      server.emit('connection', socket)
      socket.unshift(chunk.toString(), 'utf8')
    })
  }),
  "a 'connection' listener puts bytes back": (server, note) => touched(socket => {
    socket.unshift(Buffer.from(`GET /first HTTP/1.1${LF}Host: a${LF}${LF}`))
  })(server),
  "a 'connection' listener puts a string back": (server, note) => touched(socket => {
    socket.unshift(`GET /first HTTP/1.1${LF}Host: a${LF}X-Ü: `.slice(0, -5) + `${LF}`, 'latin1')
  })(server),
  "a 'connection' listener emits 'data'": (server, note) => touched(socket => {
    socket.emit('data', Buffer.from(`GET /first HTTP/1.1${LF}Host: a${LF}${LF}`))
  })(server),
  "a 'connection' listener listens for 'data'": (server, note) => touched(socket => {
    socket.on('data', chunk => note(chunk.toString()))
  })(server),
  "a 'connection' listener pipes": (server, note) => touched(socket => {
    socket.pipe(new PassThrough().on('data', chunk => note(chunk.toString())))
  })(server),
  "a 'connection' listener listens for 'data' once": (server, note) => touched(socket => {
    socket.once('data', chunk => note(chunk.toString()))
  })(server),
  "a 'connection' listener sets an encoding": (server, note) => touched(socket => {
    try {
      socket.setEncoding('utf8')
    } catch ({ code, message }) {
      note(`${code} ${message}`)
    }
  })(server),
  "a 'connection' listener pushes a string": touched(socket => {
    process.nextTick(() => socket.push(`GET /first HTTP/1.1${LF}Host: a${LF}${LF}`))
  }),
  'a subclass of net.Socket that pushes strings': byOther((socket, server) => {
    class Strings extends net.Socket {
      _read () {}
      _write (chunk, encoding, callback) { socket.write(chunk, callback) }
      _final (callback) { socket.end(callback) }
    }
    const strings = new Strings({ allowHalfOpen: true })
    socket.on('data', chunk => strings.push(chunk.toString())).on('end', () => strings.push(null))
    server.emit('connection', strings)
  }),
  "a 'connection' listener pauses and resumes": touched(socket => {
    socket.pause()
    setImmediate(() => socket.resume())
  }),
  "a 'connection' listener takes the socket": (server, note) => touched(socket => {
    socket.removeAllListeners('data')
    socket.on('data', chunk => socket.write(`you said ${chunk}`))
  })(server),
  "a 'connection' listener reads the socket by 'readable'": (server, note) => touched(socket => {
    socket.on('readable', () => {
      for (let chunk; (chunk = socket.read()) !== null;) note(chunk.toString())
    })
  })(server),
  'a patched emit reads a PROXY header first': server => {
    const { emit } = server
    server.emit = function (event, socket) {
      if (event !== 'connection') return emit.apply(this, arguments)
      const sniff = () => {
        const chunk = socket.read()
        if (chunk === null) return
        socket.off('readable', sniff).unshift(chunk)
        emit.call(server, 'connection', socket)
      }
      return socket.on('readable', sniff)
    }
    return server.listen(onPort)
  },
  'TLS, accepted by the server': server => server.listen(onPort),
  "TLS, a 'connection' listener listens for 'data'": (server, note) => {
    server.on('secureConnection', socket => socket.on('data', chunk => note(chunk.toString())))
    return server.listen(onPort)
  },
  'TLS, bytes are put back': (server, note) => {
    server.on('secureConnection', socket => socket.unshift(Buffer.from(`GET /first HTTP/1.1${LF}Host: a${LF}${LF}`)))
    return server.listen(onPort)
  },
  'TLS, on one port with HTTP': (server, note) => byOther((socket, server) => socket.once('data', chunk => {
    socket.pause()
    note(`${chunk[0]}`)
    socket.unshift(chunk)
    server.emit('connection', socket)
    process.nextTick(() => socket.resume())
  }))(server)
}

let credentials
before(async () => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }])
  credentials = { key, cert }
})

describe('sockets and how they came', () => {
  for (const [way, arrive] of Object.entries(WAYS)) {
    describe(way, () => {
      const isSecure = way.startsWith('TLS')
      const sites = []
      before(async () => { for (const isFront of [false, true]) sites.push(await open(arrive, isSecure, isFront)) })
      after(() => { for (const site of sites) site.close() })

      for (const [what, pieces] of Object.entries(CONVERSATIONS)) {
        it(`should be served as by node:http: ${what}`, { timeout: TIMEOUT }, async () => {
          const [node, front] = [await sites[0].converse(pieces), await sites[1].converse(pieces)]
          assert.deepEqual(front, node)
        })
      }
    })
  }
})

/** A site on the front, or on node:http. */
async function open (arrive, isSecure, isFront) {
  const app = new Kone()
  app.silent = true
  let log
  app.use(async ctx => {
    const body = await ctx.request.readBody()
    log.requests.push(`${ctx.method} ${ctx.url} ${body}`)
    ctx.body = `${ctx.method} ${ctx.url} ${body}`
  })
  const server = isSecure ? https.createServer(credentials) : http.createServer()
  if (isFront) app.attach(server)
  else server.on('request', app.callback())
  const listening = arrive(server, what => log.seen.push(what))
  const sockets = new Set()
  for (const each of new Set([server, listening])) each.on('connection', socket => sockets.add(socket))
  if (!listening.listening) await once(listening, 'listening')
  const address = listening.address()
  const to = typeof address === 'string' ? { path: address } : { port: address.port, host: '127.0.0.1' }

  async function converse (pieces) {
    log = { requests: [], seen: [] }
    const client = isSecure ? tls.connect({ ...to, rejectUnauthorized: false }) : net.connect({ ...to, noDelay: true })
    let text = ''
    let isOpen = true
    client.on('data', chunk => { text += chunk }).on('error', () => {}).on('end', () => { isOpen = false })
    await once(client, isSecure ? 'secureConnect' : 'connect')
    for (const piece of pieces) {
      client.write(piece, 'latin1')
      await quiet(() => `${text.length} ${log.requests.length} ${log.seen.length} ${isOpen}`)
    }
    client.destroy()
    for (const socket of sockets) socket.destroy()
    sockets.clear()
    return { text: text.replace(/Date: .*/g, 'Date: now'), isOpen, requests: log.requests, seen: log.seen.join('') }
  }
  function close () {
    for (const each of [server, listening]) if (each.listening) each.close()
  }
  return { converse, close }
}

/** Until a text stays the same for some turns of the event loop. */
async function quiet (read) {
  let last
  for (let still = 0; still < QUIET; still++) {
    if (read() !== last) still = 0
    last = read()
    await new Promise(resolve => setImmediate(resolve))
  }
}

sides('what a handler does to its socket', ({ it, serve }) => {
  const POST = 'POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\nfour'

  /** A connection whose first handler gets the socket; what the client gets for some pieces. */
  async function touched (serve, touch, pieces) {
    const requests = []
    const seen = []
    const site = await serve(app => app.use(async ctx => {
      if (ctx.path === '/touch' || ctx.path === '/upload') await touch(ctx, chunk => seen.push(`${chunk}`))
      requests.push(`${ctx.url} ${await ctx.request.readBody()}`)
      ctx.body = ctx.url
    }))
    const client = await site.talk()
    for (const piece of pieces) {
      client.write(piece)
      await quiet(() => `${client.text.length} ${requests.length} ${seen.length} ${client.ended}`)
    }
    return { text: client.text.replace(/HTTP[^]+?\r\n\r\n/g, '|'), ended: client.ended, requests, seen: seen.join('') }
  }

  it("should show it the next bytes, where it listens for 'data'", async () => {
    const touch = (ctx, note) => { ctx.socket.on('data', note) }
    assert.deepEqual(await touched(serve, touch, [get('/touch'), get('/two'), get('/three')]), {
      text: '|/touch|/two|/three', ended: false, requests: ['/touch ', '/two ', '/three '], seen: get('/two') + get('/three')
    })
  })

  it("should show it the rest of its body, where it listens for 'data'", async () => {
    const touch = (ctx, note) => { ctx.socket.on('data', note) }
    assert.deepEqual(await touched(serve, touch, [POST, 'more', get('/two')]), {
      text: '|/upload|/two', ended: false, requests: ['/upload fourmore', '/two '], seen: `more${get('/two')}`
    })
  })

  it('should go on reading where it pauses the socket before the end of the request', async () => {
    const touch = ctx => { ctx.socket.pause() }
    const { requests } = await touched(serve, touch, [get('/touch'), get('/two'), get('/three')])
    assert.deepEqual(requests, ['/touch ', '/two ', '/three '])
  })

  it('should stop reading where it pauses the socket later, until it resumes the socket', async () => {
    let resume
    const touch = async ctx => {
      await null
      ctx.socket.pause()
      resume = () => ctx.socket.resume()
    }
    const { requests } = await touched(serve, touch, [get('/touch'), get('/two'), get('/three')])
    assert.deepEqual(requests, ['/touch '])
    resume()
    await quiet(() => requests.length)
    assert.deepEqual(requests, ['/touch ', '/two ', '/three '])
  })

  for (const isDetached of [false, true]) {
    it(`should give it the socket without listeners for 'data'${isDetached ? ' and response' : ''}`, async () => {
      const touch = (ctx, note) => {
        const { socket } = ctx
        if (isDetached) ctx.res.detachSocket(socket)
        socket.removeAllListeners('data')
        socket.on('data', chunk => {
          note(chunk)
          socket.write(`echo ${chunk}`)
        })
        ctx.respond = false
        return new Promise(() => {})
      }
      const { text, seen, ended } = await touched(serve, touch, [get('/touch'), 'not HTTP', ' at all'])
      assert.deepEqual({ text, seen, ended }, { text: 'echo not HTTPecho  at all', seen: 'not HTTP at all', ended: false })
    })
  }
})

sides('an async context in which sockets are emitted', ({ it, serve }) => {
  const storage = new AsyncLocalStorage()
  const stores = app => app.use(async ctx => {
    await null
    ctx.body = `${storage.getStore()}`
  })

  /** What two clients get, each with two requests, the second client between those of the first one. */
  async function visit (port) {
    const clients = []
    for (let i = 0; i < 2; i++) clients.push(await talk(port, get('/')))
    for (const client of clients) await client.until(/\r\n\r\n\w+$/)
    for (const client of clients) client.write(get('/'))
    for (const client of clients) await client.until(/\r\n\r\n\w+HTTP[^]+\r\n\r\n\w+$/)
    return clients.map(client => client.text.replace(/HTTP[^]+?\r\n\r\n/g, '|'))
  }

  it('should be that of each connection, by a patched emit', async () => {
    const { server, port } = await serve(stores)
    const { emit } = server
    let count = 0
    server.emit = function (event, ...args) {
      if (event !== 'connection') return emit.call(this, event, ...args)
      return storage.run(`client${++count}`, () => emit.call(this, event, ...args))
    }
    assert.deepEqual(await visit(port), ['|client1|client1', '|client2|client2'])
  })

  it('should be that of each connection, accepted by another server', async () => {
    const { server } = await serve(stores)
    let count = 0
    const other = net.createServer(socket => storage.run(`client${++count}`, () => server.emit('connection', socket)))
    await once(other.listen(onPort), 'listening')
    assert.deepEqual(await visit(other.address().port), ['|client1|client1', '|client2|client2'])
    other.close()
  })
})

describe("a 'connection' listener that removes the server's listener for 'close'", () => {
  it('should not keep the connection in memory, nor its responses pending', { timeout: TIMEOUT }, async () => {
    const app = new Kone()
    app.silent = true
    let begun = false
    const lost = new Promise(resolve => app.use(ctx => {
      begun = true
      ctx.onFinished(resolve)
      return new Promise(() => {})
    }))
    const server = app.attach(http.createServer({ connectionsCheckingInterval: 20 }))
    server.on('connection', socket => socket.removeAllListeners('close'))
    await once(server.listen(onPort), 'listening')
    const client = await talk(server.address().port, get('/'))
    await waitFor(() => begun, 'the request')
    client.destroy()
    assert.equal((await lost).code, 'KONE_ERR_RESPONSE_LOST')
    await new Promise(resolve => server.close(resolve))
  })
})

describe('an async context in which TLS sockets are accepted', () => {
  it('should be that of each connection', async () => {
    const storage = new AsyncLocalStorage()
    const app = new Kone()
    app.use(ctx => { ctx.body = `${storage.getStore()}` })
    const server = app.attach(https.createServer(credentials))
    const { emit } = server
    let count = 0
    server.emit = function (event, ...args) {
      if (event !== 'connection') return emit.call(this, event, ...args)
      return storage.run(`client${++count}`, () => emit.call(this, event, ...args))
    }
    await once(server.listen(onPort), 'listening')
    const texts = []
    for (let i = 0; i < 2; i++) {
      const client = tls.connect({ ...onPort, port: server.address().port, rejectUnauthorized: false })
      client.write(get('/', 'Connection: close\r\n'))
      texts.push((await client.setEncoding('latin1').toArray()).join('').split('\r\n\r\n')[1])
    }
    assert.deepEqual(texts, ['client1', 'client2'])
    await new Promise(resolve => server.close(resolve))
  })
})

sides('server.close()', ({ it, serve }) => {
  it('should let sockets that other code emitted be served', async () => {
    const held = []
    const { server } = await serve(app => app.use(async ctx => {
      await new Promise(resolve => held.push(resolve))
      ctx.body = 'hello'
    }))
    const other = net.createServer(socket => server.emit('connection', socket))
    await once(other.listen(onPort), 'listening')
    const client = await talk(other.address().port, get('/'))
    await waitFor(() => held.length === 1, 'the request')
    await new Promise(resolve => server.close(resolve))
    client.write(get('/') + get('/'))
    held[0]()
    await waitFor(() => client.ended || held.length > 1, 'the second request')
    for (const resolve of held) resolve()
    await client.until(/hello/)
    client.destroy()
    other.close()
  })
})
