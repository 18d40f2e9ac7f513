'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')

const Kone = require('../helpers/kone')
const { exchange } = require('../helpers/engines')

const message = (line, ...lines) => `${line}\r\nHost: a\r\n${lines.map(line => `${line}\r\n`).join('')}\r\n`
const get = (...lines) => message('GET / HTTP/1.1', ...lines)
const post = (...lines) => message('POST / HTTP/1.1', ...lines)
const CLOSE = 'Connection: close'

const NO_REQUEST = '\r\n\r\n' // ends with its timeout

const messages = {
  'nothing but a line break': NO_REQUEST,
  'a word': 'hello\r\n\r\n',
  'bytes of TLS': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'no Host': 'GET / HTTP/1.1\r\n\r\n',
  'two Hosts': get('Host: b', CLOSE),
  'an empty Host': `GET / HTTP/1.1\r\nHost:\r\n${CLOSE}\r\n\r\n`,
  'markup as Host': `GET / HTTP/1.1\r\nHost: <script>\r\n${CLOSE}\r\n\r\n`,
  'a header without a colon': get('nonsense'),
  'a NUL in a value': get('X-A: a\0b'),
  'a folded header': get('X-A: a', ' b', CLOSE),
  'two lengths': `${post('Content-Length: 1', 'Content-Length: 2')}ab`,
  'a length and chunks': `${post('Content-Length: 1', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
  'a length that is not a number': post('Content-Length: -1'),
  'a broken chunk': `${post('Transfer-Encoding: chunked')}zz\r\nx\r\n`,
  'a target of markup': message('GET /<script> HTTP/1.1', CLOSE),
  'a target that is not a URL': message('GET x HTTP/1.1'),
  'an absolute target': message('GET http://b/x HTTP/1.1', CLOSE),
  'a target of an asterisk': message('OPTIONS * HTTP/1.1', CLOSE),
  CONNECT: message('CONNECT a:443 HTTP/1.1'),
  'headers that are too long': message(`GET /${'x'.repeat(20000)} HTTP/1.1`),
  'too many headers': get(CLOSE, ...Array(3000).fill('a: b')),
  'a header called __proto__': get('__proto__: x', CLOSE),
  'a method nobody knows': message('BREW / HTTP/1.1')
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
