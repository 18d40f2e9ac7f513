'use strict'

const { after, afterEach, before, describe, it, mock } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const path = require('node:path')
const { Readable } = require('node:stream')
const { promisify } = require('node:util')

const Kone = require('../../helpers/kone')
const { duplexPair } = require('./harness')
const ownProcess = require('./own-process')
const { methodsOf, patch } = require('./patched')
const { rows } = require('./readme')
const { MAJOR, chunked, get, hello, holding, isNodes, post, talk, waitFor } = require('./sides')

function set (object, name, value) {
  const before = object[name]
  object[name] = value
  return () => { object[name] = before }
}

class OwnMessage extends http.IncomingMessage {}
class OwnResponse extends http.ServerResponse {}

/** Row of the table → `begin({ app, server })`, which gives back how to end it; or `options` of the server. */
const HOLDS = {
  'app.http1 = false': { begin: ({ app }) => set(app, 'http1', false) },
  "a method of node's prototypes is patched": { begin: () => patch('res', 'end') },
  "a 'connection' listener is in front of kone's": {
    begin ({ server }) {
      const listener = () => {}
      server.prependListener('connection', listener)
      return () => server.off('connection', listener)
    }
  },
  'server.insecureHTTPParser': { begin: ({ server }) => set(server, 'insecureHTTPParser', true) },
  "server.httpValidation is 'insecure'": { begin: ({ server }) => set(server, 'httpValidation', 'insecure') },
  '--insecure-http-parser': { args: ['--insecure-http-parser'] },
  'server.maxRequestsPerSocket': { begin: ({ server }) => set(server, 'maxRequestsPerSocket', 10) },
  'server.httpAllowHalfOpen': { begin: ({ server }) => set(server, 'httpAllowHalfOpen', true) },
  'server.rejectNonStandardBodyWrites': { begin: ({ server }) => set(server, 'rejectNonStandardBodyWrites', true) },
  'http.createServer({ IncomingMessage })': { options: { IncomingMessage: OwnMessage } },
  'http.createServer({ ServerResponse })': { options: { ServerResponse: OwnResponse } },
  'http.createServer({ uniqueHeaders })': { options: { uniqueHeaders: ['x-once'] } },
  'http.createServer({ optimizeEmptyRequests })': { options: { optimizeEmptyRequests: true }, since: 24 }
}

const request = (line, ...lines) => `${line}\r\n${lines.map(line => `${line}\r\n`).join('')}\r\n`
const fields = (...lines) => request('GET / HTTP/1.1', 'Host: a', ...lines)
const target = (line, version = 'HTTP/1.1') => request(`${line} ${version}`, 'Host: a')

/** Row of the table → requests that are node's. */
const UNSUPPORTED = {
  'a method other than GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS': ['LINK /', 'TRACE /', 'CONNECT a:1', 'NONE /'].map(line => target(line)),
  'a target that does not begin with a slash': ['GET http://a/', 'OPTIONS *', 'GET ?a'].map(line => target(line)),
  'a version other than HTTP/1.1 and HTTP/1.0': ['0.9', '1.2', '2.0'].map(version => target('GET /', `HTTP/${version}`)),
  'Transfer-Encoding other than chunked, or with Content-Length': [
    ...['gzip, chunked', 'chunked, gzip', 'chunked, chunked', 'identity', 'chunked\t'].map(coding => chunked('0\r\n\r\n', '/', coding)),
    fields('Content-Length: 0', 'Transfer-Encoding: chunked'), fields('Transfer-Encoding: chunked', 'Content-Length: 0')
  ],
  Expect: [fields('Expect: 100-continue'), fields('Expect: other')],
  Upgrade: [fields('Upgrade: websocket', 'Connection: Upgrade'), fields('Upgrade: h2c')],
  'no Host, an empty one, or two': [
    request('GET / HTTP/1.1', 'X: y'), request('GET / HTTP/1.1'), request('GET / HTTP/1.1', 'Host:'), fields('Host: b')
  ],
  'a character in Host that no host has': [request('GET / HTTP/1.1', 'Host: a b'), request('GET / HTTP/1.1', 'Host: a/b')],
  'Content-Length twice, or not plain digits': [
    fields('Content-Length: 0', 'Content-Length: 0'), fields('Content-Length: +1'), fields('Content-Length: 01'),
    fields('Content-Length:'), fields('Content-Length: 99999999999999999999')
  ],
  'a folded field, or a bare LF': [fields('X: a', ' b'), 'GET / HTTP/1.1\nHost: a\n\n'],
  'a character that no field or target may hold': [
    fields('X: a\0b'), fields('X Y: a'), target('GET /\x7f'), target('GET /\xe9')
  ],
  'a header section beyond server.maxHeaderSize': [fields(`X: ${'x'.repeat(http.maxHeaderSize)}`)],
  'more fields than server.maxHeadersCount': [fields(...Array.from({ length: 2100 }, (_, i) => `X${i % 10}:`))]
}

