'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { Readable } = require('node:stream')
const vm = require('node:vm')
const zlib = require('node:zlib')
const original = require('koa-jsonp')
const compress = require('kone/middleware/compress')
const jsonp = require('kone/middleware/jsonp')
const staticFiles = require('kone/middleware/static')
const validate = require('kone/middleware/validate')
const folder = require('../helpers/folder')
const frameworks = require('../helpers/frameworks')

const BODIES = {
  object: () => ({ a: 1, b: [null, true, 'x'] }),
  array: () => [1, 'two'],
  text: () => 'hello "you"',
  lines: () => ({ text: 'a\u2028b\u2029c' }),
  markup: () => ({ text: '</script><script>alert(1)</script>' }),
  empty: () => ({})
}

// in memory as text, in memory as bytes, and on the disk
const SIZES = [10, 20_000, 100_000]
const FILES = folder(Object.fromEntries(SIZES.flatMap(size => [
  [`${size}.json`, JSON.stringify({ a: 'x'.repeat(size) })], [`${size}.html`, `<p>${'x'.repeat(size)}`]
])))

frameworks('jsonp', ({ it, Koa, ask, errors, name }) => {
  const serve = (body, options) => new Koa().use(jsonp(options)).use(ctx => {
    if (typeof body === 'function') return body(ctx)
    ctx.body = body
  })

  it('should respond with a script that calls the callback', async () => {
    const res = await ask(serve({ a: 1 }), 'GET /?callback=cb')
    assert.equal(res.text, '/**/cb({"a":1});')
    assert.equal(res.headers['content-type'], 'text/javascript; charset=utf-8')
    assert.deepEqual([res.headers['x-content-type-options'], res.headers['content-length']], ['nosniff', '16'])
  })

  it('should give the callback what koa-jsonp gives it', async () => {
    const theirs = [original(), ctx => { ctx.body = BODIES[ctx.path.slice(1)]() }]
    const ours = serve(ctx => { ctx.body = BODIES[ctx.path.slice(1)]() })
    for (const name of Object.keys(BODIES)) {
      for (const callback of ['cb', 'a.b.c', '$_1', 'calls[3]']) {
        const target = `GET /${name}?callback=${callback}`
        const [one, other] = [await ask(ours, target), await ask(theirs, target)]
        // the one intentional difference in the text is what stands before the callback
        assert.equal(one.text, other.text.replace(/^;/, '/**/'), target)
        assert.equal(one.headers['content-type'], other.headers['content-type'])
        assert.deepEqual(called(one.text), called(other.text))
      }
    }
  })

  it('should leave a response alone when no callback is named, and other methods as they are, a POST above all', async () => {
    for (const line of ['GET /', 'GET /?a=1', 'GET /?callback=', ...['POST', 'PUT', 'DELETE'].map(one => `${one} /?callback=%3Cscript%3E`)]) {
      const { text, headers } = await ask(serve({ a: 1 }), line)
      assert.deepEqual([text, headers['content-type'], headers['x-content-type-options']],
        ['{"a":1}', 'application/json; charset=utf-8', undefined], line)
    }
  })

  it('should leave a response without a body alone', async () => {
    assert.equal((await ask(serve(null), 'GET /?callback=cb')).status, 204)
    const missing = await ask(serve(() => {}), 'GET /?callback=cb')
    assert.deepEqual([missing.status, missing.text], [404, 'Not Found'])
  })

  it('should take another name for the callback', async () => {
    const app = serve({ a: 1 }, { callbackName: 'my_cb_name' })
    assert.equal((await ask(app, 'GET /?my_cb_name=cb')).text, '/**/cb({"a":1});')
    assert.equal((await ask(app, 'GET /?callback=cb')).text, '{"a":1}')
  })

  it('should respond to HEAD as to GET', async () => {
    const app = serve({ a: 1 })
    const [head, get] = [await ask(app, 'HEAD /?callback=cb'), await ask(app, 'GET /?callback=cb')]
    assert.equal(head.headers['content-type'], get.headers['content-type'])
    assert.equal(head.headers['content-length'], get.headers['content-length'])
  })

  it('should refuse what is no path of identifiers before the handler runs', async () => {
    let runs = 0
    const app = serve(ctx => { runs++; ctx.body = {} })
    for (const callback of [
      'alert(1)//', 'a;b', 'a b', '<script>', 'a(', 'a"', "a'", 'a[b]', 'a[', 'a.', '.a', '1a', 'a..b', 'a-b',
      'a\nb', 'a\u2028', 'ä', 'a`', 'a/**/', '{}', 'x'.repeat(129)
    ]) {
      const res = await ask(app, `GET /?callback=${encodeURIComponent(callback)}`)
      assert.equal(res.status, 400, callback)
      assert(!res.text.includes(callback), callback)
      assert.equal(res.headers['content-type'], 'text/plain; charset=utf-8')
    }
    assert.equal((await ask(app, 'GET /?callback=a&callback=b')).status, 400)
    assert.equal(runs, 0)
    assert.equal((await ask(app, `GET /?callback=${'x'.repeat(128)}`)).status, 200)
  })

  it('should wrap JSON in bytes and in streams, a character cut in two included', async () => {
    const bytes = Buffer.from('{"text":"ä\u2028\u2029"}')
    for (const set of [
      ctx => { ctx.type = 'json'; ctx.body = bytes },
      ctx => { ctx.body = Readable.from(Array.from(bytes, byte => Buffer.from([byte]))) }
    ]) {
      const res = await ask(serve(set), 'GET /?callback=cb')
      assert.equal(res.text, '/**/cb({"text":"ä\\u2028\\u2029"});')
      assert.equal(res.headers['content-type'], 'text/javascript; charset=utf-8')
    }
  })

  it('should make no script of bytes, streams and Blobs that are not JSON', async () => {
    for (const make of [
      () => Buffer.from('1);alert(1);('),
      () => Readable.from([Buffer.from('1);alert(1);(')]),
      // Koa 2 knows no Blob
      ...(name === 'koa 2' ? [] : [() => new Blob(['1);alert(1);('])])
    ]) {
      const app = serve(ctx => { ctx.type = 'image/png'; ctx.body = make() })
      const { headers, text } = await ask(app, 'GET /?callback=cb')
      assert.equal(headers['content-type'], 'image/png')
      assert(!text.includes('cb('))
    }
  })

  it('should make no script of a file whose type nobody knows', async () => {
    const evil = '1);alert(1);('.padEnd(100_000)
    const root = folder({ upload: evil })
    const stream = () => Readable.from([Buffer.from(evil)])
    for (const [what, middleware] of Object.entries({
      static: staticFiles(root),
      'static, in memory': staticFiles(root, { cacheFileSize: 2 ** 20 }),
      'a stream of a file': ctx => { ctx.body = fs.createReadStream(path.join(root, 'upload')) },
      'an attachment': ctx => { ctx.attachment(); ctx.body = stream() },
      'a stream of known length': ctx => { ctx.body = stream(); ctx.length = evil.length }
    })) {
      const { headers, text } = await ask([jsonp(), middleware], 'GET /upload?callback=cb')
      assert.deepEqual([headers['content-type'], text === evil], ['application/octet-stream', true], what)
    }
  })

  it('should not wrap what is encoded already', async () => {
    const app = serve(ctx => {
      ctx.type = 'json'
      ctx.set('Content-Encoding', 'gzip')
      ctx.body = Buffer.from('bytes')
    })
    assert.equal((await ask(app, 'GET /?callback=cb')).text, 'bytes')
  })

  const skip = Koa === require('koa3') && 'Koa 3 closes the connection when any stream fails'
  it('should respond with the error of a stream that fails before its first chunk', { skip }, async () => {
    for (const [status, make, length] of [
      [500, () => new Readable({ read () { this.destroy(new Error('lost')) } })],
      [500, () => Readable.from([{ a: 1 }])],
      [500, () => Readable.from([]), 1],
      [404, () => fs.createReadStream(path.join(__dirname, 'missing.json'))]
    ]) {
      const app = serve(ctx => {
        ctx.type = 'json'
        ctx.body = make()
        if (length) ctx.length = length
      })
      assert.equal((await ask(app, 'GET /?callback=cb')).status, status)
    }
  })

  it('should leave an error as it is, also as a final, which does not run after a throw', async () => {
    for (const register of [app => app.use(jsonp()), ...Koa.prototype.final ? [app => app.final(jsonp.final())] : []]) {
      const app = new Koa()
      register(app)
      app.use(ctx => ctx.throw(422, 'no'))
      const res = await ask(app, 'GET /?callback=cb')
      assert.deepEqual([res.status, res.text], [422, 'no'])
      assert.match(res.headers['content-type'], /^text\/plain/)
    }
  })

  it('should make a string of text, whatever its type', async () => {
    for (const type of ['application/json', 'application/problem+json', 'text/plain', 'text/html']) {
      for (const text of ['{"a":1}', ' [1] ', '"\u2028"', 'alert(1)', '1);alert(2', '']) {
        const res = await ask(serve(ctx => {
          ctx.type = type
          ctx.body = text
        }), 'GET /?callback=cb')
        assert.deepEqual(called(res.text), [JSON.stringify(text)], text)
      }
    }
  })

  it('should give the callback what validate() has serialised', async () => {
    const schema = {
      '~standard': {
        version: 1, vendor: 'test', validate: value => ({ value }), jsonSchema: { input: () => ({ type: 'object', properties: { a: { type: 'number' } } }) }
      }
    }
    for (const serialize of [false, true]) {
      const app = [jsonp(), validate({ response: schema, serialize }), ctx => { ctx.body = { a: 1 } }]
      assert.deepEqual(called((await ask(app, 'GET /?callback=cb')).text), ['{"a":1}'])
    }
  })

  it('should wrap a file of JSON, of whatever size, and no other file and no range', async () => {
    const app = [jsonp(), staticFiles(FILES)]
    for (const size of SIZES) {
      for (const round of ['read', 'kept in memory']) {
        const json = JSON.stringify({ a: 'x'.repeat(size) })
        const wrapped = await ask(app, `GET /${size}.json?callback=cb`)
        assert.deepEqual(called(wrapped.text), [json], `${size}, ${round}`)
        assert.equal(wrapped.headers['accept-ranges'], undefined)
        assert.equal((await ask(app, `GET /${size}.json`)).text, json)
        const page = await ask(app, `GET /${size}.html?callback=cb`)
        assert.deepEqual([page.headers['content-type'], page.text], ['text/html; charset=utf-8', `<p>${'x'.repeat(size)}`])
        const range = await ask(app, `GET /${size}.json?callback=cb`, { headers: { range: 'bytes=0-3' } })
        assert.deepEqual([range.status, range.text, range.headers['content-length']], [206, json.slice(0, 4), '4'])
      }
    }
  })

  it('should wrap once when it is registered twice, but the error that replaces a script', async () => {
    const bodies = [
      () => ({ a: 1 }), () => '{"a":1}', () => Buffer.from('{"a":1}'), () => Readable.from(['{"a":', '1}'])
    ]
    const twice = [[jsonp(), jsonp()], [jsonp(), jsonp({ callbackName: 'f' })]]
    const registers = twice.map(both => app => both.forEach(fn => app.use(fn)))
    if (Koa.prototype.final) {
      registers.push(app => app.final(jsonp.final()).final(jsonp.final()), app => app.use(jsonp()).final(jsonp.final()))
    }
    for (const register of registers) {
      for (const make of bodies) {
        const app = new Koa()
        register(app)
        app.use(ctx => {
          ctx.type = 'json'
          ctx.body = make()
        })
        const expected = typeof make() === 'string' ? '/**/cb("{\\"a\\":1}");' : '/**/cb({"a":1});'
        assert.equal((await ask(app, 'GET /?callback=cb&f=cb')).text, expected)
      }
    }
    const replace = async (ctx, next) => {
      await next()
      ctx.body = { error: ctx.body.length }
    }
    assert.equal((await ask([jsonp(), replace, jsonp(), ctx => { ctx.body = {} }], 'GET /?callback=cb')).text, '/**/cb({"error":11});')
  })

  it('should wrap once, whatever compress stands around, between and behind it', async () => {
    errors.length = 0
    const whole = compress({ threshold: 0 })
    const orders = [
      [whole, jsonp(), jsonp()], [jsonp(), whole, jsonp()], [jsonp(), jsonp(), whole], [whole, jsonp(), whole, jsonp()]
    ]
    const bodies = [{ a: 1 }, () => Buffer.from('{"a":1}'), () => Readable.from(['{"a":', '1}'])]
    for (const [order, body] of orders.flatMap(order => bodies.map(body => [order, body]))) {
      const app = [...order, ctx => {
        ctx.type = 'json'
        ctx.body = typeof body === 'function' ? body() : body
      }]
      for (const coding of ['identity', 'gzip']) {
        const res = await ask(app, 'GET /?callback=cb', { headers: { 'Accept-Encoding': coding } })
        // what compress has encoded behind every jsonp stays JSON
        const isScript = coding === 'identity' || order.at(-1) !== whole
        assert.equal(res.headers['content-type'], isScript ? 'text/javascript; charset=utf-8' : 'application/json; charset=utf-8')
        const text = coding === 'gzip' ? zlib.gunzipSync(res.body).toString() : res.text
        assert.equal(text, isScript ? '/**/cb({"a":1});' : '{"a":1}')
        assert.equal(res.headers['content-encoding'], coding === 'gzip' ? 'gzip' : undefined)
      }
    }
    assert.deepEqual(errors, [])
  })

  it('should do the same as a final', { skip: !Koa.prototype.final && 'Koa has no app.final' }, async () => {
    const app = new Koa()
    app.final(jsonp.final({ callbackName: 'cb' }))
    app.use(ctx => { ctx.body = { a: 1 } })
    assert.equal((await ask(app, 'GET /?cb=f')).text, '/**/f({"a":1});')
    for (const query of ['cb=f()', 'cb=f&cb=g', 'cb=&cb=', `cb=${'f'.repeat(129)}`]) {
      const res = await ask(app, `GET /?${query}`)
      assert.deepEqual([res.status, res.text], [400, 'invalid callback'], query)
    }
    assert.equal((await ask(app, 'GET /')).text, '{"a":1}')
  })
})

/** What a script hands to whatever it calls. */
function called (script) {
  const args = []
  const call = value => { args.push(JSON.stringify(value)) }
  const calls = [0, 0, 0, call]
  vm.runInNewContext(script, { cb: call, a: { b: { c: call } }, $_1: call, calls })
  return args
}
