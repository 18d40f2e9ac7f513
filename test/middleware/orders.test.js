'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { Readable } = require('node:stream')
const { describe, it } = require('node:test')
const zlib = require('node:zlib')
const { Registry } = require('prom-client')
const set = require('kone/middleware')

const { connect } = require('../helpers/engines')
const folder = require('../helpers/folder')
const Kone = require('../helpers/kone')
const { random } = require('../helpers/random')
const share = require('../helpers/share')

/*
 * The set in any order around a body of any size and kind: the client gets the bytes of the file, whatever acts on them, on
 * every engine. A case is a seed, which the test's name has.
 */

const CASES = share(16, 30, 60)

// of numbers, because what repeats itself is compressed to a few bytes
const digits = random(7)
const TEXT = Buffer.from(Array.from({ length: 500_000 }, () => digits.int(1e6)).join(' '))
const MB = 1 << 20
const SIZES = { 1: 1024, 70: 70 * 1024, 216: 216 * 1024, 3072: 3 * MB }
const root = folder(Object.fromEntries(Object.entries(SIZES).map(([name, size]) => [`${name}.txt`, TEXT.subarray(0, size)])))

const AROUND = {
  bodyParser: () => set.bodyParser(),
  compress: () => set.compress({ threshold: 0, ...FAST }),
  conditionalGet: () => set.conditionalGet(),
  cors: () => set.cors(),
  etag: () => set.etag(),
  helmet: () => set.helmet(),
  i18n: app => set.i18n(app, { locales: { en: {} } }),
  isolate: () => set.isolate(),
  jsonp: () => set.jsonp(),
  logger: () => set.logger(() => {}),
  metrics: () => set.metrics({ register: new Registry(), defaults: false }),
  overload: () => set.overload({ maxEventLoopDelay: false, maxHeapUsedBytes: '4gb' }),
  rateLimit: () => set.rateLimit({ max: 1e6 }),
  requestId: () => set.requestId(),
  session: () => set.session(),
  timeout: () => set.timeout(60_000),
  upload: () => set.upload()
}
const FAST = { gzip: { level: 1 }, deflate: { level: 1 }, br: { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } } }
const DECODE = { gzip: zlib.gunzipSync, br: zlib.brotliDecompressSync, deflate: zlib.inflateSync, identity: bytes => bytes }

const bodyOf = make => ctx => {
  const size = SIZES[/\d+/.exec(ctx.path)[0]]
  ctx.body = make(TEXT.subarray(0, size), `${root}${ctx.path}`)
  ctx.type = 'text'
  if (ctx.query.length) ctx.length = size
}

const SOURCES = {
  static: () => set.static(root),
  file: () => bodyOf((bytes, path) => fs.createReadStream(path)),
  'chunks at once': () => bodyOf(bytes => {
    let at = 0
    return new Readable({ read (size) { this.push(at < bytes.length ? bytes.subarray(at, at += size) : null) } })
  }),
  iterator: () => bodyOf(bytes => Readable.from((function * () {
    for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000)
  })())),
  bytes: () => bodyOf(bytes => bytes),
  web: () => bodyOf(bytes => new Blob([bytes]).stream())
}

const ENGINES = ['callback', 'listen', 'http2', 'inject', 'http1', 'http1-materialised', 'create-context', 'fetch', 'fetch-materialised']

function caseOf (seed) {
  const rnd = random(seed)
  const left = Object.keys(AROUND).filter(() => rnd.chance(0.4))
  if (!left.includes('compress')) left.push('compress')
  const order = []
  while (left.length > 0) order.push(...left.splice(rnd.int(left.length), 1))
  return { engine: rnd.pick(ENGINES), order, source: rnd.pick(Object.keys(SOURCES)), rnd }
}

describe('the set in any order', () => {
  for (let seed = 1; seed <= CASES; seed++) {
    const { engine, order, source, rnd } = caseOf(seed)
    it(`should send what is in the file, ${seed}: ${order.join(' ')} around ${source}, ${engine}`, async t => {
      const errors = []
      const app = new Kone()
      app.keys = ['a']
      app.silent = true
      app.on('error', err => errors.push(err.message))
      if (engine === 'listen') app.http1 = false
      for (const name of order) app.use(AROUND[name](app))
      app.use(SOURCES[source]())
      const { ask, close } = await connect(engine, app)
      t.after(close)
      for (const [name, size] of Object.entries(SIZES)) {
        if (size > MB && !rnd.chance(0.3)) continue // two thirds of what a case takes
        const encoding = rnd.pick(Object.keys(DECODE))
        const target = `/${name}.txt${rnd.chance(0.5) ? '?length=1' : ''}`
        const headers = { 'Accept-Encoding': encoding }
        const bytes = TEXT.subarray(0, size)

        const whole = await ask(`GET ${target}`, { headers })
        assert.equal(whole.status, 200, target)
        assert(DECODE[whole.headers['content-encoding'] ?? 'identity'](whole.body).equals(bytes), `${target} ${encoding}`)

        const { status, body } = await ask(`HEAD ${target}`, { headers })
        assert.deepEqual([status, body.length], [200, 0], `HEAD ${target}`)

        const part = await ask(`GET ${target}`, { headers: { ...headers, Range: `bytes=${size - 900}-` } })
        assert([200, 206].includes(part.status), `${part.status}`)
        if (part.status === 206) assert(part.body.equals(bytes.subarray(size - 900)), `a part of ${target}`)
        else assert(DECODE[part.headers['content-encoding'] ?? 'identity'](part.body).equals(bytes), `no part of ${target}`)

        const { etag } = whole.headers
        const again = etag && await ask(`GET ${target}`, { headers: { ...headers, 'If-None-Match': etag } })
        if (again) assert([200, 304].includes(again.status) && (again.body.length === 0) === (again.status === 304), `${target} again`)
      }
      assert.deepEqual(errors, [])
    })
  }
})