describe('kone falls back to node:http', () => {
  const open = []
  afterEach(async () => {
    for (const server of open.splice(0)) {
      server.closeAllConnections()
      if (server.listening) await new Promise(resolve => server.close(resolve))
    }
  })

  async function serve (app, server = http.createServer()) {
    if (!app.middleware.length) hello(app)
    app.attach(server).listen(0, '127.0.0.1')
    open.push(server)
    await once(server, 'listening')
    const sockets = []
    server.on('connection', socket => sockets.push(socket))
    return { app, server, sockets, talk: bytes => talk(server.address().port, bytes) }
  }

  /** One request on a connection of its own: was it node's? */
  async function asksNode ({ talk, sockets }) {
    const client = await talk(get('/'))
    await client.until(/hello$/)
    client.destroy()
    return isNodes(sockets.at(-1))
  }

  const silent = options => Object.assign(new Kone(options), { silent: true })

  it('never without a reason', async () => {
    assert.equal(await asksNode(await serve(new Kone())), false)
  })

  describe('and warns, as the table of lib/front/README.md has it', () => {
    const table = rows('When node:http is used instead', 'What holds')
    const environment = process.env.NODE_ENV
    const warned = new Set()

    before(() => {
      process.env.NODE_ENV = ''
      mock.method(process, 'emitWarning', (message, options) => {
        if (options?.code !== 'KONE_WARN_FALLBACK') return
        assert(!warned.has(message), `${message}, twice`)
        warned.add(message)
      })
    })
    after(() => {
      mock.restoreAll()
      process.env.NODE_ENV = environment ?? ''
      if (environment === undefined) delete process.env.NODE_ENV
    })

    it('should have a row for everything that is known here', () => {
      assert.deepEqual(table.map(([name]) => name), Object.keys(HOLDS))
    })

    for (const [name, reason, why] of table) {
      const { begin, options, args, since = 20 } = HOLDS[name] ?? {}
      it(`when this holds: ${name}`, async () => {
        assert(why.length > 0)
        if (args) return assert.deepEqual(await ownProcess({ args }), { nodes: [true, true, true], warnings: [reason], log: [] })
        const site = await serve(new Kone(), http.createServer(options))
        if (begin) assert.equal(await asksNode(site), false)
        const end = begin?.(site)
        try {
          assert.equal(await asksNode(site), MAJOR >= since)
        } finally {
          end?.()
        }
        if (MAJOR < since) return
        if (end) assert.equal(await asksNode(site), false, 'the front is back')
        const isWarned = Array.from(warned).some(message => message.endsWith(`because of ${reason}`))
        assert.equal(isWarned, reason !== 'no warning', `${reason} of ${Array.from(warned)}`)
      })
    }
  })

  describe('for one connection, as the table of lib/front/README.md has it', () => {
    /** Row of the table → `(server, client's bytes) => void`, which gives the server the socket of a client. */
    const SOCKETS = {
      'a stream that is not a net.Socket' (server, bytes) {
        const [client, peer] = duplexPair()
        server.emit('connection', peer)
        client.write(bytes)
      },
      'a socket that another server accepted': (server, bytes) => accept(bytes, socket => server.emit('connection', socket)),
      'a socket that was read, paused or got bytes back before' (server, bytes) {
        const { emit } = server
        server.emit = function (event, socket) {
          if (event === 'connection') socket.unshift(Buffer.from(bytes))
          return emit.apply(this, arguments)
        }
        return talk(server.address().port)
      },
      'a socket whose bytes another listener gets, too' (server, bytes) {
        server.on('connection', socket => socket.on('data', () => {}))
        return talk(server.address().port, bytes)
      }
    }

    async function accept (bytes, give) {
      const server = net.createServer(give)
      open.push(Object.assign(server, { closeAllConnections () {} }))
      await once(server.listen(0, '127.0.0.1'), 'listening')
      return talk(server.address().port, bytes)
    }

    const table = rows('When node:http is used instead', 'Unsupported request').map(([name]) => name)

    it('should have a row for everything that is known here', () => {
      assert.deepEqual(table, [...Object.keys(UNSUPPORTED), ...Object.keys(SOCKETS)])
    })

    for (const name of Object.keys(UNSUPPORTED)) {
      it(`from this request on: ${name}`, async () => {
        const site = await serve(silent())
        for (const bytes of UNSUPPORTED[name]) {
          const client = await site.talk(get('/'))
          await client.until(/hello$/)
          assert.equal(isNodes(site.sockets.at(-1)), false)
          client.write(bytes)
          await waitFor(() => isNodes(site.sockets.at(-1)), () => `node to have ${JSON.stringify(bytes.slice(0, 100))}`)
          client.destroy()
        }
        assert.equal(await asksNode(site), false, 'other connections are the front\'s')
      })
    }

    for (const name of Object.keys(SOCKETS)) {
      it(`from the beginning: ${name}`, async () => {
        const { server, app, sockets } = await serve(silent())
        const finished = once(app, 'finish')
        const client = await SOCKETS[name](server, get('/'))
        await finished
        assert.equal(isNodes(sockets.at(-1)), true)
        for (const end of [client, ...sockets]) end?.destroy()
      })
    }
  })

  it('with new Kone({ http1: false })', async () => {
    assert.equal(await asksNode(await serve(silent({ http1: false }))), true)
  })

  it('with app.http1 = false, from one request to the next', async () => {
    const app = silent()
    const site = await serve(app)
    const client = await site.talk(get('/'))
    await client.until(/hello$/)
    assert.equal(isNodes(site.sockets[0]), false)
    app.http1 = false
    client.write(get('/'))
    await client.until(/hello[^]+hello$/)
    assert.equal(isNodes(site.sockets[0]), true)
    app.http1 = true
    assert.equal(await asksNode(site), false)
  })

  it('with KONE_HTTP1=off', async () => {
    process.env.KONE_HTTP1 = 'off'
    try {
      assert.equal(await asksNode(await serve(silent())), true)
    } finally {
      delete process.env.KONE_HTTP1
    }
  })

  it("when the 'connection' listeners were replaced", async () => {
    const site = await serve(silent())
    const listeners = site.server.listeners('connection')
    site.server.removeAllListeners('connection')
    site.server.on('connection', socket => {
      site.sockets.push(socket)
      for (const listener of listeners) listener.call(site.server, socket)
    })
    assert.equal(await asksNode(site), true)
  })

  for (const [which, name] of ['req', 'res'].flatMap(which => methodsOf(which).map(name => [which, name]))) {
    it(`when ctx.${which}.${name}() is patched on the prototype`, async () => {
      const site = await serve(silent())
      const undo = patch(which, name)
      try {
        assert.equal(await asksNode(site), true)
      } finally {
        undo()
      }
      assert.equal(await asksNode(site), false)
    })
  }

  it('when a method is patched while a request is under way, from the next request on', async () => {
    const { begun, release, setup } = holding(ctx => {
      ctx.body = Readable.from(['hel', 'lo'])
    }, ctx => ctx.method === 'POST')
    const app = silent()
    setup(app)
    const site = await serve(app)
    const client = await site.talk(post('', '', 4))
    await begun()
    const undo = patch('res', 'end')
    try {
      client.write(`body${get('/')}`)
      await waitFor(() => site.sockets[0].bytesRead === (post('body') + get('/')).length, 'the body')
      assert.equal(isNodes(site.sockets[0]), false)
      release()
      await client.until(/lo\r\n0\r\n\r\nHTTP[^]+lo\r\n0\r\n\r\n$/)
      assert.equal(isNodes(site.sockets[0]), true)
    } finally {
      undo()
    }
  })

  it('when the server was made with its own ServerResponse or IncomingMessage, whose instances the app gets', async () => {
    for (const options of [{ ServerResponse: OwnResponse }, { IncomingMessage: OwnMessage }]) {
      const app = silent()
      app.use(ctx => {
        assert(!options.ServerResponse || ctx.res instanceof OwnResponse)
        assert(!options.IncomingMessage || ctx.req instanceof OwnMessage)
        ctx.body = 'hello'
      })
      assert.equal(await asksNode(await serve(app, http.createServer(options))), true)
    }
  })

  for (const options of [{ highWaterMark: 1024 }, { noDelay: false }, { joinDuplicateHeaders: true }]) {
    it(`not with ${JSON.stringify(options)}`, async () => {
      assert.equal(await asksNode(await serve(silent(), http.createServer(options))), false)
    })
  }
})

describe('OpenTelemetry', () => {
  const run = promisify(execFile)

  it('should get the spans of koa from kone in its place, on the front', async () => {
    const script = path.join(__dirname, 'opentelemetry.js')
    const [koa, kone] = await Promise.all(['koa', 'kone'].map(async name => {
      const { stdout } = await run(process.execPath, [script, name])
      return JSON.parse(stdout)
    }))
    assert(koa.spans.some(span => span.scope.includes('instrumentation-koa')))
    assert(koa.spans.some(span => span.scope.includes('instrumentation-http')))
    assert.deepEqual(kone.spans, koa.spans)
    assert.deepEqual([koa.isNodes, kone.isNodes], [[true, true, true], [false, false, false]])
  })
})
