'use strict'

const { describe, it, after } = require('node:test')
const assert = require('node:assert/strict')
const { createHash } = require('node:crypto')
const zlib = require('node:zlib')
const { once } = require('node:events')
const { Readable } = require('node:stream')
const { isDeepStrictEqual } = require('node:util')
const Koa = require('koa')
const Kone = require('kone')
const { bodyParser: scoped } = require('@koa/bodyparser')
const oracle = require('koa-bodyparser')
const bodyParser = require('kone/middleware/bodyParser')
const { random } = require('../helpers/random')
const request = require('../helpers/request')
const share = require('../helpers/share')

// koa-bodyparser 4.4 is the specification, but for these intentional differences: corrupt compressed
// bodies are 400 (there 500), a charset is respected, what cannot be read is 415 (there `{}` or
// 500), limits of forms are 400 and 413, and `constructor.prototype` in JSON is refused.

const TYPES = [
  'application/json', 'application/json; charset=utf-8', 'application/json;', 'Application/JSON', 'text/plain',
  'application/x-www-form-urlencoded', 'application/x-www-form-urlencoded; charset=UTF-8', 'text/xml',
  'application/vnd.api+json', 'application/scim+json', 'application/hal+json', 'application/octet-stream',
  'multipart/form-data; boundary=x', 'application/csp-report', undefined
]
// parsed, also by @koa/bodyparser 6: a parameter without `=` is ignored
const READ = [
  'application/json', 'application/json ; charset=utf-8', 'application/json;;charset=utf-8', 'application/json; ;',
  ...['utf-8', 'charset', 'utf-8;', 'utf 8', 'utf-8; charset=utf-8', 'charset=utf-8; utf-8', 'v=1; utf-8;\tx', 'charset="utf-8"; x',
    'a="b; c; d"', 'a="b; c; d"; x'].map(parameters => `application/json; ${parameters}`),
  'APPLICATION/JSON; UTF-8', 'application/json-patch+json', 'application/vnd.api+json', 'application/csp-report',
  'application/scim+json', 'application/reports+json', 'Application/Reports+JSON; utf-8', 'application/x-www-form-urlencoded; utf-8'
]
// 415, where the two others parse or run the handler with {}
const REFUSED = [
  ...['=', '=utf-8', 'charset=', 'charset="utf-8', 'charset=utf-8 x', 'charset="utf-8; x"',
    'utf-8; charset=x-nonsense', 'charset=utf-8, application/json'].map(parameters => `application/json; ${parameters}`),
  'application/json, application/json', 'application/json/x', 'application / json', 'application', '; utf-8', 'json; utf-8',
  'application/; utf-8', '/json; utf-8', 'application/json utf-8', 'application/json utf-8; x'
]
// left to others by all
const LEFT = [
  'application/hal+json', 'application/ld+json', 'application/problem+json', 'application/merge-patch+json', 'application/json+reports',
  'application/reports+xml', 'application/x-json', 'text/json', 'text/plain; application/json', 'multipart/form-data; utf-8'
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

  async function serve (App, middleware, tell = seen => seen) {
    const app = new App()
    app.silent = true
    app.use(middleware)
    app.use(ctx => {
      const { body, rawBody } = ctx.request
      ctx.body = tell({ body, rawBody })
    })
    const server = app.listen(0, '127.0.0.1')
    servers.push(server)
    if (!server.listening) await once(server, 'listening')
    return server.address().port
  }

  const LIMIT = 12_345
  const MANY = 10 * 2 ** 20
  for (const [limit, sizes] of [
    [LIMIT, [0, 1, 2, 3, 4, 5, 63, 64, 1023, 1024, LIMIT - 1, LIMIT, LIMIT + 1, 2 * LIMIT]],
    [undefined, [56 * 1024 - 1, 56 * 1024, 56 * 1024 + 1, 65_535, 65_536, 65_537, 100 * 1024, 2 ** 20 - 1, 2 ** 20, 2 ** 20 + 1]],
    ...share([], [[MANY, [MANY, MANY + 1]]]) // a second each
  ]) {
    it(`should give the same for bodies of every size with a limit of ${limit ?? 'its own'}`, async () => {
      const options = {
        enableTypes: ['json', 'form', 'text'],
        ...(limit && { jsonLimit: limit, formLimit: limit, textLimit: limit })
      }
      const digest = seen => createHash('sha1').update(JSON.stringify(seen)).digest('hex')
      const ports = [
        await serve(Koa, oracle({ ...options }), digest),
        await serve(Koa, bodyParser(options), digest),
        await serve(Kone, bodyParser(options), digest)
      ]
      const statuses = new Set()
      for (const size of sizes) {
        for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain']) {
          for (const [encoding, encode] of [ENCODINGS[0], ENCODINGS[2]]) {
            for (const isChunked of [false, true]) {
              const isLarge = size > 2 ** 21 && type !== 'text/plain'
              if (isLarge && (encoding || isChunked)) continue // a second each
              const headers = { 'content-type': type, ...(encoding && { 'content-encoding': encoding }) }
              const body = encode(sized(type, size))
              const answers = await Promise.all(ports.map(port => post(port, headers, body, isChunked)))
              const [theirs, ours, kones] = answers
              const told = `${size} bytes of ${type}, ${encoding}, ${isChunked ? 'chunked' : 'whole'}`
              assert.deepEqual(ours, theirs, told)
              assert.deepEqual(kones, theirs, told)
              statuses.add(theirs.status)
            }
          }
        }
      }
      assert.ok(statuses.has(200) && statuses.has(413), [...statuses])
    })
  }

  it('should read the content types that @koa/bodyparser 6 reads, and refuse what is malformed', async () => {
    const ports = await Promise.all([
      serve(Kone, bodyParser()), serve(Koa, bodyParser()), serve(Koa, oracle()), serve(Koa, scoped())
    ])
    for (const type of [...READ, ...REFUSED, ...LEFT]) {
      const body = type.includes('urlencoded') ? 'a=1' : '{"a":"1"}'
      const answers = await Promise.all(ports.map(port => post(port, { 'content-type': type }, body)))
      const [ours, inKoa, four, six] = answers.map(({ status, text }) => status === 200 ? JSON.parse(text).body : status)
      const expected = READ.includes(type) ? { a: '1' } : LEFT.includes(type) ? {} : 415
      assert.deepEqual([ours, inKoa], [expected, expected], type)
      if (expected !== 415) assert.deepEqual(six, ours, type)
      if (!isDeepStrictEqual(four, ours) && expected !== 415) assert.deepEqual(four, {}, type) // one that 4 does not know
    }
  })

  OPTIONS.forEach((options, i) => {
    it(`should give the same with ${JSON.stringify(options)}`, async () => {
      const ports = [
        await serve(Koa, oracle({ ...options })),
        await serve(Koa, bodyParser(options)),
        await serve(Kone, bodyParser(options))
      ]
      const rnd = random(i + 1)
      for (let j = 0; j < share(40, 60, 120); j++) {
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

/** A body of so many bytes, as near to text of its type as can be. */
function sized (type, size) {
  if (type === 'text/plain') return 'x'.repeat(size)
  const [start, end] = type === 'application/json' ? ['["', '"]'] : ['k=', '']
  const left = size - start.length - end.length
  return left < 0 ? start.slice(0, size) : start + 'y'.repeat(left) + end
}

async function post (port, headers, body, isChunked) {
  const half = Math.floor(body.length / 2)
  const sent = isChunked ? Readable.from([body.slice(0, half), body.slice(half)].filter(({ length }) => length > 0)) : body
  const { status, text } = await request(port, 'POST /', { headers, body: sent })
  // what is wrong, and which limit was passed, is described in words of one's own
  return { status, text: [400, 413].includes(status) ? '' : text }
}
