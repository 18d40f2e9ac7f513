'use strict'

const assert = require('node:assert/strict')
const { randomBytes } = require('node:crypto')
const { once } = require('node:events')
const net = require('node:net')
const { Readable } = require('node:stream')
const { setImmediate } = require('node:timers/promises')
const zlib = require('node:zlib')
const { isHttpError } = require('http-errors')
const iconv = require('iconv-lite')
const { bodyParser: scoped } = require('@koa/bodyparser')
const bodyParser = require('kone/middleware/bodyParser')
const frameworks = require('../helpers/frameworks')
const until = require('../helpers/until')

const JSON_TYPE = { 'content-type': 'application/json' }
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }
const TEXT_TYPE = { 'content-type': 'text/plain' }
const typed = type => ({ 'content-type': type })
const encoded = (encoding, type = JSON_TYPE) => ({ ...type, 'content-encoding': encoding })

const ALL = { enableTypes: ['json', 'form', 'text'] }
const CODINGS = { gzip: zlib.gzipSync, 'x-gzip': zlib.gzipSync, deflate: zlib.deflateSync, br: zlib.brotliCompressSync }
if (zlib.zstdCompressSync) CODINGS.zstd = zlib.zstdCompressSync
const ZIPPED = zlib.gzipSync('{"a":1}')
const BOMB = zlib.gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 })
const REPEATED = JSON.stringify({ a: 'x'.repeat(2000) })
const MANY = Array.from({ length: 1001 }, (_, i) => `k${i}`)

/** A body whose pieces come one by one, and cut a character. */
const inPieces = () => Readable.from((async function * () {
  for (const piece of ['{"a":', '"', Buffer.from('ü').subarray(0, 1), Buffer.from('ü').subarray(1), '"}']) {
    await setImmediate()
    yield Buffer.from(piece)
  }
})())

/**
 * A row: a title, the options, and requests: [header fields, body, what the handler finds in ctx.request.body, or the status
 * of the refusal, and `close` where the connection must be closed; and ctx.request.rawBody, where it matters].
 */
