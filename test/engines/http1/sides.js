'use strict'

const { afterEach, describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const http = require('node:http')
const net = require('node:net')
const { once } = require('node:events')

const Kone = require('../../helpers/kone')

// A test that waits for what never comes fails by then, in ms. Other processes may hold it up for seconds.
const TIMEOUT = 60000

/** `make mutants` and servers of other code change the front alone, and many mutants end nothing. */
const { KONE_FRONT, KONE_MUTANTS } = process.env
const BOTH = ['node:http', 'front']
const SIDES = KONE_MUTANTS || KONE_FRONT ? ['front'] : BOTH
const PATIENCE = KONE_MUTANTS ? 4000 : 20000

/**
 * State a behaviour of the server once and have it tested without the front and with it.
 *
 *    sides('server.headersTimeout', ({ it, serve, ask, all }) => {
 *      it('should respond with 408', async () => {
 *        assert.match(await all(hello, 'GET / HT', { headersTimeout: 50 }), /^HTTP\/1\.1 408/)
 *      })
 *    })
 *
 * `serve(setup, options)` gives a site; `ask` and `all` make one for a single request: see `withAsk`. `among`: BOTH where
 * one is compared with the other.
 */
function sides (title, define, among = SIDES) {
  for (const side of among) {
    describe(`${title}, ${side}`, { concurrency: 1 }, () => {
      const open = []
      afterEach(async () => {
        for (const close of open.splice(0)) await close()
      })
      const it = (title, ...rest) => test(title, { timeout: TIMEOUT, ...rest.length > 1 && rest[0] }, rest.at(-1))
      define(withAsk({ side, it, serve: (setup, options) => serve(side, open, setup, options) }))
    })
  }
}

/** `ask`: the client that sent `bytes` and got `pattern`. `all`: what it got until the server closed. */
function withAsk (suite) {
  return {
    ...suite,
    ask: async (setup, bytes, pattern, options) => (await suite.serve(setup, options)).ask(bytes, pattern),
    all: async (setup, bytes, options) => (await suite.serve(setup, options)).all(bytes)
  }
}

/** A server; `options` are those of http.createServer, and what it does not know is set on the server. */
async function serve (side, open, setup, options = {}) {
  const app = new Kone()
  app.silent = true
  setup(app)
  const server = http.createServer(options)
  for (const [name, value] of Object.entries(options)) {
    if (!(name in server) || server[name] !== value) server[name] = value
  }
  setUp(server, app, side === 'front')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const sockets = []
  server.on('connection', socket => sockets.push(socket))
  open.push(async () => {
    server.closeAllConnections()
    for (const socket of sockets) socket.destroy()
    if (server.listening) await new Promise(resolve => server.close(resolve))
  })
  const { port } = server.address()
  return {
    app,
    server,
    port,
    sockets,
    talk: bytes => talk(port, bytes),
    async ask (bytes, pattern = /hello$/) {
      const client = await talk(port, bytes)
      await client.until(pattern)
      return client
    },
    all: async bytes => (await talk(port, bytes)).all()
  }
}

/** Lets the front serve the app on `server`, or node:http. */
function setUp (server, app, isFront) {
  if (isFront) return app.attach(server)
  app.http1 = false
  return server.on('request', app.callback())
}

/** A setup of one middleware. */
const use = fn => app => app.use(fn)

const hello = use(ctx => { ctx.body = 'hello' })

/** A handler whose requests of /slow… go on when `release()` is called. */
function holding (respond = ctx => { ctx.body = 'hello' }, isHeld = ctx => ctx.path.startsWith('/slow')) {
  const held = []
  return {
    held,
    setup: use(async ctx => {
      if (isHeld(ctx)) await new Promise(resolve => held.push(resolve))
      return respond(ctx)
    }),
    begun: (count = 1) => waitFor(() => held.length >= count, () => `${count} requests, got ${held.length}`),
    release: () => held.splice(0).forEach(resolve => resolve())
  }
}

/** A raw client; what it got so far is its `text`. */
async function talk (port, bytes = '') {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  const client = {
    socket,
    text: '',
    ended: false,
    write: more => socket.write(more, 'latin1'),
    end: () => socket.end(),
    destroy: () => socket.destroy(),
    until: pattern => waitFor(() => pattern.test(client.text), () => `${pattern} in ${JSON.stringify(client.text)}`),
    ask (more, pattern = /hello$/) {
      client.text = ''
      client.write(more)
      return client.until(pattern)
    },
    async all () {
      await waitFor(() => client.ended, () => `the end of ${JSON.stringify(client.text)}`)
      return client.text
    }
  }
  socket.setEncoding('latin1')
  socket.on('data', chunk => { client.text += chunk })
  const ended = () => {
    client.ended = true
    socket.end()
  }
  socket.on('end', ended).on('close', ended).on('error', () => {})
  await once(socket, 'connect')
  if (bytes) client.write(bytes)
  return client
}

/** Until `holds()`; a condition that never comes is a failure with words instead of a test that hangs. */
async function waitFor (holds, what, longest = PATIENCE) {
  const until = Date.now() + longest
  while (!holds()) {
    if (Date.now() >= until) assert.fail(`waited in vain for ${typeof what === 'function' ? what() : what}`)
    await new Promise(resolve => setTimeout(resolve, 2))
  }
}

const get = (target, more = '') => `GET ${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n`
const last = target => get(target, 'Connection: close\r\n')
const post = (body, more = '', length = body.length, target = '/') =>
  `POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n${more}\r\n${body}`
const chunked = (body, target = '/', coding = 'chunked') =>
  `POST ${target} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ${coding}\r\n\r\n${body}`
/** The same, but not for the front. */
const unsupported = (body, target) => chunked(body, target, 'gzip, chunked')

/** Node's connection listener has this socket: kone fell back to node:http. */
const isNodes = socket => 'parser' in socket

const MAJOR = Number(process.versions.node.split('.')[0])

let keys
/** For https.createServer(). */
async function credentials () {
  const { private: key, cert } = await (keys ??= require('selfsigned').generate([{ name: 'commonName', value: 'localhost' }]))
  return { key, cert }
}

/** Until a number stands still; what it is then. */
async function settled (read) {
  let last = -1
  for (let still = 0; still < 16; still++) {
    const now = read()
    if (now !== last) still = 0
    last = now
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  return last
}

/** Until a value stays the same for some turns of the event loop. */
async function quiet (read, turns = 20) {
  let last
  for (let still = 0; still < turns; still++) {
    if (read() !== last) still = 0
    last = read()
    await new Promise(resolve => setImmediate(resolve))
  }
}

/** Send `bytes` up to `times` over, as fast as they are taken, then `end`. Returns how often they were sent so far. */
function pump (socket, bytes, times, end = '') {
  let sent = 0
  const more = () => {
    while (sent < times && !socket.destroyed) {
      sent++
      if (!socket.write(bytes)) return socket.once('drain', more)
    }
    if (end !== '') socket.write(end, 'latin1')
  }
  more()
  return () => sent
}

/** A net.Socket without a wire: what is written is kept, what is read comes by push(). */
function unwired (server) {
  const socket = new net.Socket()
  socket._server = server // as of a socket that the server accepted
  socket.written = ''
  socket._write = (chunk, encoding, callback) => {
    socket.written += chunk.toString('latin1')
    callback()
  }
  socket._writev = null
  socket._read = () => {}
  return socket
}

module.exports = {
  BOTH,
  MAJOR,
  chunked,
  credentials,
  get,
  hello,
  holding,
  isNodes,
  last,
  post,
  pump,
  quiet,
  setUp,
  settled,
  sides,
  talk,
  unsupported,
  unwired,
  use,
  waitFor,
  withAsk
}
