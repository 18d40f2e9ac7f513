'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Readable } = require('node:stream')
const { describe, it } = require('node:test')
const { inspect } = require('node:util')
const vm = require('node:vm')
const esbuild = require('esbuild')
const fc = require('fast-check')
const Kone = require('kone')
const client = require('kone/client')
const { bodyParser, router: Router, upload } = require('kone/middleware')
const { MISSPELT, Options, any, each, fn, object, shape } = require('../../lib/shared/options')

/** A client of a page, whose requests return their URL. */
async function inPage (base, globals) {
  const { outputFiles: [{ text }] } = await esbuild.build({
    entryPoints: [require.resolve('kone/client')], bundle: true, platform: 'browser', format: 'iife', globalName: 'client', write: false
  })
  return vm.runInNewContext(`${text}\nclient(${JSON.stringify(base)}, { fetch })`, { Headers, URLSearchParams, fetch: async ({ url }) => url, ...globals })
}

/** A client of an app that responds with what a route of this path was given, over app.fetch. */
function echo (path, { syntax = 6, ...options } = {}) {
  const app = new Kone()
  const router = new Router({ syntax })
  app.use(bodyParser({ enableTypes: ['json', 'form', 'text'] })).use(upload())
  router.all(path, async ctx => {
    const { method, params, query, headers } = ctx
    const files = await Promise.all((ctx.request.files ?? []).map(async ({ fieldname }) => fieldname))
    ctx.body = { method, params, query, headers, body: ctx.request.body, files }
  })
  app.use(router.routes())
  const api = client('http://kone.example/', { fetch: app.fetch, ...options })
  return async (given, method = 'post') => {
    const res = await api[method](path, given)
    return res.status === 200 && method !== 'head' ? res.json() : res.status
  }
}

// [path, params, what the route gets if that differs, syntax]
const PATHS = [
  ['/', {}],
  ['/users/:id', { id: 7 }, { id: '7' }],
  ['/café à la carte/:id', { id: 'é' }],
  ['/users/:id/posts/:post?', { id: 'a' }],
  ['/users/:id/posts/:post?', { id: 'a', post: 'b' }],
  ['/:from-:to.:type?', { from: 'a', to: 'b', type: 'html' }],
  ['/:from-:to.:type?', { from: 'a', to: 'b' }],
  ['/users/:id(\\d+)', { id: '12' }],
  ['/users/:id(\\d{2}|a\\(b)/x', { id: 'a(b' }],
  ['/files/:path*', {}],
  ['/files/:path*', { path: 'a/b c/d' }],
  ['/files/:path+', { path: 'a/b' }],
  ['/files/(.*)', { 0: 'a/b/c' }],
  ['/files/(.*)', {}],
  ['(.*)', { 0: '.evil.example/a' }, { 0: '/.evil.example/a' }],
  ['/(a|b)/:name', { 0: 'b', name: 'x' }],
  ['/:year(\\d{4}){-:month}?', { year: '2026' }],
  ['/:year(\\d{4}){-:month}?', { year: '2026', month: '11' }],
  ['/x\\:y/:z', { z: 'a' }],
  ['/users{/:id}', {}, {}, 8],
  ['/users{/:id}', { id: 'a' }, { id: 'a' }, 8],
  ['/a{/:b{/:c}}/d', { b: 'x' }, { b: 'x' }, 8],
  ['/a{/:b{/:c}}/d', { b: 'x', c: 'y' }, { b: 'x', c: 'y' }, 8],
  ['/files/*rest', { rest: 'a/b' }, { rest: 'a/b' }, 8],
  ['*rest', { rest: ':80/a' }, { rest: '/:80/a' }, 8],
  ['{*rest}', {}, { rest: '/' }, 8],
  ['/:"to be"/:ü', { 'to be': 'a', ü: 'b' }, { 'to be': 'a', ü: 'b' }, 8]
]