const rows = () => [
  ['should read bodies that come in pieces, with and without a length', {}, [
    [JSON_TYPE, inPieces(), { a: 'ü' }], [{ ...JSON_TYPE, 'content-length': 10 }, inPieces(), { a: 'ü' }]
  ]],
  ['should decompress gzip, deflate, br and zstd', {}, [
    ...Object.entries(CODINGS).map(([name, compress]) => [encoded(name), compress(REPEATED), JSON.parse(REPEATED), REPEATED]),
    [encoded('identity'), REPEATED, JSON.parse(REPEATED), REPEATED]
  ]],
  ['should respond with 400 to a corrupt or truncated compressed body', {}, [
    [encoded('gzip'), 'no gzip', 400], [encoded('gzip'), ZIPPED.subarray(0, -4), 400],
    [encoded('deflate'), ZIPPED.subarray(0, 12), 400], [encoded('br'), ZIPPED, 400],
    [encoded('gzip'), Buffer.concat([ZIPPED.subarray(0, 12), Buffer.alloc(20)]), 400]
  ]],
  ['should respond with 415 to an encoding, a charset or a type it cannot read', ALL, [
    ...['lzma', 'gzip, br', 'constructor'].map(name => encoded(name)),
    ...['x-nonsense', 'hex', 'base-64', 'utf-7', 'UTF7', 'utf_7', 'unicode-1-1-utf-7', 'utf-7-imap', 'utf-8; =']
      .map(charset => typed(`application/json; charset=${charset}`)),
    ...['text/plain; charset=__proto__', 'application/json, text/plain', 'application/json/x', 'json', '/', ';'].map(typed)
  ].map(headers => [headers, '{"a":1}', 415])],
  ['should read other charsets', ALL, [
    [typed('application/json; charset=utf-16le'), iconv.encode('{"a":"ü"}', 'utf-16le'), { a: 'ü' }],
    [typed('text/plain; charset="iso-8859-1"'), Buffer.from('ü', 'latin1'), 'ü'],
    [typed('application/x-www-form-urlencoded; charset=gbk'), 'a=%C4%E3+%BA%C3&b=%81A',
      { a: '你 好', b: iconv.decode(Buffer.from([0x81, 0x41]), 'gbk') }],
    [JSON_TYPE, '\ufeff{"a":1}', { a: 1 }, '{"a":1}']
  ]],
  ['should respond with 413', { jsonLimit: '1kb', formLimit: 100, textLimit: 100, ...ALL }, [
    [JSON_TYPE, REPEATED, 413], [JSON_TYPE, Readable.from([Buffer.from(REPEATED)]), 413],
    [encoded('gzip'), zlib.gzipSync(REPEATED), 413], [encoded('br'), zlib.brotliCompressSync(REPEATED), 413],
    [encoded('gzip'), zlib.gzipSync(randomBytes(5000)), 413], [FORM_TYPE, 'a=' + 'x'.repeat(100), 413],
    [TEXT_TYPE, 'x'.repeat(101), 413], [TEXT_TYPE, 'x'.repeat(100), 'x'.repeat(100)]
  ]],
  ['should take a limit of 0 as 0', { jsonLimit: 0, formLimit: '0', textLimit: '0kb', ...ALL }, [
    ...[JSON_TYPE, FORM_TYPE, TEXT_TYPE].flatMap(type => [[type, '1', 413], [encoded('gzip', type), zlib.gzipSync('1'), 413]]),
    [JSON_TYPE, '', {}], [encoded('gzip'), zlib.gzipSync(''), {}]
  ]],
  // of Node 20: 4 GB
  ['should take a limit that is larger than any Buffer', { jsonLimit: '5gb' }, [
    [encoded('gzip'), ZIPPED, { a: 1 }], [encoded('gzip'), ZIPPED, { a: 1 }]
  ]],
  ['should inflate no more of a zip bomb than its limit', {}, [[encoded('gzip'), BOMB, 413]]],
  ['should refuse keys that reach a prototype', {}, [
    ...[
      '{"__proto__":{"x":1}}', '{"a":[{"__proto__":1}]}', '{"\\u005f_proto__":{"x":1}}', '{"__pr\\u006fto__":1}',
      '{"constructor":{"prototype":{"x":1}}}', '{"c\\u006fnstructor":{"prototype":{}}}'
    ].map(body => [JSON_TYPE, body, 400]),
    ...['{"constructor":"Ferrari"}', '{"a":"__proto__"}', '{"prototype":1}'].map(body => [JSON_TYPE, body, JSON.parse(body)]),
    [FORM_TYPE, '__proto__[x]=1&a[__proto__][x]=1&b=1', { b: '1' }]
  ]],
  ['should remove these keys, if an option says so', { onProtoPoisoning: 'remove' }, [[JSON_TYPE, '{"a":1,"__proto__":{"x":1}}', { a: 1 }]]],
  ['should refuse a form with too many or too deep keys, none is dropped', {}, [
    [FORM_TYPE, MANY.map(key => `${key}=`).join('&'), 413], [FORM_TYPE, 'a[b][c][d][e][f][g]=1', 400]
  ]],
  ['should have as many keys as queryString says', { queryString: { parameterLimit: 2000 } }, [
    [FORM_TYPE, MANY.map(key => `${key}=`).join('&'), Object.fromEntries(MANY.map(key => [key, '']))]
  ]],
  ['should call onerror instead of throwing, and go on', {
    onerror: async (err, ctx) => { ctx.request.body = await { failed: err.status, text: err.body } }
  }, [[JSON_TYPE, '{', { failed: 400, text: '{' }]]],
  ['should respond with what onerror throws', { onerror: (cause, ctx) => ctx.throw(422, 'body parse error', { cause }) }, [
    [JSON_TYPE, '{', 422]
  ]],
  ['should take extendTypes', { extendTypes: { json: ['application/x-js', '+json'], form: 'application/x-form' } }, [
    [typed('application/x-js'), '{"a":1}', { a: 1 }], [typed('application/vnd.x+json'), '{"a":1}', { a: 1 }],
    [typed('application/x-form'), 'a=1', { a: '1' }]
  ]],
  ['should take encoding', { encoding: 'latin1', enableTypes: ['text'] }, [[TEXT_TYPE, Buffer.from([0xfc]), 'ü']]],
  ['should take qs', { qs: require('qs'), queryString: { comma: true } }, [[FORM_TYPE, 'a=1,2', { a: ['1', '2'] }]]]
]

