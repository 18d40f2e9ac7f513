'use strict'

const assert = require('node:assert/strict')
const { PassThrough } = require('node:stream')

const { chunked, get, last, settled, unsupported, use, waitFor } = require('./sides')
const { download, front } = require('./wire')

/*
 * Bytes that the front does not support, behind an open response: whatever they are, and whatever becomes of the
 * connection, the response is whole, or its connection is closed at once and the response is lost. Nobody waits.
 */

const OPTIONS = { connectionsCheckingInterval: 20, headersTimeout: 300, requestTimeout: 300 }

const REFUSED = /^HTTP\/1\.1 400 Mine\r\n\r\n$/
const LATE = /^HTTP\/1\.1 408 Mine\r\n\r\n$/
const SERVED = /^HTTP\/1\.1 200 [^]*next$/

/** What waits, and what it gets from node behind the response. */
const WAITING = {
  junk: ['junk\r\n\r\n', REFUSED],
  'junk in pieces': [['G', 'E', 'X'], REFUSED],
  'more junk than is read': ['junk\r\n'.repeat(100_000), REFUSED],
  'the beginning of a TLS connection': ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', REFUSED],
  'a bad line': ['GET / HTTP/1.1\r\nBad Name: a\r\n', REFUSED],
  'a malformed chunk in the read of its header section': [chunked('x'), REFUSED],
  'the same of a last request': [chunked('x').replace('Host', 'Connection: close\r\nHost'), REFUSED],
  'a CONNECT without a listener': ['CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', /^$/],
  'half a request of an unsupported method': ['TRACE / HTTP/1.1\r\nHost: a\r\n', LATE],
  'half an unsupported body': [unsupported('5\r\nab', '/next'), LATE],
  'HTTP/0.9': ['GET /next HTTP/0.9\r\n\r\n', SERVED],
  'an unsupported request': [last('/next').replace('Host', 'Upgrade: a\r\nHost'), SERVED],
  'an unsupported request and a plain one': [unsupported('0\r\n\r\n', '/next') + last('/next'), /next[^]*next$/],
  'a request, then junk': [[get('/first'), 'junk\r\n\r\n'], REFUSED]
}

/** How the open response is sent, and what it is. */
const RESPONSES = {
  'a text': [(ctx, released) => released.then(() => { ctx.body = 'whole' }), /^$/, /\r\n\r\nwhole$/],
  'a stream that has begun': [(ctx, released) => {
    ctx.body = new PassThrough()
    ctx.body.write('begun')
    released.then(() => ctx.body.end('whole'))
  }, /begun\r\n$/, /begun\r\n5\r\nwhole\r\n0\r\n\r\n$/],
  'ctx.res': [(ctx, released) => {
    ctx.respond = false
    ctx.res.setHeader('Content-Length', 10)
    ctx.res.write('begun')
    released.then(() => ctx.res.end('whole'))
  }, /\r\n\r\nbegun$/, /\r\n\r\nbegunwhole$/]
}

