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
const { Duplex, PassThrough } = require('node:stream')
const tls = require('node:tls')
const { isDeepStrictEqual } = require('node:util')

const Kone = require('../../helpers/kone')
const { chunked, credentials, get, holding, last, post, quiet, setUp, sides, talk, unsupported, use, waitFor } = require('./sides')

/*
 * Every way in which a socket can come to a server, and what other code can do with it first, times what a client can
 * send. The bytes that the client gets, the requests that the app gets, and what the other code saw are compared with
 * node:http's.
 */

const TIMEOUT = 60000

// Turns of the event loop without a sign of life after which a piece has arrived and led to all it leads to. A busy
// machine may need more: what differs is tried again with more patience.
const QUIET = [20, 200, 2000]

const FOUR = '4\r\nfour\r\n0\r\n\r\n'

/** The response to bytes that were put back, and what refuses the junk behind it. */
const WHOLE = /^[^]*\r\n\r\nGET \/first HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/

/** What a client sends: each piece reaches the server before the next one is sent. */
const CONVERSATIONS = {
  'a GET': [get('/one')],
  'a GET in two pieces': [get('/one').slice(0, -10), get('/one').slice(-10)],
  'two requests, one after the other': [get('/one'), get('/two')],
  'pipelined requests': [get('/one') + get('/two')],
  'a POST whose body is a request': [post('', '', 34, '/upload'), `${get('/admin').padEnd(34, 'x')}`],
  'a POST in three pieces, then a GET': [
    post('four', '', 8, '/upload').slice(0, 40), post('four', '', 8, '/upload').slice(40), 'more', get('/two')
  ],
  'a chunked POST, then a GET': [chunked(FOUR.slice(0, 2), '/upload'), FOUR.slice(2), get('/two')],
  'an unsupported POST': [unsupported('', '/upload'), FOUR],
  'a GET, then an unsupported POST': [get('/one'), unsupported(FOUR, '/upload')],
  junk: ['JUNK\r\n\r\n']
}

const onPort = { port: 0, host: '127.0.0.1' }

let unique = 0

/** A server whose sockets `give(socket, server)` brings to the HTTP server. */
const byOther = give => server => net.createServer(socket => give(socket, server)).listen(onPort)

/** The HTTP server itself, whose sockets other code gets, too. */
const touched = (touch, event = 'connection') => (server, note) => {
  server.on(event, socket => touch(socket, chunk => note(chunk.toString())))
  return server.listen(onPort)
}

const FIRST = get('/first')

