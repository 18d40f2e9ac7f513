'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const { after, before } = require('node:test')
const zlib = require('node:zlib')
const { PassThrough, Readable } = require('node:stream')
const web = require('node:stream/web')
const statuses = require('statuses')

const engines = require('../helpers/engines')

const NONE = { 'content-type': undefined, 'content-length': undefined, 'transfer-encoding': undefined }
const TEXT = 'text/plain; charset=utf-8'

const failing = () => fs.createReadStream('/does/not/exist')
const readable = (...chunks) => web.ReadableStream.from(chunks.map(chunk => Buffer.from(chunk)))
const body = (make, after) => ctx => {
  ctx.body = typeof make === 'function' ? make() : make
  after?.(ctx)
}

/** Chunks without an end. */
function * endless () {
  yield 'text'
  for (;;) yield 'more'
}

/** Two chunks, each in a turn of its own. */
const slow = () => Readable.from((async function * () {
  for (const chunk of ['one', 'two']) {
    await tick()
    yield Buffer.from(chunk)
    for (let i = 0; i < 5; i++) await tick()
  }
})())

const tick = () => new Promise(resolve => setImmediate(resolve))

/** What was written so far has left this process. */
async function sent (ctx) {
  do await tick()
  while (!ctx.headerSent || ctx.socket.writableLength > 0)
}

const ENCODE = {
  gzip: zlib.gzipSync,
  'x-gzip': zlib.gzipSync,
  deflate: zlib.deflateSync,
  br: zlib.brotliCompressSync,
  'gzip, BR': bytes => zlib.brotliCompressSync(zlib.gzipSync(bytes)),
  ...(parseInt(process.versions.undici) > 6 && { zstd: zlib.zstdCompressSync }),
  other: bytes => bytes // fetch() does not know it
}

/** Sends 'hello' with an encoding: `/gzip`. */
const upstream = http.createServer(({ method, url }, res) => {
  const encoding = decodeURIComponent(url.slice(1))
  const bytes = ENCODE[encoding](Buffer.from('hello'))
  res.writeHead(200, { 'Content-Encoding': encoding, 'Content-Length': bytes.length, Upgrade: 'h2c' }) // Apache sends it
  res.end(method === 'HEAD' ? '' : bytes)
})
before(() => once(upstream.listen(0), 'listening'))
after(() => {
  upstream.close()
  upstream.closeAllConnections()
})

const fetched = encoding => async ctx => {
  const { port } = upstream.address()
  ctx.body = await fetch(`http://127.0.0.1:${port}/${encodeURIComponent(encoding)}`, { method: ctx.method })
}

/**
 * What Koa 2 does not send; test/compat/apps.js has what it does. Title, what the middleware does, what arrives, and
 * options: those of `it`, and `method`. `errors` are the messages or codes of the errors that the app reports, none
 * unless they are listed.
 */
