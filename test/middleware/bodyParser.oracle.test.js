'use strict'

const { describe, it, after } = require('node:test')
const assert = require('node:assert/strict')
const http = require('node:http')
const zlib = require('node:zlib')
const { once } = require('node:events')
const Koa = require('koa')
const Kone = require('kone')
const oracle = require('koa-bodyparser')
const bodyParser = require('kone/middleware/bodyParser')
const { random } = require('../helpers/random')

// koa-bodyparser 4.4 is the specification, but for these wanted differences: corrupt compressed
// bodies are 400 (there 500), a charset is respected, what cannot be read is 415 (there `{}` or
// 500), limits of forms are 400 and 413, and `constructor.prototype` in JSON is refused.

const TYPES = [
  'application/json', 'application/json; charset=utf-8', 'application/json;', 'Application/JSON', 'text/plain',
  'application/x-www-form-urlencoded', 'application/x-www-form-urlencoded; charset=UTF-8', 'text/xml',
  'application/vnd.api+json', 'application/scim+json', 'application/hal+json', 'application/octet-stream',
  'multipart/form-data; boundary=x', undefined
]
const BODIES = [
  '', '{}', '[]', '{"a":1}', ' \n[1,2,{"b":null}]', '{"a":"ü€😀"}', '"a"', '1', 'null', '{', '{"a":}', 'a=1&b=2',
  'a[b]=c&a[d]=%C3%BC', 'a=%', 'plain text', '{"__proto__":1}', '<a>x</a>', '\ufeff{"a":1}', '{"a":1}{', '&&&', '=',
  JSON.stringify({ long: 'x'.repeat(300) }), 'k=' + 'y'.repeat(300)
]
const ENCODINGS = [
  [undefined, body => body], ['identity', body => body], ['gzip', zlib.gzipSync], ['deflate', zlib.deflateSync],
  ['br', zlib.brotliCompressSync]
]
const OPTIONS = [
  {}, { enableTypes: ['json', 'form', 'text', 'xml'] }, { strict: false }, { enableTypes: ['text'] },
  { jsonLimit: 200, formLimit: '100b', textLimit: 50, enableTypes: ['json', 'form', 'text'] },
  { detectJSON: () => true }, { extendTypes: { json: 'application/*', form: ['text/plain'] } },
  { onProtoPoisoning: 'remove' }, { queryString: { allowDots: false } }
]

describe('bodyParser beside koa-bodyparser', () => {
  const servers = []

  after(() => servers.forEach(server => server.close()))

  async function serve (App, middleware) {
    const app = new App()
    app.silent = true
    app.use(middleware)
    app.use(ctx => {
      const { body, rawBody } = ctx.request
      ctx.body = { body, rawBody }
    })
    const server = app.listen(0, '127.0.0.1')
    servers.push(server)
    if (!server.listening) await once(server, 'listening')
    return server.address().port
  }

  OPTIONS.forEach((options, i) => {
    it(`should give the same with ${JSON.stringify(options)}`, async () => {
      const ports = [
        await serve(Koa, oracle({ ...options })),
        await serve(Koa, bodyParser(options)),
        await serve(Kone, bodyParser(options))
      ]
      const rnd = random(i + 1)
      for (let j = 0; j < 120; j++) {
        const [encoding, encode] = rnd.pick(ENCODINGS)
        const type = rnd.pick(TYPES)
        const body = encode(rnd.pick(BODIES))
        const headers = {}
        if (type !== undefined) headers['content-type'] = type
        if (encoding !== undefined) headers['content-encoding'] = encoding
        const isChunked = rnd.chance(0.3)
        const answers = ports.map(port => post(port, headers, body, isChunked))
        const [theirs, ours, kones] = await Promise.all(answers)
        const told = JSON.stringify({ headers, body: String(body), isChunked })
        assert.deepEqual(ours, theirs, told)
        assert.deepEqual(kones, theirs, told)
      }
    })
  })
})

function post (port, headers, body, isChunked) {
  return new Promise((resolve, reject) => {
    const req = http.request({ port, host: '127.0.0.1', method: 'POST', headers, agent: false }, async res => {
      let text = ''
      for await (const chunk of res) text += chunk
      // which limit was passed is told in words of one's own
      resolve({ status: res.statusCode, text: res.statusCode === 413 ? '' : text })
    })
    req.on('error', reject)
    if (isChunked) {
      const half = Math.floor(body.length / 2)
      req.write(body.slice(0, half))
      req.end(body.slice(half))
    } else {
      req.end(body)
    }
  })
}
