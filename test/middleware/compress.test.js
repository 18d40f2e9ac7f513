'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { PassThrough, Readable } = require('node:stream')
const { describe, it } = require('node:test')
const http = require('node:http')
const zlib = require('node:zlib')
const original = require('koa-compress')
const compress = require('kone/middleware/compress')
const serveFiles = require('kone/middleware/static')
const engines = require('../helpers/engines')
const folder = require('../helpers/folder')
const frameworks = require('../helpers/frameworks')
const { random } = require('../helpers/random')
const until = require('../helpers/until')

const DECODE = {
  gzip: zlib.gunzipSync,
  br: zlib.brotliDecompressSync,
  deflate: zlib.inflateSync,
  zstd: zlib.zstdDecompressSync
}
const LONG = 'lorem ipsum '.repeat(300)

const BODIES = {
  '/text': ctx => { ctx.body = LONG },
  '/short': ctx => { ctx.body = 'short' },
  '/html': ctx => { ctx.body = `<p>${LONG}` },
  '/json': ctx => { ctx.body = { text: LONG } },
  '/small-json': ctx => { ctx.body = { a: 1 } },
  '/buffer': ctx => { ctx.type = 'text/css'; ctx.body = Buffer.from(LONG) },
  '/image': ctx => { ctx.type = 'image/png'; ctx.body = Buffer.from(LONG) },
  '/svg': ctx => { ctx.type = 'image/svg+xml'; ctx.body = LONG },
  '/vendor': ctx => { ctx.type = 'application/vnd.api+json; charset=utf-8'; ctx.body = LONG },
  '/unknown': ctx => { ctx.type = 'application/x-nothing'; ctx.body = LONG },
  '/stream': ctx => {
    ctx.type = 'text'
    ctx.body = Readable.from([Buffer.from(LONG), Buffer.from(LONG)])
  },
  '/encoded': ctx => {
    ctx.set('Content-Encoding', 'gzip')
    ctx.type = 'text'
    ctx.body = zlib.gzipSync(LONG)
  },
  '/no-transform': ctx => { ctx.set('Cache-Control', 'public, no-transform'); ctx.body = LONG },
  '/partial': ctx => {
    ctx.status = 206
    ctx.set('Content-Range', 'bytes 0-3599/9999')
    ctx.body = LONG
  },
  '/empty': ctx => { ctx.body = '' },
  '/none': ctx => { ctx.body = null },
  '/missing': () => {},
  '/off': ctx => { ctx.compress = false; ctx.body = LONG },
  '/forced': ctx => {
    ctx.compress = true
    ctx.type = 'image/png'
    ctx.body = Buffer.from(LONG)
  },
  '/own': ctx => { ctx.compress = { threshold: 1, br: false }; ctx.body = 'short' }
}
const handle = ctx => BODIES[ctx.path](ctx)