/** Way → `(server, note) => the server that listens`. */
const WAYS = {
  'accepted by the server': server => server.listen(onPort),
  'accepted on a unix socket': server => server.listen(path.join(os.tmpdir(), `kone-${process.pid}-${++unique}.sock`)),
  'accepted by another server': byOther((socket, server) => server.emit('connection', socket)),
  'a stream that is not a socket': byOther((socket, server) => {
    const [near, far] = [new PassThrough(), new PassThrough()]
    const stream = Duplex.from({ readable: near, writable: far })
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
  "a 'connection' listener puts bytes back": touched(socket => { socket.unshift(Buffer.from(FIRST)) }),
  "a 'connection' listener puts a string back": touched(socket => { socket.unshift(FIRST, 'latin1') }),
  "a 'connection' listener emits 'data'": touched(socket => { socket.emit('data', Buffer.from(FIRST)) }),
  "a 'connection' listener listens for 'data'": touched((socket, note) => { socket.on('data', note) }),
  "a 'connection' listener pipes": touched((socket, note) => { socket.pipe(new PassThrough().on('data', note)) }),
  "a 'connection' listener listens for 'data' once": touched((socket, note) => { socket.once('data', note) }),
  "a 'connection' listener sets an encoding": touched((socket, note) => {
    try {
      socket.setEncoding('utf8')
    } catch ({ code, message }) {
      note(`${code} ${message}`)
    }
  }),
  "a 'connection' listener pushes a string": touched(socket => { process.nextTick(() => socket.push(FIRST)) }),
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
  "a 'connection' listener takes the socket": touched(socket => {
    socket.removeAllListeners('data')
    socket.on('data', chunk => socket.write(`you said ${chunk}`))
  }),
  "a 'connection' listener reads the socket by 'readable'": touched((socket, note) => {
    socket.on('readable', () => {
      for (let chunk; (chunk = socket.read()) !== null;) note(chunk)
    })
  }),
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
  "TLS, a 'connection' listener listens for 'data'": touched((socket, note) => { socket.on('data', note) }, 'secureConnection'),
  'TLS, bytes are put back': touched(socket => { socket.unshift(Buffer.from(FIRST)) }, 'secureConnection'),
  'TLS, on one port with HTTP': (server, note) => byOther((socket, server) => socket.once('data', chunk => {
    socket.pause()
    note(`${chunk[0]}`)
    socket.unshift(chunk)
    server.emit('connection', socket)
    process.nextTick(() => socket.resume())
  }))(server)
}

describe('sockets and how they came', () => {
  for (const [way, arrive] of Object.entries(WAYS)) {
    describe(way, () => {
      const isSecure = way.startsWith('TLS')
      const sites = []
      before(async () => { for (const isFront of [false, true]) sites.push(await open(arrive, isSecure, isFront)) })
      after(() => { for (const site of sites) site.close() })

      for (const [what, pieces] of Object.entries(CONVERSATIONS)) {
        it(`should be served as by node:http: ${what}`, { timeout: TIMEOUT }, async () => {
          for (const turns of QUIET) {
            const [node, front] = [await sites[0].converse(pieces, turns), await sites[1].converse(pieces, turns)]
            // Node closes for the junk, and loses the response that TLS still has.
            if (way === 'TLS, bytes are put back' && what === 'junk' && node.text === '') node.text = WHOLE.exec(front.text)?.[0]
            if (turns === QUIET.at(-1) || isDeepStrictEqual(front, node)) return assert.deepEqual(front, node)
          }
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
  const server = isSecure ? https.createServer(await credentials()) : http.createServer()
  setUp(server, app, isFront)
  const listening = arrive(server, what => log.seen.push(what))
  const sockets = new Set()
  for (const each of new Set([server, listening])) each.on('connection', socket => sockets.add(socket))
  if (!listening.listening) await once(listening, 'listening')
  const address = listening.address()
  const to = typeof address === 'string' ? { path: address } : { port: address.port, host: '127.0.0.1' }

  async function converse (pieces, turns) {
    log = { requests: [], seen: [] }
    const client = isSecure ? tls.connect({ ...to, rejectUnauthorized: false }) : net.connect({ ...to, noDelay: true })
    let text = ''
    let isOpen = true
    client.on('data', chunk => { text += chunk }).on('error', () => {}).on('end', () => { isOpen = false })
    await once(client, isSecure ? 'secureConnect' : 'connect')
    for (const piece of pieces) {
      client.write(piece, 'latin1')
      await quiet(() => `${text.length} ${log.requests.length} ${log.seen.length} ${isOpen}`, turns)
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

sides('what a handler does to its socket', ({ side, it, serve }) => {
  /** A connection whose first handler gets the socket; what the client gets for some pieces. */
  async function touched (touch, pieces) {
    const requests = []
    const seen = []
    const site = await serve(use(async ctx => {
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

  for (const [what, pieces, expected] of [
    ['the next bytes', [get('/touch'), get('/two'), get('/three')], {
      text: '|/touch|/two|/three', ended: false, requests: ['/touch ', '/two ', '/three '], seen: get('/two') + get('/three')
    }],
    [side === 'front' ? 'the bytes behind its body' : 'the rest of its body', [post('four', '', 8, '/upload'), 'more', get('/two')], {
      text: '|/upload|/two', ended: false, requests: ['/upload fourmore', '/two '], seen: `${side === 'front' ? '' : 'more'}${get('/two')}`
    }]
  ]) {
    it(`should show it ${what}, where it listens for 'data'`, async () => {
      assert.deepEqual(await touched((ctx, note) => { ctx.socket.on('data', note) }, pieces), expected)
    })
  }

  it('should go on reading where it pauses the socket before the end of the request', async () => {
    const touch = ctx => { ctx.socket.pause() }
    const { requests } = await touched(touch, [get('/touch'), get('/two'), get('/three')])
    assert.deepEqual(requests, ['/touch ', '/two ', '/three '])
  })

  it('should stop reading where it pauses the socket later, until it resumes the socket', async () => {
    let resume
    const touch = async ctx => {
      await null
      ctx.socket.pause()
      resume = () => ctx.socket.resume()
    }
    const { requests } = await touched(touch, [get('/touch'), get('/two'), get('/three')])
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
      const { text, seen, ended } = await touched(touch, [get('/touch'), 'not HTTP', ' at all'])
      assert.deepEqual({ text, seen, ended }, { text: 'echo not HTTPecho  at all', seen: 'not HTTP at all', ended: false })
    })
  }
})

const storage = new AsyncLocalStorage()

/** A server whose connections are emitted in a context each. */
function emitInContext (server) {
  const { emit } = server
  let count = 0
  server.emit = function (event, ...args) {
    if (event !== 'connection') return emit.call(this, event, ...args)
    return storage.run(`client${++count}`, () => emit.call(this, event, ...args))
  }
}

sides('an async context in which sockets are emitted', ({ it, serve }) => {
  const stores = use(async ctx => {
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
    emitInContext(server)
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
    const app = new Kone()
    app.use(ctx => { ctx.body = `${storage.getStore()}` })
    const server = app.attach(https.createServer(await credentials()))
    emitInContext(server)
    await once(server.listen(onPort), 'listening')
    const texts = []
    for (let i = 0; i < 2; i++) {
      const client = tls.connect({ ...onPort, port: server.address().port, rejectUnauthorized: false })
      client.write(last('/'))
      texts.push((await client.setEncoding('latin1').toArray()).join('').split('\r\n\r\n')[1])
    }
    assert.deepEqual(texts, ['client1', 'client2'])
    await new Promise(resolve => server.close(resolve))
  })
})

sides('server.close()', ({ it, serve }) => {
  it('should let sockets that other code emitted be served', async () => {
    const { held, begun, setup } = holding(undefined, () => true)
    const { server } = await serve(setup)
    const other = net.createServer(socket => server.emit('connection', socket))
    await once(other.listen(onPort), 'listening')
    const client = await talk(other.address().port, get('/'))
    await begun()
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

describe('the socket of a kept connection', () => {
  it('should not allow more listeners for each response that had it', async t => {
    const app = new Kone()
    app.use(ctx => {
      ctx.res.once('finish', () => {})
      ctx.body = String(ctx.socket.getMaxListeners())
    })
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = net.connect(server.address().port, '127.0.0.1').setEncoding('latin1')
    t.after(() => {
      client.destroy()
      server.close()
    })
    const most = []
    for (let i = 0; i < 3; i++) {
      client.write(get('/'))
      let received = ''
      while (!/\r\n\r\n\d+$/.test(received)) received += (await once(client, 'data'))[0]
      most.push(received.split('\r\n\r\n')[1])
    }
    assert.deepEqual(most, ['10', '10', '10'])
  })
})
