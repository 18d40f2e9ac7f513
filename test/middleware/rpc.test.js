'use strict'

const assert = require('node:assert/strict')
const v8 = require('node:v8')
const zlib = require('node:zlib')
const rpc = require('kone/middleware/rpc')
const bodyParser = require('kone/middleware/bodyParser')
const frameworks = require('../helpers/frameworks')

const JSON_TYPE = { 'content-type': 'application/json' }
const V8 = { type: 'application/x-v8', decode: buffer => v8.deserialize(buffer), encode: value => v8.serialize(value) }

const METHODS = {
  add: (a, b) => a + b,
  later: async value => { await null; return value },
  nothing () {},
  who () { return this.get('x-user') },
  'user.find': id => ({ id }),
  teapot () { this.throw(418, 'short and stout') },
  broken () { throw new Error('secret') },
  cyclic () { const value = {}; value.value = value; return value },
  created () { this.status = 201; return 'new' }
}

frameworks('rpc', ({ it, Koa, ask, errors }) => {
  const serve = (options, methods = METHODS) => {
    return [rpc(methods, options), ctx => { ctx.body = 'next' }]
  }
  const call = (app, name, args, headers = JSON_TYPE) => ask(app, `POST /rpc/${name}`, {
    headers,
    body: typeof args === 'string' || Buffer.isBuffer(args) ? args : JSON.stringify(args)
  })

  it('should call a method with the arguments and respond with its value', async () => {
    const app = serve()
    const res = await call(app, 'add', [1, 2])
    assert.deepEqual([res.status, res.text, res.headers['content-type']], [200, '3', 'application/json'])
    assert.deepEqual((await call(app, 'later', [{ a: 'ü' }])).json(), { a: 'ü' })
    assert.deepEqual((await call(app, 'user.find', [7])).json(), { id: 7 })
  })

  it('should call a method by one spelling of its path', async () => {
    const code = char => '%' + char.charCodeAt(0).toString(16)
    const spellings = [...'-._~azAZ09'].flatMap(char => [code(char), code(char).toUpperCase()].map(one => [char, one]))
    for (const [char, spelling] of spellings) {
      const name = `a${char}b`
      const app = [(ctx, next) => ctx.path === `/rpc/${name}` ? ctx.throw(403) : next(), ...serve({}, { [name]: () => 'called' })]
      assert.equal((await call(app, name, [])).status, 403)
      assert.equal((await call(app, `a${spelling}b`, [])).status, 404, spelling)
    }
  })

  it('should take other characters of a name as encodeURI() writes them', async () => {
    const app = serve({}, { 'a/b:$ü': () => 'called' })
    assert.equal((await call(app, 'a/b:$%C3%BC', [])).json(), 'called')
    for (const name of ['a/b:$%c3%bc', 'a%2Fb:$%C3%BC', 'a%2fb:$%C3%BC', 'a/b%3A$%C3%BC', 'a/b:%24%C3%BC']) {
      assert.equal((await call(app, name, [])).status, 404, name)
    }
  })

  it('should send null and text in the codec, too', async () => {
    const app = serve()
    for (const [name, args, text] of [['nothing', [], 'null'], ['later', [null], 'null'], ['later', ['hi'], '"hi"']]) {
      const res = await call(app, name, args)
      assert.deepEqual([res.status, res.text, res.headers['content-type']], [200, text, 'application/json'])
    }
  })

  it('should call it with ctx as this', async () => {
    const app = serve()
    assert.equal((await call(app, 'who', [], { ...JSON_TYPE, 'x-user': 'ann' })).json(), 'ann')
    assert.equal((await call(app, 'created', [])).status, 201)
  })

  it('should take other codecs by content type', async () => {
    const app = serve({ codecs: [V8] })
    const type = { 'content-type': 'Application/X-V8; a=b' }
    const res = await call(app, 'later', v8.serialize([new Map([['a', 1n]])]), type)
    assert.equal(res.headers['content-type'], 'application/x-v8')
    assert.deepEqual(v8.deserialize(res.body), new Map([['a', 1n]]))
    for (const args of [[null], ['text'], [undefined]]) {
      const res = await call(app, 'later', v8.serialize(args), type)
      assert.deepEqual([res.status, res.headers['content-type']], [200, 'application/x-v8'])
      assert.equal(v8.deserialize(res.body), args[0])
    }
    assert.equal((await call(app, 'add', [1, 2])).text, '3')
  })

  it('should send the bytes of a codec that encodes to a view of a larger buffer', async () => {
    const encode = value => new Uint8Array([0, 1, 2, value, 0]).subarray(1, 4)
    const res = await call(serve({ codecs: [{ ...V8, encode }] }), 'later', v8.serialize([3]), { 'content-type': V8.type })
    assert.deepEqual([res.headers['content-type'], [...res.body]], ['application/x-v8', [1, 2, 3]])
  })

  it('should respond with 404 to an unknown method, inherited ones included', async () => {
    const app = serve({}, Object.assign(Object.create({ inherited () { return 1 } }), METHODS))
    for (const name of [
      'none', 'toString', '__proto__', 'constructor', 'hasOwnProperty', 'inherited', '', 'add/', 'add/x', 'ADD', '%5F_proto__'
    ]) assert.equal((await call(app, name, [1])).status, 404, name)
    assert.equal((await call(app, '%E0%A4%A', [])).status, 400)
  })

  it('should respond with 400 to a malformed body', async () => {
    const app = serve({ codecs: [V8] })
    for (const body of ['', '{', '{"a":1}', '1', 'null', '"x"', '[1', '[{"__proto__":1}]', `[${'1,'.repeat(5e5)}1]`]) {
      assert.equal((await call(app, 'add', body)).status, 400, body.slice(0, 20))
    }
    assert.equal((await call(app, 'add', 'x', { 'content-type': V8.type })).status, 400)
    assert.equal((await call(app, 'add', 'x', { ...JSON_TYPE, 'content-encoding': 'gzip' })).status, 400)
  })

  it('should respond with 400 to more levels than can be handled', async () => {
    errors.length = 0
    const app = serve()
    const nested = depth => `[${'{"[":['.repeat(depth / 2)}${']}'.repeat(depth / 2)}]`
    assert.equal((await call(app, 'later', nested(998))).text, nested(998).slice(1, -1))
    for (const depth of [1000, 10_000, 100_000]) {
      const res = await call(app, 'later', nested(depth))
      assert.deepEqual([res.status, res.text], [400, 'more than 1000 levels in the body'])
    }
    assert.equal((await call(app, 'later', JSON.stringify(['[{\\"'.repeat(2000)]))).status, 200)
    assert.equal((await call(app, 'later', '["[')).status, 400)
    assert(errors.every(err => err.status === 400))
  })

  it('should respond with 415 to a type without a codec', async () => {
    const app = serve()
    for (const type of ['text/plain', 'application/x-v8', 'json', '', 'constructor']) {
      assert.equal((await call(app, 'add', '[1,2]', type ? { 'content-type': type } : {})).status, 415, type)
    }
    assert.equal((await call(app, 'add', '[]', { ...JSON_TYPE, 'content-encoding': 'x' })).status, 415)
  })

  it('should respond with 413 over the limit, compressed or not', async () => {
    const called = []
    const app = serve({ limit: 100 }, { push: value => { called.push(value) } })
    const long = JSON.stringify(['x'.repeat(100)])
    const res = await call(app, 'push', long)
    assert.equal(res.status, 413)
    assert.equal((await call(app, 'push', zlib.gzipSync(long), { ...JSON_TYPE, 'content-encoding': 'gzip' })).status, 413)
    assert.deepEqual(called, [])
    const short = zlib.gzipSync('["y"]')
    assert.equal((await call(app, 'push', short, { ...JSON_TYPE, 'content-encoding': 'gzip' })).status, 200)
  })

  it('should handle the error of a method as any other', async () => {
    const app = serve()
    const teapot = await call(app, 'teapot', [])
    assert.deepEqual([teapot.status, teapot.text], [418, 'short and stout'])
    const broken = await call(app, 'broken', [])
    assert.deepEqual([broken.status, broken.text], [500, 'Internal Server Error'])
    assert.equal((await call(app, 'cyclic', [])).status, 500)
    const careless = serve({ codecs: [{ ...V8, encode: String }] })
    assert.equal((await call(careless, 'later', v8.serialize([1]), { 'content-type': V8.type })).status, 500)
  })

  it('should leave everything else to the next middleware', async () => {
    const app = serve()
    for (const line of ['GET /rpc/add', 'POST /rpc', 'POST /rpcx/add', 'POST /', 'PUT /rpc/add']) {
      assert.equal((await ask(app, line, { headers: JSON_TYPE, body: line[0] === 'G' ? undefined : '[]' })).text, 'next', line)
    }
    const other = serve({ prefix: '/api/v1/' })
    assert.equal((await ask(other, 'POST /api/v1/add', { headers: JSON_TYPE, body: '[1,2]' })).text, '3')
  })

  it('should call a method whose arguments bodyParser has read', async () => {
    const app = new Koa().use(bodyParser()).use(rpc(METHODS, { limit: 20 }))
    assert.equal((await call(app, 'add', [1, 2])).text, '3')
    assert.equal((await call(app, 'later', ['x'.repeat(20)])).status, 413)
  })
})