const TABLE = [
  ['a status without a reason phrase', ctx => { ctx.status = 420 }, { status: 420, text: '420' }],
  ['500 for a body that has no JSON', body(Symbol('a')), { status: 500, errors: ['a body of type symbol has no JSON'] }],

  // ---- null

  ...[200, 401, 404, 500].map(status => [`an empty ${status} for an explicit null`, body(null, ctx => { ctx.status = status }),
    { status, text: '', headers: { ...NONE, 'content-length': '0' } }]),
  ['an explicit null without the type, the length and the encoding that were set', body(null, ctx => {
    ctx.status = 401
    ctx.length = 10
    ctx.type = 'json'
    if (ctx.req.httpVersionMajor === 1) ctx.set('Transfer-Encoding', 'chunked')
  }), { status: 401, text: '', complete: true, headers: { ...NONE, 'content-length': '0' } }],

  // ---- streams that fail

  ['204 although its stream fails', ctx => {
    ctx.status = 204
    ctx.body = failing()
  }, { status: 204 }],
  ['404 when streams that replace each other fail', ctx => {
    for (let i = 0; i < 3; i++) ctx.body = failing()
  }, { status: 404, errors: ['ENOENT'] }],
  ['a stream, whatever happens to the one that it replaced', ctx => {
    const replaced = ctx.body = new PassThrough()
    ctx.body = new PassThrough().end('good')
    replaced.destroy(new Error('bad'))
    return tick()
  }, { status: 200, text: 'good' }],
  ...[() => new PassThrough().destroy(), () => new PassThrough().destroy(new Error('gone')).on('error', () => {})].map((make, i) => [
    `500 for a stream that was gone${['', ' by an error'][i]} before it was set`, async ctx => {
      const stream = make()
      await tick()
      ctx.body = stream
    }, { status: 500, errors: [['ERR_STREAM_PREMATURE_CLOSE', 'gone'][i]] }]),
  ['500 for a stream that closes before its end', ctx => {
    const stream = ctx.body = new PassThrough()
    setImmediate(() => stream.destroy())
  }, { status: 500, errors: ['ERR_STREAM_PREMATURE_CLOSE'] }],
  ['500 for a stream whose first chunk is an object', body(() => Readable.from([{}, 'text'])),
    { status: 500, text: 'Internal Server Error', errors: ['ERR_INVALID_ARG_TYPE'] }, { skip: { http2: 'sends the headers before it looks' } }],
  ['a response without an end for a stream that fails in the middle', ctx => {
    const stream = ctx.body = new PassThrough()
    stream.write('half')
    sent(ctx).then(() => stream.destroy(new Error('disk on fire')))
  }, { status: 200, complete: false, errors: ['disk on fire'] }, { skip: { inject: 'has no connection to cut' } }],
  ['a response without an end for a stream whose later chunk is an object', ctx => {
    ctx.body = Readable.from((async function * () {
      yield 'text'
      await sent(ctx)
      yield {}
    })())
  }, { status: 200, complete: false, errors: ['ERR_INVALID_ARG_TYPE'] }, { skip: { inject: 'has no connection to cut' } }],
  ['a response without an end for a stream that ends before its Content-Length', ctx => {
    ctx.body = Readable.from((async function * () {
      yield 'te'
      await sent(ctx)
    })())
    ctx.length = 4
  }, { status: 200, complete: false, errors: ['ERR_STREAM_PREMATURE_CLOSE'] }, { skip: { inject: 'has no connection to cut' } }],
  ['500 for an empty stream with a Content-Length', ctx => {
    ctx.body = Readable.from([])
    ctx.length = 4
  }, { status: 500, errors: ['ERR_STREAM_PREMATURE_CLOSE'] }],
  ...[['te', 'xt and more', 'more'], [Buffer.from('text'), 'more'], ['text and more'], null].map((chunks, i) => [
    `nothing of a stream that is beyond its Content-Length, ${i}`, ctx => {
      ctx.body = Readable.from(chunks ?? endless())
      ctx.length = 4
    }, { status: 200, text: 'text', headers: { 'content-length': '4' }, errors: ['KONE_ERR_BODY_LENGTH'] }]),

  // ---- lengths that lie

  ...[['a text', 'text'], ['bytes', Buffer.from('text')], ['JSON', ['a']], ['a Blob', new Blob(['text'])]].flatMap(([what, value]) => {
    const size = what === 'JSON' ? '5' : '4'
    return [['99'], ['1'], ['3', '4'], 'x'].map(length => [`the length of ${what}, not ${length}`, ctx => {
      ctx.set('Transfer-Encoding', 'chunked')
      ctx.body = value
      ctx.set('Content-Length', length)
    }, { status: 200, complete: true, headers: { 'content-length': size, 'transfer-encoding': undefined } }])
  }),
  ['the length of a text also for HEAD', ctx => { ctx.body = 'text'; ctx.length = 3 }, { headers: { 'content-length': '4' } }, { method: 'HEAD' }],
  ...['', Buffer.alloc(0)].map(empty => [`a length that is set behind an empty ${typeof empty === 'string' ? 'text' : 'Buffer'} for HEAD`, ctx => {
    ctx.body = empty
    ctx.set('Content-Length', '99')
  }, { headers: { 'content-length': '99' } }, { method: 'HEAD' }]),
  ['the length of an empty text for HEAD', ctx => { ctx.body = '' }, { headers: { 'content-length': '0' } }, { method: 'HEAD' }],
  ['a declared length for HEAD without a body', ctx => { ctx.status = 200; ctx.length = 99 }, { headers: { 'content-length': '99' } }, { method: 'HEAD' }],
  ['one length of a stream', ctx => {
    ctx.body = Readable.from(['te', 'xt'])
    ctx.set({ 'Content-Length': '4', 'Transfer-Encoding': 'gzip, chunked' })
  }, { text: 'text', complete: true, headers: { 'content-length': '4', 'transfer-encoding': undefined } }],
  ...[['3', '4'], NaN, -1].map(length => [`no such length of a stream: ${length}`, ctx => {
    ctx.body = Readable.from(['te', 'xt'])
    ctx.set('Content-Length', length)
  }, { text: 'text', complete: true, headers: { 'content-length': undefined } }]),
  ['a text up to the length that was flushed', ctx => {
    ctx.length = 2
    ctx.flushHeaders()
    ctx.body = 'text'
  }, { text: 'te', complete: true, errors: ['KONE_ERR_BODY_LENGTH'] }],
  ['a part of a text that is shorter than the length that was flushed', ctx => {
    ctx.length = 9
    ctx.flushHeaders()
    ctx.body = 'text'
  }, { complete: false, errors: ['ERR_STREAM_PREMATURE_CLOSE'] }, { skip: { inject: 'rejects' } }],

  // ---- a body that is set while another one is sent

  ...[
    ['a string', () => 'other'], ['null', () => null], ['an object', () => ({})], ['a stream', () => Readable.from(['other'])],
    ['a stream that fails', failing], ['a Response', () => new Response('other', { status: 203 })], ['a ReadableStream', () => readable('other')]
  ].flatMap(([what, make]) => [
    ['a stream', () => slow(), 'before its first chunk'],
    ['a stream', () => slow(), 'behind its first chunk'],
    ['a ReadableStream', () => Readable.toWeb(slow()), 'behind its first chunk'],
    ['a Response', () => new Response(Readable.toWeb(slow())), 'behind its first chunk'],
    ['a Blob', () => new Blob(['one', 'two']), 'before its first chunk']
  ].map(([kind, begin, when]) => [`${kind} to its end, although ${what} is set ${when}`, ctx => {
    ctx.body = begin()
    const late = when.startsWith('behind') ? sent(ctx) : Promise.resolve().then(() => {}).then(() => {})
    late.then(() => { ctx.body = make() })
  }, what === 'null' && when.startsWith('before') ? { status: 204, text: '' } : { status: 200, text: 'onetwo', complete: true }])),

  ['the trailers of a stream', ctx => {
    ctx.set('Trailer', 'X-Sum')
    ctx.body = new PassThrough().end('text')
  }, { status: 200, text: 'text', headers: { trailer: 'X-Sum' } }, { skip: { fetch: 'a web Response has no trailers' } }],

  // ---- bodies of the web

  ...['GET', 'HEAD'].map(method => [`a Blob with its length for ${method}`, body(() => new Blob(['hel', 'lo'], { type: 'text/css' })), {
    status: 200,
    text: method === 'HEAD' ? '' : 'hello',
    headers: { 'content-length': '5', 'content-type': 'text/css; charset=utf-8' }
  }, { method }]),
  ...[() => readable('hel', 'lo'), () => web.ReadableStream.from(['hel', 'lo'])].map((make, i) => [
    `a ReadableStream of ${i === 0 ? 'bytes' : 'text'}`, body(make, ctx => { ctx.type = 'text' }),
    { status: 200, text: 'hello', headers: { 'content-type': TEXT } }]),
  ['500 for a ReadableStream that fails before its first byte',
    body(() => new ReadableStream({ pull (controller) { controller.error(new Error('boom')) } })), { status: 500, errors: ['boom'] }],
  ['a Response', body(() => new Response('hello', { status: 203, headers: { 'content-type': 'text/css', 'x-a': 'b' } })),
    { status: 203, text: 'hello', headers: { 'content-type': 'text/css', 'x-a': 'b' } }],
  ['a Response of JSON', body(() => Response.json({ a: 1 })), { text: '{"a":1}', headers: { 'content-type': 'application/json' } }],
  ['a Response without a body', body(() => new Response(null, { headers: { 'x-a': 'b' } })), { status: 200, text: '', headers: { 'x-a': 'b' } }],
  ['a Response of 204', body(() => new Response(null, { status: 204 })), { status: 204, text: '' }],
  ['the length of a Response', body(() => new Response('hello', { headers: { 'content-length': '5' } })),
    { text: 'hello', headers: { 'content-length': '5' } }],
  ...['GET', 'HEAD'].map(method => [`the length that was set before a Response for ${method}`, ctx => {
    ctx.length = 5
    ctx.body = new Response('hello')
  }, { text: method === 'HEAD' ? '' : 'hello', headers: { 'content-length': '5' } }, { method }]),
  ['a Response in place of a longer body', body('a longer string', ctx => { ctx.body = new Response('hello') }), { text: 'hello' }],
  ...Object.keys(ENCODE).map(encoding => [`the decoded body of a fetched Response, ${encoding}`, fetched(encoding), {
    text: 'hello',
    headers: encoding === 'other'
      ? { 'content-encoding': encoding, 'content-length': '5' }
      : { 'content-encoding': undefined, 'content-length': undefined, upgrade: undefined }
  }]),
  ['the encoding of a fetched Response without a body', fetched('gzip'),
    { text: '', headers: { 'content-encoding': 'gzip', 'content-length': String(ENCODE.gzip('hello').length) } }, { method: 'HEAD' }],
  ['the encoding of a Response of the app', body(() => new Response(ENCODE.gzip('hello'), { headers: { 'content-encoding': 'gzip' } })),
    { headers: { 'content-encoding': 'gzip' } }],

  ['nothing of the app when ctx.writable is false', ctx => {
    const end = ctx.res.end.bind(ctx.res)
    ctx.status = 200
    Object.defineProperty(ctx.response, 'writable', { value: false })
    setImmediate(() => end('by hand'))
    ctx.body = 'not sent'
    ctx.remove('Content-Length')
  }, { text: 'by hand' }, { skip: { http2: 'asks its stream' } }],

]