frameworks('compress', ({ it, Koa, ask, listen, errors, name }) => {
  const serve = (options, handler = handle) => new Koa().use(compress(options)).use(handler)
  const get = (app, path, accept = 'gzip') => ask(app, `GET ${path}`, { headers: accept ? { 'Accept-Encoding': accept } : {} })
  const decoded = ({ headers, body }) => {
    const encoding = headers['content-encoding']
    return encoding ? DECODE[encoding](body).toString() : body.toString()
  }

  it('should compress what koa-compress compresses, the way it does', async () => {
    const accepts = [
      undefined, 'gzip', 'br', 'deflate', 'gzip, br', 'gzip;q=1, br;q=0.5', '*', 'identity', 'gzip;q=0',
      'zstd;q=0, *', 'GZIP', 'x-thing, gzip;q=0.1', 'identity;q=1, gzip;q=0.5', 'gzip;q=junk', ' , gzip ; q=0.3,'
    ]
    for (const options of [
      undefined,
      { threshold: '5kb' },
      { threshold: 0, br: false },
      { threshold: (type, size) => size > 3700 ? 1 : '1mb', gzip: (type, size) => size < 10000 && { level: 9 } },
      { encodingPreference: ['deflate', 'gzip'], defaultEncoding: '*' },
      { wildcardAcceptEncoding: 'deflate', filter: type => type === 'text/plain', zstd: null },
      { defaultEncoding: 'gzip', gzip: { flush: zlib.constants.Z_SYNC_FLUSH } }
    ]) {
      const ours = serve(options)
      const theirs = new (require('koa'))().use(original(options)).use(handle)
      for (const path of Object.keys(BODIES)) {
        const accept = accepts[(Object.keys(BODIES).indexOf(path) * 3 + accepts.length) % accepts.length]
        for (const header of new Set([accept, 'gzip, br;q=0.9', undefined])) {
          const [one, other] = [await get(ours, path, header), await get(theirs, path, header)]
          const what = `${path} ${header} ${JSON.stringify(options)}`
          assert.equal(one.status, other.status, what)
          assert.equal(one.headers['content-encoding'], other.headers['content-encoding'], what)
          assert.equal(one.headers['content-type'], other.headers['content-type'], what)
          assert.equal(one.headers.vary, other.headers.vary, what)
          assert.equal(decoded(one), decoded(other), what)
        }
      }
    }
  })

  it('should choose an encoding as koa-compress does', async () => {
    const ours = serve()
    const theirs = new (require('koa'))().use(original()).use(handle)
    const names = ['gzip', 'br', 'deflate', 'identity', '*', 'zstd', 'x']
    const { int: pick } = random(7)
    for (let i = 0; i < 60; i++) {
      const header = Array.from({ length: 1 + pick(4) }, () => {
        const name = names[pick(names.length)]
        return pick(2) ? name : `${name};q=${pick(11) / 10}`
      })
      // of one coding named twice the last word counts here, the heaviest there
      const once = header.filter((one, j) => header.findIndex(other => other.split(';')[0] === one.split(';')[0]) === j)
      const [one, other] = [await get(ours, '/text', once.join(', ')), await get(theirs, '/text', once.join(', '))]
      assert.equal(one.headers['content-encoding'], other.headers['content-encoding'], once.join(', '))
    }
  })

  it('should send a client that accepts nothing what there is', async () => {
    const res = await get(serve(), '/text', '*;q=0') // a 500 in koa-compress
    assert.deepEqual([res.status, res.text, res.headers['content-encoding']], [200, LONG, undefined])
  })

  it('should know the length of what it compressed whole', async () => {
    const res = await get(serve(), '/text')
    assert.equal(Number(res.headers['content-length']), res.body.length)
    assert.equal((await get(serve(), '/stream')).headers['content-length'], undefined)
  })

  it('should weaken a strong ETag and take back Accept-Ranges', async () => {
    const app = serve({}, ctx => {
      ctx.etag = ctx.path === '/weak' ? 'W/"a"' : 'a'
      ctx.set('Accept-Ranges', 'bytes')
      ctx.body = LONG
    })
    const res = await get(app, '/')
    assert.deepEqual([res.headers.etag, res.headers['accept-ranges']], ['W/"a"', undefined])
    assert.equal((await get(app, '/weak')).headers.etag, 'W/"a"')
    const plain = await get(app, '/', 'identity')
    assert.deepEqual([plain.headers.etag, plain.headers['accept-ranges']], ['"a"', 'bytes'])
  })

  it('should tell 304 with the ETag that the client has', async () => {
    const own = ctx => {
      ctx.etag = 'a'
      ctx.body = LONG
      if (ctx.fresh) ctx.status = 304
    }
    for (const handle of [own, serveFiles(folder({ 'a.txt': LONG }))]) {
      const app = serve({}, handle)
      for (const accept of ['gzip', 'identity']) {
        const { headers: { etag } } = await get(app, '/a.txt', accept)
        for (const sent of [etag, `"x", ${etag}`]) {
          const res = await ask(app, 'GET /a.txt', { headers: { 'Accept-Encoding': accept, 'If-None-Match': sent } })
          assert.deepEqual([res.status, res.headers.etag], [304, etag], `${accept} ${sent}`)
        }
      }
    }
  })

  it('should never compress a part or an event stream, whatever is forced', async () => {
    for (const [status, type] of [[206, 'text/plain'], [200, 'text/event-stream'], [200, 'multipart/byteranges']]) {
      const app = serve({ threshold: 0, filter: () => true }, ctx => {
        ctx.compress = true
        ctx.status = status
        ctx.type = type
        ctx.body = LONG
      })
      assert.equal((await get(app, '/')).headers['content-encoding'], undefined, type)
    }
  })

  it('should announce to HEAD what GET has', async () => {
    const more = {
      '/tagged': ctx => {
        ctx.etag = 'strong'
        ctx.set('Accept-Ranges', 'bytes')
        ctx.body = LONG
      },
      '/known-stream': ctx => {
        ctx.type = 'text'
        ctx.length = LONG.length
        ctx.body = Readable.from([Buffer.from(LONG)])
      },
      // as of a file, which nobody opens for HEAD
      '/no-body': ctx => {
        ctx.status = 200
        ctx.type = 'text'
        ctx.length = LONG.length
        if (ctx.method === 'GET') ctx.body = Readable.from([Buffer.from(LONG)])
        ctx.length = LONG.length
      },
      '/blob': ctx => { ctx.body = new Blob([LONG], { type: 'text/plain' }) },
      '/web': ctx => {
        ctx.type = 'text'
        ctx.length = LONG.length
        ctx.body = new Blob([LONG]).stream()
        ctx.length = LONG.length
      }
    }
    if (Koa === require('koa')) ['/blob', '/web'].forEach(path => delete more[path]) // Koa 2 knows neither
    const { '/missing': missing, ...known } = BODIES // whose 404 is Koa's own, without a type for HEAD
    const handlers = { ...known, ...more }
    for (const [accept, threshold] of [['gzip', 1024], ['gzip', 0], ['br', 1024], ['identity', 1024]]) {
      const app = serve({ threshold }, ctx => handlers[ctx.path](ctx))
      for (const path of Object.keys(handlers)) {
        const options = { headers: { 'Accept-Encoding': accept } }
        const [get, head] = [await ask(app, `GET ${path}`, options), await ask(app, `HEAD ${path}`, options)]
        assert.equal(head.status, get.status, path)
        for (const field of ['content-encoding', 'content-type', 'etag', 'vary', 'accept-ranges']) {
          assert.equal(head.headers[field], get.headers[field], `${accept} ${path} ${field}`)
        }
        const { 'content-length': announced } = head.headers
        if (announced !== undefined) assert.equal(announced, get.headers['content-length'], `${accept} ${path}`)
        assert.equal(head.text, '')
      }
      const fixed = await ask(app, 'HEAD /text', { headers: { 'Accept-Encoding': accept } })
      assert.ok(fixed.headers['content-length'] > 0) // and is not left out where it is known
    }
  })

  it('should leave what is sent already alone', async () => {
    const app = serve({}, ctx => { ctx.respond = false; ctx.res.end(LONG) })
    assert.equal((await get(app, '/')).text, LONG)
  })

  it('should keep a Vary that is there', async () => {
    const app = serve({}, ctx => { ctx.set('Vary', 'Origin'); ctx.body = LONG })
    assert.equal((await get(app, '/')).headers.vary, 'Origin, Accept-Encoding')
  })

  it('should leave a body that cannot be JSON as it is without it', async () => {
    const app = serve({}, ctx => {
      const body = { text: LONG }
      body.body = body
      ctx.body = body
    })
    const before = errors.length
    assert.equal((await get(app, '/')).status, 500)
    assert.equal(errors.length, before + 1)
  })

  it('should fail the response alone to a stream of objects, which no encoder takes', async () => {
    for (const chunks of [[{ a: 1 }], [Buffer.from(LONG), 5]]) {
      const before = errors.length
      const source = Readable.from(chunks)
      const app = serve({}, ctx => { ctx.type = 'json'; ctx.body = source })
      get(app, '/').catch(() => {})
      await until(() => source.destroyed && errors.length > before)
      assert.equal(errors.at(-1).code, 'ERR_INVALID_ARG_TYPE')
    }
  })

  it('should take no promise, which would count as true', async () => {
    for (const name of ['filter', 'threshold', 'gzip']) {
      const before = errors.length
      const app = serve({ threshold: 0, [name]: async () => { throw new Error('nobody waits for it') } })
      assert.equal((await get(app, '/text')).status, 500)
      assert.match(errors[before].message, new RegExp(`^compress: options\\.${name} must not be async`))
    }
  })

  it('should fail the response to a stream that ends before its declared length', async () => {
    const lines = 'grüß dich, 世界\n'.repeat(100)
    const latin1 = 'grüß dich\n'.repeat(100)
    const base64 = Buffer.from(lines).toString('base64')
    for (const [text, make] of [
      ['', () => Readable.from([])],
      [LONG, () => Readable.from([Buffer.from(LONG)])],
      [`${LONG}ééé`, () => Readable.from([LONG, 'ééé'])],
      [lines, () => textOf(lines, 'utf8')],
      [lines, () => textOf(lines, 'utf16le')],
      [latin1, () => textOf(latin1, 'latin1')],
      [base64, () => textOf(base64, 'base64')]
    ]) {
      for (const missing of [0, 1, 5000]) {
        const app = serve({ threshold: 0 }, ctx => {
          ctx.type = 'text'
          ctx.body = make()
          ctx.length = Buffer.byteLength(text) + missing
        })
        const { status, sent } = await get(app, '/').then(res => ({ status: res.status, sent: decoded(res) }), err => ({ status: err.code }))
        if (missing === 0) assert.deepEqual([status, sent], [200, text])
        else assert.equal(status, Koa === require('koa3') ? 'ECONNRESET' : 500)
      }
    }
  })

  it('should fail with the error with which a stream that is too short destroys itself at its end, as that of static does', async () => {
    const app = serve({ threshold: 0 }, ctx => {
      const stream = Readable.from([Buffer.from(LONG)], { objectMode: false })
      stream.once('end', () => stream.destroy(new Error('it was cut')))
      ctx.type = 'text'
      ctx.body = stream
      ctx.length = LONG.length + 1
    })
    const before = errors.length
    await get(app, '/').catch(() => {})
    await until(() => errors.length > before)
    const messages = errors.slice(before).map(err => err.message)
    assert.deepEqual(name.startsWith('koa ') ? ['it was cut'] : messages, ['it was cut']) // Koa reports both
  })

  it('should fail the response to a stream of a declared length that somebody has read', async () => {
    const app = serve({ threshold: 0 }, async ctx => {
      const stream = new PassThrough()
      stream.end(LONG)
      await once(stream.resume(), 'end')
      ctx.type = 'text'
      ctx.body = stream
      ctx.length = LONG.length
    })
    const status = await get(app, '/').then(res => res.status, err => err.code)
    assert.equal(status, Koa === require('koa3') ? 'ECONNRESET' : 500)
  })

  it('should destroy a stream that the client abandons', async () => {
    const source = new PassThrough()
    const app = serve({}, ctx => { ctx.type = 'text'; ctx.body = source })
    const { port } = await listen(app)
    const req = http.get({ host: '127.0.0.1', port, headers: { 'Accept-Encoding': 'gzip' }, agent: false })
    req.on('error', () => {})
    const writing = setInterval(() => source.write(Buffer.from(String(Math.random()).repeat(5000))), 1)
    req.on('response', res => { res.on('error', () => {}); req.destroy() })
    await until(() => source.destroyed)
    clearInterval(writing)
  })

  it('should compress Blobs and web streams', { skip: Koa === require('koa') && 'Koa 2 knows neither' }, async () => {
    for (const make of [() => new Blob([LONG], { type: 'text/plain' }), () => new Blob([LONG]).stream()]) {
      const app = serve({}, ctx => { ctx.type = 'text'; ctx.body = make() })
      const res = await get(app, '/')
      assert.equal(res.headers['content-encoding'], 'gzip')
      assert.equal(decoded(res), LONG)
      assert.equal(decoded(await get(app, '/', 'identity')), LONG)
    }
  })

  it('should do the same as a final', { skip: !Koa.prototype.final && 'Koa has no app.final' }, async () => {
    const app = new Koa()
    app.final(compress.final({ threshold: '1kb', br: false }))
    app.use(handle)
    assert.equal((await get(app, '/text', 'br, gzip')).headers['content-encoding'], 'gzip')
    assert.equal((await get(app, '/short', 'gzip')).headers['content-encoding'], undefined)
  })
})

