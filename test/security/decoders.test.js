'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const path = require('node:path')
const zlib = require('node:zlib')

const { decoderOf, decompress } = require('../../middleware/_shared/decoders')
const { start } = require('../helpers/child')
const request = require('../helpers/request')

/*
 * A few bytes make a decoder fill its window, whatever the limit of the output is. The decoders of all requests of a process
 * together have a limit.
 */

const ROOT = path.join(__dirname, '../..')
const MB = 1024 * 1024
const ZEROS = Buffer.alloc(24 * MB)
const { BROTLI_PARAM_LGWIN, BROTLI_PARAM_QUALITY, ZSTD_c_windowLog: ZSTD_WINDOW } = zlib.constants

/** Bytes that decode to 24 MB, with the largest window of the format. */
const BOMBS = {
  gzip: zlib.gzipSync(ZEROS),
  deflate: zlib.deflateSync(ZEROS),
  br: zlib.brotliCompressSync(ZEROS, { params: { [BROTLI_PARAM_LGWIN]: 24, [BROTLI_PARAM_QUALITY]: 5 } }),
  ...zlib.zstdCompressSync && { zstd: zlib.zstdCompressSync(ZEROS, { params: { [ZSTD_WINDOW]: 23 } }) }
}

const PROGRAM = framework => `
  const Koa = require('${framework}')
  const { bodyParser, rpc } = require('kone/middleware')
  const app = new Koa()
  app.silent = true
  app.use((ctx, next) => {
    if (ctx.path !== '/peak') return next()
    ctx.body = String(process.resourceUsage().maxRSS * 1024) // in KB, on each system
  })
  const small = bodyParser({ decoderMemory: '1mb' })
  app.use((ctx, next) => ctx.path === '/small' ? small(ctx, next) : next())
  app.use(rpc({ echo: value => value }))
  app.use(bodyParser())
  app.use(ctx => { ctx.body = ctx.request.body })
  const server = app.listen(0, () => console.log('http://localhost:' + server.address().port))`

// Both frameworks give the bytes to the same decoders: koa meets the cheapest.
const BODIES = 100

for (const [framework, bombs] of [['kone', BOMBS], ['koa', { gzip: BOMBS.gzip }]]) {
  describe(`the decoders of a process with ${framework}`, () => {
    let child
    before(async () => { child = await start(['-e', PROGRAM(framework)], {}, ROOT) })
    after(() => child.stop())

    const post = (path, encoding, body) => request(new URL(child.url).port, `POST ${path}`, {
      headers: { 'content-type': 'application/json', 'content-encoding': encoding, 'content-length': body.length }, body
    })
    const peak = async () => Number(await (await fetch(`${child.url}/peak`)).text())

    for (const [encoding, bomb] of Object.entries(bombs)) {
      it(`should use a bounded memory for ${BODIES} bodies of ${encoding} at once, and respond to all`, async () => {
        const good = zlib[{ gzip: 'gzipSync', deflate: 'deflateSync', br: 'brotliCompressSync', zstd: 'zstdCompressSync' }[encoding]]('[1]')
        await Promise.all([post('/', encoding, bomb), post('/rpc/echo', encoding, bomb)])
        const idle = await peak()
        const all = Array.from({ length: BODIES }, (_, i) => i % 10 === 0
          ? post('/', encoding, good)
          : post(i % 2 === 0 ? '/' : '/rpc/echo', encoding, bomb))
        const responses = await Promise.all(all)
        responses.forEach(({ status, text }, i) => {
          if (i % 10 === 0) assert.deepEqual([status, text], [200, '[1]'])
          else assert.equal(status, 413)
        })
        const grown = await peak() - idle
        assert(grown < 200 * MB, `${grown / MB} MB more`)
      })
    }

    it('should refuse bodies when the queue is full, and accept them again later', async () => {
      const bomb = Buffer.concat([BOMBS.br, Buffer.alloc(100 * 1024)])
      const responses = await Promise.all(Array.from({ length: 60 }, () => post('/small', 'br', bomb)))
      const refused = responses.filter(({ status }) => status === 503)
      assert(refused.length > 0)
      assert(refused.every(({ headers }) => headers['retry-after'] === '1'))
      assert.equal(refused[0].text, 'too many compressed bodies are waiting')
      assert(responses.filter(({ status }) => status === 413).length > 1)
      const { status, text } = await post('/small', 'br', zlib.brotliCompressSync('{"a":1}'))
      assert.deepEqual([status, text], [200, '{"a":1}'])
    })
  })
}

describe('the memory that is reserved for a body', () => {
  /** How many of these bodies are decoded at the same time, with the default memory. */
  async function together (encoding, bodies, limit) {
    const decoder = decoderOf(encoding)
    let running = 0
    const counting = {
      ...decoder,
      decompress (...args) {
        running++
        decoder.decompress(...args)
      }
    }
    const decoded = Promise.all(bodies.map(body => decompress(counting, body, limit)))
    const atOnce = running // those that are not queued start synchronously
    return { atOnce, decoded: (await decoded).map(String) }
  }

  for (const [title, atOnce, encoders] of [
    ['no more than a small body of gzip or deflate can become', 2, { gzip: zlib.gzipSync, 'x-gzip': zlib.gzipSync, deflate: zlib.deflateSync }],
    ['the limit where the format has no bound', 1, { br: zlib.brotliCompressSync, zstd: zlib.zstdCompressSync }]
  ]) {
    it(`should be ${title}`, async () => {
      for (const [encoding, encode] of Object.entries(encoders).filter(([, encode]) => encode !== undefined)) {
        const bodies = ['[1]', '[2]'].map(text => encode(text))
        assert.deepEqual(await together(encoding, bodies, 50 * MB), { atOnce, decoded: ['[1]', '[2]'] }, encoding)
      }
    })
  }

  it('should suffice for the most that gzip and deflate can become', () => {
    for (let size = 1; size <= 24 * MB; size *= 2) {
      for (const [encoding, encode] of [['gzip', zlib.gzipSync], ['deflate', zlib.deflateSync]]) {
        const bytes = encode(ZEROS.subarray(0, size), { level: 9, memLevel: 9 })
        assert(decoderOf(encoding).output(bytes) >= size, `${size} bytes of ${encoding}`)
      }
    }
  })
})
