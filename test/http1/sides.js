'use strict'

const { afterEach, describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const http = require('node:http')
const net = require('node:net')
const { once } = require('node:events')

const Kone = require('../helpers/kone')

// A test that waits for what never comes fails by then, in ms. Other processes may hold it up for seconds.
const TIMEOUT = 60000

/**
 * State a behaviour of the server once and have it tested without the front and with it.
 *
 *    sides('server.headersTimeout', ({ it, serve }) => {
 *      it('should answer 408', async () => {
 *        const { talk } = await serve(app => app.use(ctx => { ctx.body = 'hi' }), { headersTimeout: 50 })
 *        const client = await talk('GET / HT')
 *        assert.match(await client.all(), /^HTTP\/1\.1 408/)
 *      })
 *    })
 *
 * @param {string} title
 * @param {Function} define `({ side, it, serve }) => void`
 */
function sides (title, define) {
  for (const side of ['node:http', 'front']) {
    describe(`${title}, ${side}`, () => {
      const open = []
      afterEach(async () => {
        for (const close of open.splice(0)) await close()
      })
      const it = (title, ...rest) => test(title, { timeout: TIMEOUT, ...rest.length > 1 && rest[0] }, rest.at(-1))
      define({ side, it, serve: (setup, options) => serve(side, open, setup, options) })
    })
  }
}

/**
 * @param {string} side
 * @param {Function[]} open what to call when the test is over
 * @param {(app: Application) => void} setup
 * @param {object} [options] of http.createServer; what it does not know is set on the server
 */
async function serve (side, open, setup, options = {}) {
  const app = new Kone()
  app.silent = true
  setup(app)
  const server = http.createServer(options)
  for (const [name, value] of Object.entries(options)) {
    if (!(name in server) || server[name] !== value) server[name] = value
  }
  if (side === 'front') app.attach(server)
  else server.on('request', app.callback())
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
  return { app, server, port, sockets, talk: bytes => talk(port, bytes) }
}

/**
 * A raw client.
 *
 *    const client = await talk(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
 *    await client.until(/\r\n\r\nhello$/)
 *    client.write('…')
 *    await client.all()   // everything until the server closed
 */
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
async function waitFor (holds, what, longest = 20000) {
  const until = Date.now() + longest
  while (!holds()) {
    assert(Date.now() < until, `waited in vain for ${typeof what === 'function' ? what() : what}`)
    await new Promise(resolve => setTimeout(resolve, 2))
  }
}

const get = (target, more = '') => `GET ${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n`

/** Until a number stands still; what it is then. */
async function settled (read) {
  let last = -1
  for (let still = 0; still < 8; still++) {
    const now = read()
    if (now !== last) still = 0
    last = now
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  return last
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

module.exports = { get, pump, settled, sides, talk, waitFor }