engines('compress around static', ({ engine, it, serve }) => {
  it('should send files whole, as koa-compress does', async () => {
    // of numbers, because what repeats itself is compressed to a few bytes
    const numbers = random(7)
    const words = Array.from({ length: 500_000 }, () => numbers.int(1e6)).join(' ')
    const files = Object.fromEntries([1, 70, 216, 3072].map(kib => [`${kib}.txt`, words.slice(0, kib * 1024)]))
    const root = folder(files)
    const fast = { gzip: { level: 1 }, deflate: { level: 1 }, br: { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } } }
    for (const make of engine === 'listen' ? [compress, original] : [compress]) {
      const { ask, close } = await serve(app => app.use(make(fast)).use(serveFiles(root)))
      for (const encoding of ['gzip', 'br', 'deflate']) {
        for (const [name, text] of Object.entries(files)) {
          if (name === '3072.txt' && !/^(?:listen|http1)$/.test(engine)) continue // orders.test.js has it on each
          const { status, headers, body } = await ask(`GET /${name}`, { headers: { 'Accept-Encoding': encoding } })
          assert.deepEqual([status, headers['content-encoding']], [200, encoding], name)
          assert(DECODE[encoding](body).equals(Buffer.from(text)), `${encoding} of ${name}`)
        }
      }
      await close()
    }
  })
})

describe('compress(options)', () => {
  it('should tell what it can do', () => {
    const { name, preferredEncodings, encodingOptions } = compress({ gzip: { level: 9 } })
    assert.equal(name, 'compress')
    assert.deepEqual(preferredEncodings.slice(-3), ['br', 'gzip', 'deflate'])
    assert.equal(preferredEncodings.includes('zstd'), typeof zlib.createZstdCompress === 'function')
    assert.deepEqual(encodingOptions.gzip, { level: 9 })
  })
})

/** A stream that setEncoding() has made text, of pieces that end within characters. */
function textOf (text, encoding) {
  const bytes = Buffer.from(text, encoding)
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, i) => bytes.subarray(7 * i, 7 * i + 7))
  return Readable.from(pieces, { objectMode: false }).setEncoding(encoding)
}