describe('client(base)', () => {
  for (const [path, params, expected = params, syntax] of PATHS) {
    it(`should write ${JSON.stringify(params)} into ${path}`, async () => {
      assert.deepEqual((await echo(path, { syntax })({ params })).params, expected)
    })
  }

  it('should bring every value of a param to its route', async () => {
    const ask = echo('/users/:id/posts/:post')
    const value = fc.string({ unit: 'grapheme', minLength: 1 }).filter(text => !['.', '..'].includes(text))
    await fc.assert(fc.asyncProperty(value, value, async (id, post) => {
      assert.deepEqual((await ask({ params: { id, post } })).params, { id, post })
    }), { numRuns: 200 })
  })

  // [path, params, why it is refused]
  const REFUSED = [
    ['/users/:id', undefined, 'params.id of POST /users/:id is missing'],
    ['/users/:id', { id: null }, 'params.id of POST /users/:id is missing'],
    ['/users/:id', { id: '' }, 'params.id of POST /users/:id is missing'],
    ['/users/:id', { id: '..' }, "params.id of POST /users/:id must not be '..'"],
    ['/files/:path*', { path: 'a/../b' }, "params.path of POST /files/:path* must not be '..'"],
    ['/files/(.*)', { 0: './a' }, "params.0 of POST /files/(.*) must not be '.'"],
    ['/users/:id', { id: {} }, 'params.id of POST /users/:id must be text, a number, a boolean or a Date, not an object'],
    ['/files/:path+', { path: ['a', 'b'] }, 'params.path of POST /files/:path+ must be text, a number, a boolean or a Date, not an array']
  ]
  for (const [path, params, message] of REFUSED) {
    it(`should refuse ${JSON.stringify(params)} for ${path}`, async () => {
      await assert.rejects(echo(path)({ params }), { name: 'TypeError', message: `client: ${message}` })
    })
  }

  it('should not let a param name another host in a page', async () => {
    for (const base of ['', '/']) {
      const sent = client(base, { fetch: () => assert.fail() }).get('/*path', { params: { path: '/evil.example' } })
      await assert.rejects(sent, { message: "client: GET /*path with these params is '//evil.example', which names another host" })
    }
    const { url } = await client('http://kone.example', { fetch: async request => request }).get('/*path', { params: { path: '/a' } })
    assert.equal(url, 'http://kone.example//a')
  })

  it('should write a query, lists as a repeated key, without what is undefined', async () => {
    const { query } = await echo('/x')({ query: { a: 1, b: ['x & y', 'ü'], c: undefined, d: true } }, 'get')
    assert.deepEqual(query, { a: '1', b: ['x & y', 'ü'], d: 'true' })
  })

  // [query, what the route gets]
  const date = new Date(5)
  const QUERIES = [
    [{ since: date, of: [date, new URL('http://a/')], big: 5n, none: null }, { since: date.toJSON(), of: [date.toJSON(), 'http://a/'], big: '5' }],
    [new URLSearchParams('a=1&a=2&b=x+y'), { a: ['1', '2'], b: 'x y' }],
    [new Map([['a', [1, 2]], ['b', true]]), { a: ['1', '2'], b: 'true' }]
  ]
  for (const [query, expected] of QUERIES) {
    it(`should bring ${inspect(query)} to its route`, async () => {
      assert.deepEqual((await echo('/x')({ query })).query, expected)
    })
  }

  for (const value of [{ a: 1 }, [['a']], new Date(NaN), () => {}, Symbol('a'), new Set()]) {
    it(`should refuse ${inspect(value)} in a query, which has no text`, async () => {
      await assert.rejects(echo('/x')({ query: { value } }), { name: 'TypeError', message: /^client: query\.value of POST \/x must be text, / })
    })
  }

  it('should request the root of a page, not the page itself', async () => {
    class Request { constructor (url) { this.url = url } } // node's takes no relative URL
    const api = await inPage('', { Request })
    assert.deepEqual([await api.get('/:id?'), await api.get('{/:id}', { query: { a: 1 } })], ['/', '/?a=1'])
  })

  const form = new FormData()
  form.append('name', 'Ada')
  form.append('image', new Blob(['bytes']), 'a.png')
  const BODIES = [
    [{ a: [1, null] }, 'application/json', { a: [1, null] }],
    [[1], 'application/json', [1]],
    ['text', 'text/plain;charset=UTF-8', 'text'],
    [new URLSearchParams({ a: 'b' }), 'application/x-www-form-urlencoded;charset=UTF-8', { a: 'b' }],
    [form, /^multipart\/form-data; boundary=/, { name: 'Ada' }],
    [undefined, undefined, {}]
  ]
  for (const [body, type, expected] of BODIES) {
    it(`should send ${Object.prototype.toString.call(body)} ${JSON.stringify(body)} as ${type}`, async () => {
      const got = await echo('/x')({ body })
      if (type instanceof RegExp) assert.match(got.headers['content-type'], type)
      else assert.equal(got.headers['content-type'], type)
      assert.deepEqual([got.body, got.files], [expected, body === form ? ['image'] : []])
    })
  }

  it('should send bytes and streams with a type of their own', async () => {
    const ask = echo('/x')
    const headers = { 'Content-Type': 'application/json' }
    for (const body of [Buffer.from('[1]'), new Blob(['[1]']), new Blob(['[1]']).stream(), Readable.from(['[1', ']'])]) {
      assert.deepEqual((await ask({ body, headers })).body, [1])
    }
    assert.equal((await ask({ body: { a: 1 }, headers: { 'Content-Type': 'application/vnd.api+json' } })).headers['content-type'], 'application/vnd.api+json')
  })

  it('should add the headers of one request to those of all', async () => {
    const { headers } = await echo('/x', { headers: { 'X-A': '1', 'X-B': '1' } })({ headers: { 'x-b': '2' } })
    assert.deepEqual([headers['x-a'], headers['x-b']], ['1', '2'])
  })

  it('should have a function for each method', async () => {
    const ask = echo('/x')
    for (const method of ['get', 'post', 'put', 'patch', 'delete', 'options']) {
      assert.equal((await ask({}, method)).method, method.toUpperCase())
    }
    assert.equal(await ask(undefined, 'head'), 200)
  })

  it('should go through the global fetch, with its options', async () => {
    const app = new Kone()
    app.use(ctx => { ctx.redirect('/elsewhere') })
    const server = app.listen(0)
    await once(server, 'listening')
    const base = `http://127.0.0.1:${server.address().port}`
    assert.equal((await client(base, { redirect: 'manual' }).get('/')).status, 302)
    await assert.rejects(client(base).get('/', { signal: AbortSignal.abort() }), { name: 'AbortError' })
    await app.close()
  })

  it('should need no module of node in a page', async () => {
    const sent = await inPage('http://localhost', { Request })
    assert.equal(await sent.get('/:id', { params: { id: 1 } }), 'http://localhost/1')
  })

  it('should refuse a base that is not a URL', () => {
    assert.throws(() => client(), /^TypeError: client: the first argument must be a URL/)
  })

  // What the checker of all other functions says, which is too much code for a page.
  const rules = { fetch: fn, params: object, query: object, ...each(any, 'body', 'headers', 'credentials', 'signal') }
  const table = new Options('client', shape(rules, { open: MISSPELT }), 'docs/api/client')
  const WRONG = ['ab', "it's \x1b\x9b\n", 'x'.repeat(21), 5, NaN, true, null, [], [1], {}, new Map(), () => {}, Symbol.iterator, 5n]
  for (const given of [
    ...WRONG, ...WRONG.flatMap(value => [{ fetch: value }, { params: value }, { query: value }, { toString: value }]),
    {}, undefined, { parms: {} }, { Query: {} }, { qurey: {} }, { hedaers: {} }, { fecth: 1 }, { boby: 1 }, { credential: 1 },
    Object.create({ fetch: 5 }), Object.create({ params: 'a' }), Object.create({ feth: 5 }), new (class { get query () { return 5 } })(),
    { '': 1, json: 1, next: 1, cf: 1, priority: 'low', dispatcher: 1, method: 'GET', window: null }
  ]) {
    it(`should refuse what lib/shared/options.js refuses, by the same words: ${inspect(given)}`, async () => {
      const refusal = thrownBy(() => table.check(given))
      assert.equal(thrownBy(() => client('', given)), refusal)
      const send = client('http://localhost', { fetch: async () => new Response() }).get('/', given)
      assert.equal(await send.then(() => undefined, err => err.message), refusal)
    })
  }
})

function thrownBy (act) {
  try {
    act()
  } catch (err) {
    assert.equal(err.name, 'TypeError')
    return err.message
  }
}