front('unsupported bytes behind an open response', ({ it, serve }) => {
  for (const [how, [respond, begun, whole]] of Object.entries(RESPONSES)) {
    /** A client per kind of bytes, which have arrived. `end`: what becomes of its connection. */
    async function each (end) {
      const requests = new Map()
      const codes = []
      const site = await serve(use(ctx => {
        if (ctx.path === '/next') return ctx.request.readBody().then(() => { ctx.body = 'next' }, () => {})
        if (!ctx.path.startsWith('/open')) return
        const request = { ends: [] }
        requests.set(ctx.path, request)
        ctx.onFinished(err => request.ends.push(err === null ? 'sent' : err.code))
        return respond(ctx, new Promise(resolve => { request.release = resolve }))
      }), OPTIONS)
      site.server.on('clientError', (err, socket) => {
        codes.push(err.code)
        socket.end(`HTTP/1.1 ${err.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408' : '400'} Mine\r\n\r\n`)
      })
      const clients = Object.entries(WAITING).map(async ([what, [bytes, next]], i) => {
        const path = `/open/${i}`
        const client = await site.talk(get(path))
        await waitFor(() => requests.has(path) && begun.test(client.text), `${what}: the request`)
        const socket = site.sockets.find(({ remotePort }) => remotePort === client.socket.localPort)
        for (const piece of [bytes].flat()) {
          const { bytesRead } = socket
          client.write(piece)
          await waitFor(() => socket.bytesRead > bytesRead, `${what}: its bytes`)
        }
        const read = await settled(() => socket.bytesRead)
        assert(read <= socket.readableHighWaterMark + 65536 + 1000, `${what}: ${read} bytes were read`)
        assert.match(client.text, begun, what)
        return { ...requests.get(path), what, client, next }
      })
      const all = await Promise.all(clients)
      assert.deepEqual(codes, [])
      await Promise.all(all.map(one => end(one, site)))
    }

    const lost = async ({ what, client, ends }) => {
      await client.all()
      assert.match(client.text, begun, what)
      await waitFor(() => ends.length > 0, what)
      assert.deepEqual(ends, ['KONE_ERR_RESPONSE_LOST'], what)
    }

    it(`should wait until it is whole, then be node's: ${how}`, () => each(async ({ what, client, next, ends, release }) => {
      release()
      const text = await client.all()
      const parts = text.split(/(?<!^)(?=HTTP\/1\.1)/)
      assert.match(parts[0], whole, what)
      assert.match(parts.slice(1).join('').replace(/^[^]*404[^]*Not Found(?=H)/, ''), next, what)
      assert.deepEqual(ends, ['sent'], what)
    }))

    it(`should be dropped, and the response lost, when the client ends its side: ${how}`, () => each(one => {
      if (!one.what.startsWith('more')) one.client.end()
      else one.client.socket.resetAndDestroy(one.release()) // noticed when the response is written
      return lost(one)
    }))

    it(`should be dropped, and the response lost, when other code destroys the socket: ${how}`, () => each((one, { server }) => {
      server.closeAllConnections()
      return lost(one)
    }))

    it(`should not keep app.close() waiting: ${how}`, () => each(async ({ what, client, next, ends, release }, { app }) => {
      const closed = app.close({ timeout: 60_000 })
      release()
      await waitFor(() => ends.length > 0, what)
      if (next === LATE) client.end() // it would wait for the rest of a request
      await closed
      await client.all()
      assert.match(client.text.split(/(?<!^)(?=HTTP\/1\.1)/)[0], whole, what)
      assert.deepEqual(ends, ['sent'], what)
    }))
  }

  for (const what of ['junk', 'HTTP/0.9', 'an unsupported request']) {
    it(`should wait until the client has read the response: ${what}`, async () => {
      const { port, sockets } = await serve(use(ctx => {
        ctx.body = ctx.path === '/' ? Buffer.alloc(16_000_000) : 'next'
        if (ctx.path === '/') ctx.res.setTimeout(50, () => { hasTimedOut = true })
      }))
      let hasTimedOut = false
      const client = await download(port, get('/'))
      await waitFor(() => sockets[0]?.bytesWritten > 0, 'the response')
      client.write(WAITING[what][0])
      await waitFor(() => hasTimedOut || sockets[0].destroyed, 'the timeout')
      assert.equal(sockets[0]._httpMessage?.headersSent, true)
      client.resume()
      await client.end()
      assert.match(client.last, /\0HTTP\/1\.1 (?:400 |200 [^]*next$)/)
    })
  }

  for (const [event, argument] of [
    ['drain'], ['timeout'], ['end'], ['close'], ['error', new Error('mine')], ['data', Buffer.from('\r\n')]
  ]) {
    it(`should be node's where a listener of the app's for '${event}' ends the response, in front of kone's`, async () => {
      let open
      const { talk, sockets } = await serve(use(ctx => {
        if (ctx.path === '/next') {
          ctx.body = 'next'
          return
        }
        ctx.respond = false
        ctx.socket.prependOnceListener(event, () => ctx.res.end('whole'))
        open = true
      }))
      const client = await talk(get('/'))
      await waitFor(() => open, 'the request')
      client.write(unsupported('0\r\n\r\n', '/next'))
      await waitFor(() => sockets[0].bytesRead > get('/').length, 'the rest')
      sockets[0].emit(event, argument)
      await client.until(/whole[^]*next$/)
    })
  }
})