frameworks('bodyParser', ({ it, Koa, ask, listen }) => {
  const echo = options => {
    const app = new Koa().use(bodyParser(options)).use(ctx => {
      app.reached++
      const { body, rawBody } = ctx.request
      ctx.body = { body, rawBody: rawBody === undefined ? null : rawBody }
    })
    return Object.assign(app, { reached: 0 })
  }
  const post = (app, headers, body) => ask(app, 'POST /', { headers, body })

  for (const [title, options, requests] of rows()) {
    it(title, async () => {
      const app = echo(options)
      const found = []
      let passed = 0
      for (const [headers, body, , raw] of requests) {
        const res = await post(app, headers, body)
        if (res.status === 200) passed++
        const shown = res.status === 200 ? res.json().body : res.status
        found.push([headers, body, shown, ...raw === undefined ? [] : [res.json().rawBody]])
      }
      assert.deepEqual(found, requests)
      assert.equal(app.reached, passed, 'the handler runs for what is not refused')
      assert.ok(!('x' in {}))
    })
  }

  it('should give {} where there is no body', async () => {
    const app = echo()
    assert.deepEqual((await ask(app, 'GET /')).json(), { body: {}, rawBody: null })
    assert.deepEqual((await ask(app, 'GET /', { headers: FORM_TYPE })).json(), { body: {}, rawBody: null })
    assert.deepEqual((await ask(app, 'GET /', { headers: { 'content-type': 'bogus' } })).json().body, {})
  })

  it('should refuse what cannot be parsed by an error of http-errors, which says why', async () => {
    for (const [type, body] of [
      ['application/json', '{'], ['application/json', '1'], ['application/json', '{"__proto__":1}'],
      ['application/x-www-form-urlencoded', 'a[b][c][d][e][f][g]=1']
    ]) {
      let refusal
      const app = [(ctx, next) => next().catch(err => { refusal = err; throw err }), bodyParser()]
      const res = await ask(app, 'POST /', { headers: { 'content-type': type }, body })
      assert.equal(isHttpError(refusal), true, body)
      assert.deepEqual([res.status, res.text], [400, refusal.message])
      assert.equal(refusal.body, body)
    }
    const qs = { parse () { throw new Error('no') } }
    const app = [bodyParser({ qs })]
    const res = await ask(app, 'POST /', { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=1' })
    assert.deepEqual([res.status, res.text], [400, 'no'])
  })

  it('should refuse the rest of a body whose first bytes another reader has taken', async () => {
    const body = JSON.stringify([' '.repeat(300_000), 'end'])
    const take = { pause: req => { req.once('data', () => req.pause()) }, flow: req => { req.on('data', () => {}) } }
    for (const isPutBack of [false, true]) {
      const seen = []
      const read = async ({ req }, next) => {
        take[isPutBack ? 'pause' : req.headers['x-take']](req)
        const [first] = await once(req, 'data')
        if (isPutBack) req.unshift(first)
        return next().catch(err => { seen.push(err.status); throw err })
      }
      const app = [read, bodyParser({ jsonLimit: '1mb' }), ctx => { ctx.body = String(ctx.request.body[1]) }]
      for (const name of Object.keys(take)) {
        const res = await ask(app, 'POST /', { headers: { ...JSON_TYPE, 'x-take': name }, body })
        assert.deepEqual([res.status, res.text], isPutBack ? [200, 'end'] : [500, 'Internal Server Error'], name)
      }
      assert.deepEqual(seen, isPutBack ? [] : [500, 500])
    }
  })

  it('should leave a type that is not enabled unread for the next middleware', async () => {
    const app = new Koa().use(bodyParser()).use(async ctx => {
      const chunks = []
      for await (const chunk of ctx.req) chunks.push(chunk)
      ctx.body = `${JSON.stringify(ctx.request.body)} ${Buffer.concat(chunks)}`
    })
    for (const type of ['multipart/form-data; boundary=a/b?c', 'application/xml', 'application/octet-stream']) {
      assert.equal((await post(app, { 'content-type': type }, 'bytes')).text, '{} bytes', type)
    }
  })

  it('should take the options of @koa/bodyparser 6', async () => {
    const options = {
      onError: (err, ctx) => ctx.throw(422, `not ${err.body}`),
      parsedMethods: ['POST'],
      jsonStrict: false,
      patchNode: false,
      enableRawChecking: false
    }
    const answers = []
    for (const make of [scoped, bodyParser]) {
      const app = [make(options), ctx => { ctx.body = JSON.stringify([ctx.request.body]) }]
      for (const [method, body] of [['POST', '{"a":1}'], ['POST', '7'], ['POST', '{'], ['PUT', '{"a":1}'], ['GET', '']]) {
        const res = await ask(app, `${method} /`, { headers: JSON_TYPE, body })
        answers.push([method, body, res.status, res.text])
      }
    }
    assert.deepEqual(answers.slice(5), answers.slice(0, 5))
    assert.deepEqual(answers.map(([, , status]) => status).slice(0, 5), [200, 200, 422, 200, 200])
  })

  it('should respond with 413 to a declared length without waiting for the body', async () => {
    const { port } = await listen(echo())
    const socket = net.connect(port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n{')
    let text = ''
    for await (const chunk of socket.setEncoding('latin1')) if (/\r\n\r\n/.test(text += chunk)) break
    assert.match(text, /^HTTP\/1\.1 413 /)
  })

  it('should parse as JSON what detectJSON accepts, whatever its type', async () => {
    const app = echo({ detectJSON: ctx => /\.json$/.test(ctx.path) })
    assert.deepEqual((await ask(app, 'POST /a.json', { body: '{"a":1}' })).json().body, { a: 1 })
    assert.deepEqual((await ask(app, 'POST /a', { body: '{"a":1}' })).json().body, {})
    assert.equal((await ask(echo({ detectJSON: async () => false }), 'POST /a', { body: '{"a":1}' })).status, 500)
  })

  it('should parse once and only unless an option says otherwise', async () => {
    const app = [(ctx, next) => {
      if (ctx.path === '/off') ctx.disableBodyParser = true
      if (ctx.path === '/done') ctx.request.body = 'done'
      if (ctx.path === '/raw') ctx.request.rawBody = 'kept'
      return next()
    }, bodyParser(), bodyParser(), ctx => { ctx.body = { body: ctx.request.body, raw: ctx.request.rawBody } }]
    const at = async path => (await ask(app, `POST ${path}`, { headers: JSON_TYPE, body: '[1]' })).json()
    assert.deepEqual(await at('/off'), {})
    assert.deepEqual(await at('/done'), { body: 'done' })
    assert.deepEqual(await at('/raw'), { body: [1], raw: 'kept' })
    assert.deepEqual(await at('/'), { body: [1], raw: '[1]' })
  })

  it('should not show the body of a refused request to the client', async () => {
    const res = await post(echo(), JSON_TYPE, '<script>alert(1)</script>')
    assert.ok(!res.text.includes('script'))
  })

  it('should send a 400 to nobody when the client goes away, and serve the next one', async () => {
    const app = new Koa()
    const seen = []
    const heard = []
    app.on('error', err => { if (err.status) heard.push(err.status) }) // Koa tells of the reset socket, too
    app.use((ctx, next) => { seen.push('began'); return next() })
    app.use(bodyParser())
    app.use(ctx => { ctx.body = seen.push('reached') && ctx.request.body })
    const { port } = await listen(app)
    const socket = net.connect(port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a"')
    await until(() => seen.length > 0)
    socket.destroy()
    await until(() => heard.length > 0)
    assert.deepEqual((await post(app, JSON_TYPE, '{}')).json(), {})
    assert.deepEqual([seen, heard], [['began', 'began', 'reached'], [400]])
  })
})