engines('a response', ({ it, ask, see, engine }) => {
  for (const [title, act, expected, { method = 'GET', ...options } = {}] of TABLE) {
    it(`should carry ${title}`, options, async t => {
      statuses[420] = '' // apps add codes of their own
      t.after(() => { delete statuses[420] })
      const reported = []
      const res = await ask(app => {
        app.on('error', err => reported.push(err))
        app.use(ctx => act(ctx))
      }, `${method} /`)

      const { errors = [], headers = {}, text, ...rest } = expected
      for (const [name, value] of Object.entries(rest)) assert.deepEqual(res[name], value)
      assert.notEqual(res.headers.connection, engine.startsWith('inject') ? undefined : 'close')
      for (const [name, value] of Object.entries(headers)) assert.deepEqual(res.headers[name], value)
      if (text !== undefined) assert.equal(res.text, text)
      assert.deepEqual(reported.map((err, i) => err.code === errors[i] ? err.code : err.message), errors)
      if (rest.complete === false) assert.equal(reported[0].headerSent, true)
    })
  }

  it('should carry a body that is set one microtask later before the finals run', async () => {
    const res = await ask(app => {
      app.use((ctx, next) => { next() })
      app.use(ctx => { Promise.resolve().then(() => { ctx.body = 'late' }) })
      app.final(ctx => { ctx.body += ', final' })
    }, 'GET /')
    assert.equal(res.text, 'late, final')
  })
})
