'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')

const Kone = require('../helpers/kone')
const { exchange } = require('../helpers/engines')

const lines = (...list) => list.join('\r\n')

const NO_REQUEST = '\r\n\r\n' // ends with its timeout

const messages = {
  'nothing but a line break': NO_REQUEST,
  'a word': 'hello\r\n\r\n',
  'bytes of TLS': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'no Host': 'GET / HTTP/1.1\r\n\r\n',
  'two Hosts': lines('GET / HTTP/1.1', 'Host: a', 'Host: b', 'Connection: close', '', ''),
  'an empty Host': lines('GET / HTTP/1.1', 'Host:', 'Connection: close', '', ''),
  'markup as Host': lines('GET / HTTP/1.1', 'Host: <script>', 'Connection: close', '', ''),
  'a header without a colon': lines('GET / HTTP/1.1', 'Host: a', 'nonsense', '', ''),
  'a NUL in a value': lines('GET / HTTP/1.1', 'Host: a', 'X-A: a\0b', '', ''),
  'a folded header': lines('GET / HTTP/1.1', 'Host: a', 'X-A: a', ' b', 'Connection: close', '', ''),
  'two lengths': lines('POST / HTTP/1.1', 'Host: a', 'Content-Length: 1', 'Content-Length: 2', '', 'ab'),
  'a length and chunks': lines('POST / HTTP/1.1', 'Host: a', 'Content-Length: 1', 'Transfer-Encoding: chunked', '', '0', '', ''),
  'a length that is not a number': lines('POST / HTTP/1.1', 'Host: a', 'Content-Length: -1', '', ''),
  'a broken chunk': lines('POST / HTTP/1.1', 'Host: a', 'Transfer-Encoding: chunked', '', 'zz', 'x', ''),
  'a target of markup': lines('GET /<script> HTTP/1.1', 'Host: a', 'Connection: close', '', ''),
  'a target that is not a URL': lines('GET x HTTP/1.1', 'Host: a', '', ''),
  'an absolute target': lines('GET http://b/x HTTP/1.1', 'Host: a', 'Connection: close', '', ''),
  'a target of an asterisk': lines('OPTIONS * HTTP/1.1', 'Host: a', 'Connection: close', '', ''),
  CONNECT: lines('CONNECT a:443 HTTP/1.1', 'Host: a:443', '', ''),
  'headers that are too long': `GET /${'x'.repeat(20000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  'too many headers': `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${'a: b\r\n'.repeat(3000)}\r\n`,
  'a header called __proto__': lines('GET / HTTP/1.1', 'Host: a', '__proto__: x', 'Connection: close', '', ''),
  'a method nobody knows': lines('BREW / HTTP/1.1', 'Host: a', '', '')
}

for (const http1 of [true, false]) {
  describe(`bytes of any kind, the front ${http1 ? 'on' : 'off'}`, () => {
    test('should leave the process and the next request alone', async t => {
      const app = new Kone({ http1 })
      const errors = []
      app.on('error', error => errors.push(error))
      app.use(async ctx => {
        await ctx.request.readBody().catch?.(() => {})
        ctx.body = [ctx.host, ctx.path === '/next', ctx.query, ctx.get('__proto__'), ctx.ip, ctx.accepts('json')]
      })
      const server = app.listen(0, '127.0.0.1')
      await once(server, 'listening')
      t.after(() => {
        server.closeAllConnections()
        server.close()
      })
      const { port } = server.address()

      for (const [what, message] of Object.entries(messages)) {
        const exchanged = exchange(port, message)
        if (message !== NO_REQUEST) {
          const response = await exchanged
          assert.match(response, /^$|^HTTP\/1\.1 \d\d\d /, what)
          assert.doesNotMatch(response, /<script>/, what)
        }
        const next = await fetch(`http://127.0.0.1:${port}/next`)
        assert.equal((await next.json())[1], true, what)
      }
    })
  })
}
