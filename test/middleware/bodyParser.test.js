'use strict'

const assert = require('node:assert/strict')
const zlib = require('node:zlib')
const { isHttpError } = require('http-errors')
const iconv = require('iconv-lite')
const { bodyParser: scoped } = require('@koa/bodyparser')
const bodyParser = require('kone/middleware/bodyParser')
const frameworks = require('../helpers/frameworks')
const until = require('../helpers/until')

const JSON_TYPE = { 'content-type': 'application/json' }
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }

frameworks('bodyParser', ({ it, Koa, ask, listen }) => {
  const echo = (options) => {
    const app = new Koa()
    app.reached = 0
    app.use(bodyParser(options))
    app.use(ctx => {
      app.reached++
      const { body, rawBody } = ctx.request
      ctx.body = { body, rawBody: rawBody === undefined ? null : rawBody }
    })
    return app
  }
  const post = (app, headers, body) => ask(app, 'POST /', { headers, body })

  it('should give {} where there is no body', async () => {
    const app = echo()
    assert.deepEqual((await ask(app, 'GET /')).json(), { body: {}, rawBody: null })
    assert.deepEqual((await ask(app, 'GET /', { headers: FORM_TYPE })).json(), { body: {}, rawBody: null })
    assert.deepEqual((await ask(app, 'GET /', { headers: { 'content-type': 'bogus' } })).json().body, {})
  })

  it('should read bodies that come in pieces, with and without a length', async () => {
    const { Readable } = require('node:stream')
    const app = echo()
    const pieces = async function * () {
      for (const piece of ['{"a":', '"', Buffer.from('ü').subarray(0, 1), Buffer.from('ü').subarray(1), '"}']) {
        await new Promise(resolve => setImmediate(resolve))
        yield Buffer.from(piece)
      }
    }
    const headers = [JSON_TYPE, { ...JSON_TYPE, 'content-length': 10 }]
    for (const one of headers) assert.deepEqual((await post(app, one, Readable.from(pieces()))).json().body, { a: 'ü' })
  })

  it('should decompress gzip, deflate, br and zstd', async () => {
    const app = echo()
    const text = JSON.stringify({ a: 'x'.repeat(2000) })
    const encodings = { gzip: zlib.gzipSync, 'x-gzip': zlib.gzipSync, deflate: zlib.deflateSync, br: zlib.brotliCompressSync }
    if (zlib.zstdCompressSync) encodings.zstd = zlib.zstdCompressSync
    for (const [encoding, compress] of Object.entries(encodings)) {
      const res = await post(app, { ...JSON_TYPE, 'content-encoding': encoding }, compress(text))
      assert.equal(res.json().rawBody, text, encoding)
    }
    assert.equal((await post(app, { ...JSON_TYPE, 'content-encoding': 'identity' }, text)).json().rawBody, text)
  })

  it('should respond with 400 to a corrupt or truncated compressed body', async () => {
    const app = echo()
    const whole = zlib.gzipSync('{"a":1}')
    for (const [encoding, body] of [
      ['gzip', 'no gzip'], ['gzip', whole.subarray(0, -4)], ['deflate', whole.subarray(0, 12)], ['br', whole],
      ['gzip', Buffer.concat([whole.subarray(0, 12), Buffer.alloc(20)])]
    ]) {
      const res = await post(app, { ...JSON_TYPE, 'content-encoding': encoding }, body)
      assert.equal(res.status, 400, `${encoding} ${body.length}`)
    }
    assert.equal(app.reached, 0)
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

  it('should respond with 415 to an encoding, a charset or a type it cannot read', async () => {
    const app = echo({ enableTypes: ['json', 'form', 'text'] })
    for (const headers of [
      { ...JSON_TYPE, 'content-encoding': 'lzma' },
      { ...JSON_TYPE, 'content-encoding': 'gzip, br' },
      { ...JSON_TYPE, 'content-encoding': 'constructor' },
      { 'content-type': 'application/json; charset=x-nonsense' },
      { 'content-type': 'application/json; charset=hex' },
      ...['base-64', 'utf-7', 'UTF7', 'utf_7', 'unicode-1-1-utf-7', 'utf-7-imap'].map(charset => {
        return { 'content-type': `application/json; charset=${charset}` }
      }),
      { 'content-type': 'text/plain; charset=__proto__' },
      { 'content-type': 'application/json, text/plain' },
      { 'content-type': 'application/json; charset=utf-8; =' },
      { 'content-type': 'application/json/x' },
      { 'content-type': 'json' },
      { 'content-type': '/' },
      { 'content-type': ';' }
    ]) assert.equal((await post(app, headers, '{"a":1}')).status, 415, JSON.stringify(headers))
    assert.equal(app.reached, 0)
  })

  it('should read other charsets', async () => {
    const app = echo({ enableTypes: ['json', 'form', 'text'] })
    const json = await post(app, { 'content-type': 'application/json; charset=utf-16le' }, iconv.encode('{"a":"ü"}', 'utf-16le'))
    assert.deepEqual(json.json().body, { a: 'ü' })
    const text = await post(app, { 'content-type': 'text/plain; charset="iso-8859-1"' }, Buffer.from('ü', 'latin1'))
    assert.equal(text.json().body, 'ü')
    const form = await post(app, { 'content-type': 'application/x-www-form-urlencoded; charset=gbk' }, 'a=%C4%E3+%BA%C3&b=%81A')
    assert.deepEqual(form.json().body, { a: '你 好', b: iconv.decode(Buffer.from([0x81, 0x41]), 'gbk') })
    const bom = await post(app, JSON_TYPE, '\ufeff{"a":1}')
    assert.deepEqual(bom.json(), { body: { a: 1 }, rawBody: '{"a":1}' })
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

  it('should respond with 413 and close, before the handler runs', async () => {
    const app = echo({ jsonLimit: '1kb', formLimit: 100, textLimit: 100, enableTypes: ['json', 'form', 'text'] })
    const { Readable } = require('node:stream')
    const long = JSON.stringify({ a: 'x'.repeat(1100) })
    for (const [headers, body] of [
      [JSON_TYPE, long],
      [JSON_TYPE, Readable.from([Buffer.from(long)])],
      [{ ...JSON_TYPE, 'content-encoding': 'gzip' }, zlib.gzipSync(long)],
      [{ ...JSON_TYPE, 'content-encoding': 'br' }, zlib.brotliCompressSync(long)],
      [{ ...JSON_TYPE, 'content-encoding': 'gzip' }, zlib.gzipSync(require('node:crypto').randomBytes(5000))],
      [FORM_TYPE, 'a=' + 'x'.repeat(100)],
      [{ 'content-type': 'text/plain' }, 'x'.repeat(101)]
    ]) {
      const res = await post(app, headers, body)
      assert.deepEqual([res.status, res.headers.connection], [413, 'close'])
    }
    assert.equal(app.reached, 0)
    assert.equal((await post(app, { 'content-type': 'text/plain' }, 'x'.repeat(100))).status, 200)
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

  it('should take a limit of 0 as 0', async () => {
    const none = { jsonLimit: 0, formLimit: '0', textLimit: '0kb', enableTypes: ['json', 'form', 'text'] }
    const app = echo(none)
    for (const type of [JSON_TYPE, FORM_TYPE, { 'content-type': 'text/plain' }]) {
      assert.equal((await post(app, type, '1')).status, 413)
      assert.equal((await post(app, { ...type, 'content-encoding': 'gzip' }, zlib.gzipSync('1'))).status, 413)
    }
    assert.equal(app.reached, 0)
    assert.equal((await post(app, JSON_TYPE, '')).status, 200)
    assert.equal((await post(app, { ...JSON_TYPE, 'content-encoding': 'gzip' }, zlib.gzipSync(''))).status, 200)
  })

  it('should take a limit that is larger than any Buffer', async () => {
    const app = echo({ jsonLimit: '5gb' }) // of Node 20: 4 GB
    const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' }
    for (let i = 0; i < 2; i++) assert.equal((await post(app, headers, zlib.gzipSync('{"a":1}'))).status, 200)
  })

  it('should inflate no more of a zip bomb than its limit', async () => {
    const app = echo()
    const bomb = zlib.gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 })
    assert.ok(bomb.length < 100000)
    assert.equal((await post(app, { ...JSON_TYPE, 'content-encoding': 'gzip' }, bomb)).status, 413)
    assert.equal(app.reached, 0)
  })

  it('should respond with 413 to a declared length without waiting for the body', async () => {
    const net = require('node:net')
    const { port } = await listen(echo())
    const socket = net.connect(port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n{')
    let answer = ''
    for await (const chunk of socket) answer += chunk
    assert.match(answer, /^HTTP\/1\.1 413 [^]*\r\nConnection: close\r\n/i)
  })

  it('should refuse keys that reach a prototype', async () => {
    const app = echo()
    for (const body of [
      '{"__proto__":{"x":1}}', '{"a":[{"__proto__":1}]}', '{"\\u005f_proto__":{"x":1}}', '{"__pr\\u006fto__":1}',
      '{"constructor":{"prototype":{"x":1}}}', '{"c\\u006fnstructor":{"prototype":{}}}'
    ]) assert.equal((await post(app, JSON_TYPE, body)).status, 400, body)
    for (const body of ['{"constructor":"Ferrari"}', '{"a":"__proto__"}', '{"prototype":1}']) {
      assert.deepEqual((await post(app, JSON_TYPE, body)).json().body, JSON.parse(body))
    }
    const removing = echo({ onProtoPoisoning: 'remove' })
    assert.deepEqual((await post(removing, JSON_TYPE, '{"a":1,"__proto__":{"x":1}}')).json().body, { a: 1 })
    assert.deepEqual((await post(app, FORM_TYPE, '__proto__[x]=1&a[__proto__][x]=1&b=1')).json().body, { b: '1' })
    assert.ok(!('x' in {}))
  })

  it('should refuse a form with too many or too deep keys, none is dropped', async () => {
    const app = echo()
    const many = Array.from({ length: 1001 }, (_, i) => `k${i}=`).join('&')
    assert.equal((await post(app, FORM_TYPE, many)).status, 413)
    assert.equal((await post(app, FORM_TYPE, 'a[b][c][d][e][f][g]=1')).status, 400)
    assert.equal(app.reached, 0)
    assert.equal((await post(echo({ queryString: { parameterLimit: 2000 } }), FORM_TYPE, many)).status, 200)
  })

  it('should call onerror instead of throwing, and go on unless that throws', async () => {
    const app = echo({ onerror: (err, ctx) => { ctx.request.body = { failed: err.status, text: err.body } } })
    assert.deepEqual((await post(app, JSON_TYPE, '{')).json().body, { failed: 400, text: '{' })
    const strict = echo({ onerror: (cause, ctx) => ctx.throw(422, 'body parse error', { cause }) })
    assert.equal((await post(strict, JSON_TYPE, '{')).status, 422)
  })

  it('should take detectJSON, extendTypes, encoding and qs', async () => {
    const detect = echo({ detectJSON: ctx => /\.json$/.test(ctx.path) })
    assert.deepEqual((await ask(detect, 'POST /a.json', { body: '{"a":1}' })).json().body, { a: 1 })
    assert.deepEqual((await ask(detect, 'POST /a', { body: '{"a":1}' })).json().body, {})
    const extended = echo({ extendTypes: { json: ['application/x-js', '+json'], form: 'application/x-form' } })
    for (const type of ['application/x-js', 'application/vnd.x+json']) {
      assert.deepEqual((await post(extended, { 'content-type': type }, '{"a":1}')).json().body, { a: 1 })
    }
    assert.deepEqual((await post(extended, { 'content-type': 'application/x-form' }, 'a=1')).json().body, { a: '1' })
    const latin = echo({ encoding: 'latin1', enableTypes: ['text'] })
    assert.equal((await post(latin, { 'content-type': 'text/plain' }, Buffer.from([0xfc]))).json().body, 'ü')
    const app = echo({ qs: require('qs'), queryString: { comma: true } })
    assert.deepEqual((await post(app, FORM_TYPE, 'a=1,2')).json().body, { a: ['1', '2'] })
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
    const net = require('node:net')
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
