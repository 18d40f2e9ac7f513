'use strict'

/**
 * Small apps whose responses are compared, byte by byte, between koa 2, koa 3 and kone.
 *
 *    app(title, middleware or list of them, {
 *      ask: 'GET /',          what is asked
 *      headers, body,         with this
 *      options,               of the constructor
 *      set (app) {},          what else is done to the app
 *      koa3: 'why',           koa 3 responds otherwise than koa 2
 *      kone: 'why',           kone responds otherwise than koa 2, on purpose
 *      kone3: 'why',          kone@3 responds otherwise than koa 3, on purpose
 *      expect: /…/            …and this is in kone's answer
 *      skip: { fetch: 'why' } an engine that responds otherwise
 *    })
 */

const fs = require('node:fs')
const { PassThrough, Readable } = require('node:stream')
const vm = require('node:vm')

const apps = []

function app (title, middleware, more) {
  apps.push({ title, middleware: [].concat(middleware), ask: 'GET /', headers: {}, ...more })
}

/** A middleware that sets these properties of ctx, in this order; a function gives a value for each request. */
const sets = values => ctx => {
  for (const [name, value] of Object.entries(values)) ctx[name] = typeof value === 'function' ? value() : value
}

/** A middleware that calls these functions, and responds. */
const header = (...fns) => ctx => {
  for (const fn of fns) fn(ctx)
  ctx.body = 'x'
}

const html = { accept: 'text/html' }
const MIME3 = 'koa 3 asks a younger mime-types'
const STATUSES1 = 'koa 2 asks statuses 1, whose reasons for these codes are older'
const V2 = 'kone responds as koa 2'
const UNKNOWN = { skip: { http2: 'node’s HTTP/2 has no status above 599', fetch: 'a web Response has none, either' } }
const LENGTHS = 'kone sends the length of the body, whatever was set'
const OWN_HEADERS = { skip: { inject: 'sends fewer headers', fetch: 'sends fewer headers' } }

// bodies

app('nothing', [])
app('a middleware that does nothing', () => {})
app('an empty string', ctx => { ctx.body = '' })
app('a string', ctx => { ctx.body = 'hello' })
app('a string beyond ASCII', ctx => { ctx.body = 'héllo ☃ 😀' })
app('a string beyond ASCII within latin1', ctx => { ctx.body = 'ÿ' })
app('a lone surrogate', ctx => { ctx.body = 'a\ud800b' })
app('html', ctx => { ctx.body = '<p>hello' })
app('html after blanks', ctx => { ctx.body = ' \n\t<p>hello' })
app('html after a no-break space', ctx => { ctx.body = '\u00a0<p>hello' })
app('text with markup later', ctx => { ctx.body = 'a <p>' })
app('a long string', ctx => { ctx.body = 'x'.repeat(100000) })
app('a buffer', ctx => { ctx.body = Buffer.from([0, 1, 255]) })
app('an empty buffer', ctx => { ctx.body = Buffer.alloc(0) })
app('a long buffer', sets({ body: Buffer.alloc(300000, 'x') }))
app('a Uint8Array', ctx => { ctx.body = new Uint8Array([1, 2]) })
app('an object', ctx => { ctx.body = { a: 1, b: [true, null], c: 'é' } })
app('an object with toJSON', ctx => { ctx.body = { toJSON: () => 'json' } })
app('an object without a prototype', ctx => { ctx.body = Object.assign(Object.create(null), { a: 1 }) })
app('an object with undefined', ctx => { ctx.body = { a: undefined, b: 1 } })
app('an empty object', ctx => { ctx.body = {} })
app('an array', ctx => { ctx.body = [1, 'a'] })
app('a date', ctx => { ctx.body = new Date(0) })
app('a number', ctx => { ctx.body = 42 })
app('zero', ctx => { ctx.body = 0 })
app('NaN', ctx => { ctx.body = NaN })
app('true', ctx => { ctx.body = true })
app('false', ctx => { ctx.body = false })
app('null', ctx => { ctx.body = null })
app('undefined', ctx => { ctx.body = undefined })
app('null, then a status', sets({ body: null, status: 200 }), {
  kone: 'koa 2 sends no length and closes the connection; koa 3 sends a length of 0',
  koa3: 'koa 3 sends a length of 0'
})
app('a status, then null', sets({ status: 200, body: null }))
app('undefined, then a status', sets({ body: undefined, status: 200 }))
app('null as json', sets({ status: 200, type: 'json', body: null }), { koa3: `koa 3 responds with null; ${V2}` })
app('null, then a string', ctx => {
  ctx.body = null
  ctx.body = 'hello'
})
app('a string, then null', ctx => {
  ctx.body = 'hello'
  ctx.body = null
})
app('a string, then an object', ctx => {
  ctx.body = 'hello'
  ctx.body = { a: 1 }
})
app('an object, then a string', ctx => {
  ctx.body = { a: 1 }
  ctx.body = 'hello'
})
app('an object that changes later', ctx => {
  ctx.body = { a: 1 }
  ctx.body.b = 2
})
app('an object with another json type', sets({ type: 'application/vnd.api+json', body: { a: 1 } }), {
  koa3: `koa 3 keeps a type with json in it; ${V2}`
})
app('an object with a type that is not json', sets({ type: 'text', body: { a: 1 } }))
app('a buffer with a type in lower case', ctx => {
  ctx.set('content-type', 'application/json')
  ctx.body = Buffer.from('{}')
})
app('a buffer with a type', sets({ type: 'png', body: Buffer.from('x') }))
app('a string with a type', sets({ type: 'css', body: 'a {}' }))
app('a string with its own length', sets({ body: 'hello', length: 5 }))
app('a body one microtask later', ctx => { Promise.resolve().then(() => { ctx.body = 'late' }) })
app('a body over HEAD', ctx => { ctx.body = 'hello' }, { ask: 'HEAD /' })
app('json over HEAD', ctx => { ctx.body = { a: 1 } }, { ask: 'HEAD /' })
app('nothing over HEAD', () => {}, { ask: 'HEAD /' })
app('a status over HEAD', ctx => { ctx.status = 201 }, { ask: 'HEAD /' })
app('a type over HEAD', sets({ status: 200, type: 'css' }), { ask: 'HEAD /' })
app('null over HEAD', sets({ body: null, status: 200 }), { ask: 'HEAD /' })
app('an error over HEAD', ctx => ctx.throw(400, 'bad'), { ask: 'HEAD /' })
app('a redirect over HEAD', ctx => ctx.redirect('/a'), { ask: 'HEAD /' })
app('a stream over HEAD', ctx => { ctx.body = Readable.from(['a']) }, { ask: 'HEAD /' })

// streams

app('a stream', ctx => { ctx.body = Readable.from(['hel', 'lo']) })
app('a file', ctx => { ctx.body = fs.createReadStream(require.resolve('koa/LICENSE')) })
app('a file with a type', sets({ type: 'txt', body: () => fs.createReadStream(require.resolve('koa/LICENSE')) }))
app('a file that is not there', sets({ type: 'json', body: () => fs.createReadStream('/does/not/exist') }), {
  koa3: 'koa 3 responds with 500 to ENOENT',
  kone3: 'koa 3 cuts the connection'
})
app('an empty stream', ctx => { ctx.body = Readable.from([]) }, { skip: { fetch: 'has no length of a stream' } })
app('a long stream', ctx => { ctx.body = Readable.from([Buffer.alloc(300000, 'x'), Buffer.alloc(300000, 'y')]) })
app('a stream of a known length', sets({ length: 5, body: () => Readable.from(['hello']) }))
app('a stream with an etag', sets({ etag: 'v1', body: () => Readable.from(['hello']) }))
app('a PassThrough written later', ctx => {
  const body = ctx.body = new PassThrough()
  setImmediate(() => body.end('late'))
})
app('a stream through a stream', [
  async (ctx, next) => {
    await next()
    ctx.body = ctx.body.pipe(new PassThrough())
  },
  ctx => { ctx.body = Readable.from(['a', 'b']) }
])
app('a string over a stream', ctx => {
  ctx.body = new PassThrough()
  ctx.body = 'instead'
})
app('a stream over a string', ctx => {
  ctx.body = 'hello'
  ctx.body = Readable.from(['instead'])
})
app('a stream with 204', sets({ body: () => Readable.from(['x']), status: 204 }))
app('a stream of a known length, set again', ctx => {
  const stream = ctx.body = new PassThrough().end('hello')
  ctx.length = 5
  ctx.body = stream
})
app('a stream that fails first', ctx => {
  ctx.body = new Readable({ read () { this.destroy(new Error('boom')) } })
}, { koa3: 'koa 3 cuts the connection', kone3: 'koa 3 cuts the connection' })
app('a stream that fails first, with a status', ctx => {
  ctx.body = new Readable({ read () { this.destroy(Object.assign(new Error('boom'), { status: 410, expose: true })) } })
}, { koa3: 'koa 3 cuts the connection', kone3: 'koa 3 cuts the connection' })
app('a write to res before the body', async ctx => {
  ctx.status = 200
  ctx.res.write('first ')
  await new Promise(resolve => setImmediate(resolve)) // from Node 24 on, two writes at once are one chunk
  ctx.body = 'second'
})
app('headers written to res', ctx => {
  ctx.res.writeHead(203, { 'X-Own': 'yes' })
  ctx.body = 'body'
})
app('a write to res without a body', ctx => {
  ctx.status = 200
  ctx.res.write('first ')
})
app('a write to res while the app waits', async ctx => {
  ctx.status = 200
  ctx.res.write('first ')
  await new Promise(resolve => setImmediate(resolve))
  ctx.res.end('second')
})
app('res ended by the app', ctx => {
  ctx.res.end('own')
  ctx.set('X-Late', 'late')
  ctx.remove('X-Late')
  sets({ status: 201, body: 'late' })(ctx)
})
app('ctx.respond = false', ctx => {
  ctx.respond = false
  ctx.res.statusCode = 202
  setImmediate(() => ctx.res.end('own'))
})
app('flushed headers', ctx => {
  ctx.type = 'text'
  ctx.status = 200
  ctx.flushHeaders()
  sets({ status: 201, type: 'json', body: 'later' })(ctx)
  ctx.set('X-Late', 'late')
  ctx.remove('Content-Type')
})
app('flushed headers of an empty body', ctx => {
  ctx.body = ''
  ctx.flushHeaders()
})
app('flushed headers of a stream', ctx => {
  const stream = ctx.body = new PassThrough()
  ctx.flushHeaders()
  setImmediate(() => stream.end('later'))
})
app('flushed headers, then an error', ctx => {
  sets({ status: 200, length: 0 })(ctx)
  ctx.flushHeaders()
  ctx.res.end()
  throw new Error('late')
})

// statuses

for (const status of [
  200, 201, 202, 203, 204, 205, 206, 207, 226, 300, 304, 400, 401, 403, 404, 409, 410, 422, 429, 451,
  500, 501, 502, 503, 504
]) app(`status ${status}`, ctx => { ctx.status = status })
for (const status of [200, 204, 205, 304, 404, 500]) {
  app(`status ${status} with a body`, sets({ status, body: 'hello' }))
  app(`a body with status ${status}`, sets({ body: { a: 1 }, status }))
}
app('status 418', ctx => { ctx.status = 418 }, { koa3: STATUSES1, expect: /I'm a teapot/ })
app('a type without a body', sets({ type: 'json' }))
for (const status of [204, 205, 304]) app(`a body with status ${status}, and a type`, sets({ status, body: 'hello', type: 'json' }))
app('an unknown status', ctx => { ctx.status = 799 }, UNKNOWN)
app('an unknown status with a body', sets({ status: 799, body: 'x' }), UNKNOWN)
app('a status that does not exist', ctx => { ctx.status = 1000 })
app('a status that is no number', ctx => { ctx.status = '200' })
app('a message', sets({ status: 200, message: 'Fine' }))
app('a message and a body', sets({ status: 200, message: 'Fine', body: 'x' }))
app('a message that cannot be sent', sets({ status: 200, message: 'a\r\nb' }), { skip: { fetch: 'sends no reason' } })

// headers

app('headers in order', ctx => {
  ctx.set('X-B', '1')
  ctx.set('x-a', '2')
  ctx.body = 'x'
  ctx.set('X-C', '3')
})
app('headers of an object', ctx => {
  ctx.set({ 'X-A': 1, 'X-B': ['a', 'b'], 'X-C': true })
  ctx.body = 'x'
})
app('a header of undefined', header(ctx => ctx.set('X-A', undefined)), { koa3: 'koa 3 throws for undefined' })
app('a header set twice', header(ctx => ctx.set('X-A', 'one'), ctx => ctx.set('x-a', 'two')))
app('a header appended', header(ctx => ctx.append('X-A', 'one'), ctx => ctx.append('X-A', ['two', 'three'])))
app('a header removed', header(ctx => ctx.set('X-A', 'one'), ctx => ctx.remove('x-a')))
app('a header in latin1', header(ctx => ctx.set('X-A', 'é')), { skip: { fetch: 'its Headers are latin1, not what a client reads as UTF-8' } })
app('a header beyond latin1', header(ctx => ctx.set('X-A', '☃')))
app('a header with a line break', header(ctx => ctx.set('X-A', 'a\r\nX-B: c')))
app('a header whose name is invalid', header(ctx => ctx.set('X A', 'a')))
app('an empty header', header(ctx => ctx.set('X-A', '')))
app('the content type removed', ctx => {
  ctx.body = 'x'
  ctx.remove('Content-Type')
})
app('the content length removed', ctx => {
  ctx.body = 'x'
  ctx.remove('Content-Length')
}, { skip: { fetch: 'sends the length that is known' } })
app('a Date of the app', header(ctx => ctx.set('Date', 'Mon, 06 May 2024 07:08:09 GMT')))
app('Connection: close of the app', header(ctx => ctx.set('Connection', 'close')))
app('Transfer-Encoding: chunked of the app', header(ctx => ctx.set('Transfer-Encoding', 'chunked')), { kone: LENGTHS, kone3: LENGTHS, expect: /\r\nContent-Length: 1\r\n/ })
app('Transfer-Encoding: chunked of the app, for a stream', ctx => {
  ctx.set('Transfer-Encoding', 'chunked')
  ctx.body = Readable.from(['x'])
}, { skip: { http2: 'koa 2 resets a stream of HTTP/2 for this field' } })
app('a length that is too short', sets({ body: 'hellö', length: 5 }), { kone: LENGTHS, kone3: LENGTHS, expect: /\r\nContent-Length: 6\r\n/ })
app('a length that is too long, of JSON', sets({ body: { a: 1 }, length: 8 }), { expect: /\r\nContent-Length: 7\r\n/ })
app('a length that is too long, HEAD', sets({ body: 'x', length: 8 }), { ask: 'HEAD /', kone: LENGTHS, kone3: LENGTHS, expect: /\r\nContent-Length: 1\r\n/ })
app('a length without a body', sets({ status: 401, length: 8 }), { expect: /\r\nContent-Length: 12\r\n/ })
app('a length without a body, HEAD', sets({ status: 401, length: 8 }), { ask: 'HEAD /' })
app('a length with 304', sets({ status: 304, length: 8 }))
app('vary', header(ctx => ctx.vary('Accept'), ctx => ctx.vary('Origin'), ctx => ctx.vary('accept')))
app('vary *', header(ctx => ctx.vary('*'), ctx => ctx.vary('Origin')))
app('an etag', sets({ etag: 'abc', body: 'x' }))
app('a weak etag', sets({ etag: 'W/"abc"', body: 'x' }))
app('last modified', sets({ lastModified: new Date(1e12), body: 'x' }))
app('several Set-Cookie', header(ctx => ctx.set('Set-Cookie', ['a=1', 'b=2']), ctx => ctx.append('Set-Cookie', 'c=3')))
for (const type of ['html', 'json', 'png', '.css', 'text/plain', 'image/svg+xml', 'application/xml',
  'text/html; charset=latin1', 'unknown', '']) {
  app(`type '${type}'`, sets({ type, body: 'x' }))
}
app("type 'js'", sets({ type: 'js', body: 'x' }), { koa3: MIME3 })
app('an attachment', header(ctx => ctx.attachment('a b.pdf')))
app('an attachment without a name', header(ctx => ctx.attachment()))
app('an attachment with a name beyond ASCII', header(ctx => ctx.attachment('☃.txt')))
app('an attachment, inline', ctx => {
  ctx.attachment('a.png', { type: 'inline' })
  ctx.body = 'x'
})

// redirects

app('a redirect', ctx => ctx.redirect('/login'))
app('a redirect for html', ctx => ctx.redirect('/login?a=<b>&c="d"'), { headers: html })
app('a redirect for json', ctx => ctx.redirect('/login'), { headers: { accept: 'application/json' } })
app('a redirect with a status', ctx => {
  ctx.status = 301
  ctx.redirect('/login')
})
app('a redirect with a status that does not exist', ctx => {
  ctx.status = 404
  ctx.redirect('/login')
})
app('a redirect elsewhere', ctx => ctx.redirect('https://example.org/a b?ü'))
app('a redirect without a path', ctx => ctx.redirect('https://example.org'))
app('a redirect beyond ASCII', ctx => ctx.redirect('/ü☃'))
app('a redirect to another scheme', ctx => ctx.redirect('myapp://cb?x=1'))
app('a redirect with a body of its own', ctx => {
  ctx.redirect('/login')
  ctx.body = 'see there'
})
app('a redirect with a line break', ctx => ctx.redirect('/a\r\nX-B: c'))
app('a redirect back', ctx => ctx.redirect('back', '/alt'), {
  headers: { referer: 'http://example.com/from' },
  koa3: `koa 3 has no 'back' in redirect(); ${V2}`
})
app('a redirect back to nowhere', ctx => ctx.redirect('back', '/alt'), {
  koa3: `koa 3 has no 'back' in redirect(); ${V2}`
})
app('a redirect back to another site', ctx => ctx.redirect('back', '/alt'), {
  headers: { referer: 'http://evil.example/from' },
  koa3: `koa 3 has no 'back' in redirect(); ${V2}`
})
app('a redirect back by a referrer that is not a URL', ctx => ctx.redirect('back', '/alt'), {
  headers: { referer: 'http://:x' },
  koa3: `koa 3 has no 'back' in redirect(); ${V2}`,
  kone: 'koa 2 responds with 500',
  expect: /Location: \/alt/
})
app('ctx.back()', ctx => ctx.back('/alt'), {
  headers: { referer: 'http://example.com/from' },
  koa3: 'koa 2 has no ctx.back()',
  kone: 'koa 2 has no ctx.back()',
  expect: /Location: http:\/\/example\.com\/from/
})
app('a redirect to javascript:', ctx => ctx.redirect('javascript:alert(1)'), {
  kone: 'koa sends clients there',
  expect: /^HTTP\/1\.1 500/,
  kone3: 'koa sends clients there'
})
app('a redirect to undefined', ctx => ctx.redirect(undefined), {
  kone: 'koa sends clients to /undefined',
  expect: /^HTTP\/1\.1 500/,
  kone3: 'koa sends clients to /undefined'
})

// errors

app('ctx.throw()', ctx => ctx.throw())
app('ctx.throw(400)', ctx => ctx.throw(400))
app("ctx.throw(400, 'message')", ctx => ctx.throw(400, 'message'))
app("ctx.throw('message', 400)", ctx => ctx.throw('message', 400), { koa3: `koa 3 takes the status first only; ${V2}` })
app('ctx.throw(error, 422)', ctx => ctx.throw(new Error('x'), 422), {
  koa3: `koa 3 takes the status first only; ${V2}`
})
app('ctx.throw(422, error)', ctx => ctx.throw(422, new Error('x')))
app('ctx.throw() beyond ASCII', ctx => ctx.throw(400, 'naïve ☃'))
app('ctx.throw() with markup', ctx => ctx.throw(400, '<script>'))
app('ctx.throw(500) with a message', ctx => ctx.throw(500, 'secret'))
app('ctx.throw() with headers', ctx => ctx.throw(401, 'who', { headers: { 'WWW-Authenticate': 'Basic' } }))
app('ctx.throw() with a Content-Type', ctx => {
  ctx.throw(400, 'x', { headers: { 'Content-Type': 'text/html', 'X-A': '1' } })
}, { koa3: 'koa 3 leaves the type of an error out, so that the order differs' })
app('ctx.throw() exposed', ctx => ctx.throw(500, 'sorry', { expose: true }))
app('ctx.assert()', ctx => ctx.assert(false, 403, 'no'))
app('ctx.assert.equal()', ctx => ctx.assert.equal(1, 2, 409, 'differ'))
app('an error', () => { throw new Error('secret') })
app('an error of an async function', async () => { throw new Error('secret') })
app('an error with a status', () => { throw Object.assign(new Error('x'), { status: 410, expose: true }) })
app('an error with a statusCode', () => { throw Object.assign(new Error('x'), { statusCode: 410 }) })
app('an error with an unknown status', () => { throw Object.assign(new Error('x'), { status: 799 }) })
for (const status of [202, 204, 302, 304, 600, 9000, 'notnumber']) {
  app(`an error with status ${status}`, () => {
    throw Object.assign(new Error('x'), { status, expose: true, headers: { Location: '/a' } })
  }, { skip: { http2: status < 600 && 'koa 2 sends a body with 204 and 304' } })
}
app('an error of another realm', () => { throw vm.runInNewContext("Object.assign(new Error('alien'), { status: 400, expose: true })") })
app('an error of a callback', ctx => {
  ctx.respond = false
  setImmediate(() => ctx.onerror(Object.assign(new Error('own'), { status: 402, expose: true })))
})
app('an error with ctx.respond = false', ctx => {
  ctx.respond = false
  throw new Error('boom')
})
app('an ENOENT', () => { throw Object.assign(new Error('x'), { code: 'ENOENT' }) }, {
  koa3: 'koa 3 responds with 500 to ENOENT'
})
app('an error after headers and body were set', ctx => {
  ctx.set('X-A', '1')
  ctx.cookies.set('a', 'b')
  ctx.body = { a: 1 }
  throw new Error('x')
})
app('an error caught', [
  async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      ctx.status = error.status
      ctx.body = { error: error.message }
    }
  },
  ctx => ctx.throw(409, 'conflict')
])
app('an error on the way out', [
  async (ctx, next) => {
    await next()
    ctx.throw(402)
  },
  ctx => { ctx.body = 'x' }
])
app('a string thrown', () => { throw 'text' }) // eslint-disable-line no-throw-literal
app('an object thrown', () => { throw { status: 404 } }) // eslint-disable-line no-throw-literal
app('null thrown', () => { throw null }, { // eslint-disable-line no-throw-literal
  kone: 'koa takes null for no error and never responds',
  expect: /^HTTP\/1\.1 500/,
  hangs: 'koa'
})
app('json that cannot be made', ctx => {
  ctx.body = {}
  ctx.body.self = ctx.body
})
app('a BigInt in json', ctx => { ctx.body = { n: 1n } })
app('next() twice', async (ctx, next) => {
  await next()
  await next()
})

// cookies

app('a cookie', header(ctx => ctx.cookies.set('a', 'b')))
app('cookies with all options', ctx => {
  ctx.cookies.set('a', 'b', {
    httpOnly: false, path: '/p', domain: 'example.com', sameSite: 'strict', expires: new Date(1e12), overwrite: true
  })
  ctx.cookies.set('a', 'c', { overwrite: true })
  ctx.body = 'x'
})
app('a signed cookie', ctx => {
  ctx.cookies.set('a', 'b', { signed: true })
  ctx.body = 'x'
}, { options: { keys: ['secret'] } })
app('a signed cookie without keys', header(ctx => ctx.cookies.set('a', 'b', { signed: true })))
app('a secure cookie behind a proxy that says https', header(
  ctx => ctx.cookies.set('a', 'b', { secure: true }), ctx => ctx.cookies.set('c', 'd')
), { headers: { 'x-forwarded-proto': 'https' }, options: { proxy: true } })
app('a cookie removed', header(ctx => ctx.cookies.set('a')))
app('a cookie that is invalid', header(ctx => ctx.cookies.set('a', 'b\r\nc')))
app('a secure cookie in the clear', ctx => {
  ctx.cookies.set('a', 'b', { secure: true })
  ctx.body = 'x'
})
app('cookies read', ctx => { ctx.body = [ctx.cookies.get('a'), ctx.cookies.get('b') ?? 'none'] }, {
  headers: { cookie: 'x=y; a="q"; c=d' }
})
app('signed cookies read, also of an older key, and one that is forged', ctx => {
  ctx.body = ['name', 'old', 'forged'].map(name => ctx.cookies.get(name, { signed: true }) ?? 'none')
}, {
  options: { keys: ['a', 'b'] },
  headers: {
    cookie: 'name=jon; name.sig=FbCmGlw6Fv7VhZ3y8DO7x-Zdjgo; old=jim; old.sig=iHJHne5ie0ajaX3H3bDu6M4-2sM; ' +
      'forged=bob; forged.sig=FbCmGlw6Fv7VhZ3y8DO7x-Zdjgo'
  }
})

// requests

const read = (title, fields, more) => app(`reads ${title}`, ctx => {
  ctx.body = fields.map(field => [field, typeof field === 'function' ? field(ctx) : ctx[field]])
}, more)

read('the basics', ['method', 'url', 'originalUrl', 'path', 'querystring', 'search', 'query'], {
  ask: 'GET /a/b%20c?d=e&d=f&g'
})
read('the host', ['host', 'hostname', 'origin', 'href', 'protocol', 'secure', 'subdomains'], {
  headers: { host: 'a.b.example.com:8080' },
  koa3: 'ctx.origin is the Origin header in koa 3'
})
read('the host behind a proxy', ['host', 'hostname', 'href', 'protocol', 'secure', 'ips', 'ip'], {
  headers: {
    'x-forwarded-host': 'front.example, b', 'x-forwarded-proto': 'https, http', 'x-forwarded-for': '1.2.3.4, 5.6.7.8'
  },
  options: { proxy: true }
})
read('the client behind a proxy with a limit', ['ips', 'ip'], {
  headers: { 'x-forwarded-for': '1.2.3.4, 5.6.7.8' }, options: { proxy: true, maxIpsCount: 1 }
})
read('no proxy', ['host', 'protocol', 'ips'], {
  headers: { 'x-forwarded-host': 'x', 'x-forwarded-proto': 'https', 'x-forwarded-for': '1.2.3.4' }
})
read('negotiation', [
  ctx => ctx.accepts('html', 'json'), ctx => ctx.accepts('png'), ctx => ctx.accepts(),
  ctx => ctx.acceptsEncodings('br', 'gzip'), ctx => ctx.acceptsCharsets(), ctx => ctx.acceptsLanguages('de', 'en')
], {
  headers: {
    accept: 'text/html;q=.5, application/json', 'accept-encoding': 'gzip', 'accept-charset': 'utf-8', 'accept-language': 'en'
  }
})
read('negotiation without headers', [
  ctx => ctx.accepts('html', 'json'), ctx => ctx.accepts(), ctx => ctx.acceptsEncodings(), ctx => ctx.acceptsLanguages()
])
read('a body', [
  ctx => ctx.is('json', 'html'), ctx => ctx.is('text/*'), ctx => ctx.request.length, ctx => ctx.request.type,
  ctx => ctx.request.charset
], { ask: 'POST /', headers: { 'content-type': 'application/json; charset=latin1' }, body: '{}' })
read('no body', [ctx => ctx.is('json'), ctx => ctx.request.length ?? 'none', ctx => ctx.request.type])
read('headers', [
  ctx => ctx.get('X-A'), ctx => ctx.get('Referrer'), ctx => ctx.get('none'), ctx => ctx.headers, ctx => ctx.idempotent
], { headers: { 'X-A': 'b', 'X-Empty': '', Referer: 'http://c' }, ...OWN_HEADERS })
read('JSON of ctx', ['request', 'response', 'app'].map(part => ctx => ctx[part].toJSON()), OWN_HEADERS)
read('freshness', ['fresh', 'stale'], { headers: { 'if-none-match': '"a"' } })

for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
  app(`${method}`, ctx => { ctx.body = ctx.method }, { ask: `${method} /` })
}
app('a 304 by etag', ctx => {
  ctx.body = 'hello'
  ctx.etag = 'v1'
  if (ctx.fresh) ctx.status = 304
}, { headers: { 'if-none-match': '"v1"' } })
app('a request body', async ctx => {
  const chunks = []
  for await (const chunk of ctx.req) chunks.push(chunk)
  ctx.body = Buffer.concat(chunks).toString()
}, { ask: 'POST /', body: 'hello=world' })
app('a chunked request body', async ctx => {
  let text = ''
  for await (const chunk of ctx.req) text += chunk
  ctx.body = text
}, { ask: 'POST /', headers: { 'transfer-encoding': 'chunked' }, body: '5\r\nhello\r\n0\r\n\r\n' })
app('a request body nobody reads', ctx => { ctx.body = 'x' }, { ask: 'POST /', body: 'unread' })
app('a url rewritten', [
  (ctx, next) => {
    ctx.url = '/new?a=b'
    return next()
  },
  ctx => { ctx.body = [ctx.path, ctx.query, ctx.originalUrl, ctx.href] }
], { ask: 'GET /old' })
app('a path and a query rewritten', [
  (ctx, next) => {
    ctx.path = '/new'
    ctx.query = { c: ['d', 'e'] }
    return next()
  },
  ctx => { ctx.body = [ctx.url, ctx.search] }
], { ask: 'GET /old?a=b' })
app('a HEAD made a GET', sets({ method: 'GET', body: 'x' }), { ask: 'HEAD /' })
app('a HEAD made a GET, written by the app', ctx => {
  ctx.method = 'GET'
  ctx.respond = false
  ctx.res.statusCode = 200
  ctx.res.end('x')
}, { ask: 'HEAD /', keepAlive: true, skip: { fetch: 'has no length of what is written' } })
app('a POST made a DELETE', (ctx, next) => {
  ctx.method = 'DELETE'
  ctx.body = [ctx.method, ctx.req.method, ctx.request.method]
}, { ask: 'POST /', keepAlive: true })

// apps

app('five layers', [1, 2, 3, 4, 5].map(n => async (ctx, next) => {
  ctx.append('X-In', String(n))
  await next()
  ctx.append('X-Out', String(n))
}))
app('layers that return next()', [
  (ctx, next) => next(),
  (ctx, next) => next().then(() => { ctx.body += '!' }),
  ctx => { ctx.body = 'hi' }
])
app('a layer that does not wait', [
  (ctx, next) => { next() },
  async ctx => {
    ctx.body = 'in time'
    await null
    ctx.set('X-Late', 'maybe')
  }
])
app('own prototypes', ctx => ctx.greet(), {
  set (app) {
    app.context.greet = function () { this.body = `hello ${this.request.shout}` }
    Object.defineProperty(app.request, 'shout', { get () { return this.url.toUpperCase() } })
  },
  ask: 'GET /loud'
})
for (const [name, value] of Object.entries({ body: { own: true }, message: 'Own' })) {
  app(`an own ctx.${name}`, [], { set ({ context }) { Object.defineProperty(context, name, { get: () => value }) } })
}
app('an own onerror', () => { throw new Error('x') }, {
  set (app) {
    app.context.onerror = function (error) {
      if (!error) return
      this.status = 503
      this.res.end(`own ${error.message}`)
    }
  }
})
app('state', [
  (ctx, next) => {
    ctx.state.a = 1
    return next()
  },
  ctx => { ctx.body = ctx.state }
])
app('the current context', [
  async (ctx, next) => {
    await null
    await next()
  },
  ctx => { ctx.body = String(ctx.app.currentContext === ctx) }
], { options: { asyncLocalStorage: true } })

// connections: a second request behind the first tells whether the first kept the connection

const kept = (title, middleware, more) => app(`keeps alive after ${title}`, middleware, { ...more, keepAlive: true })
kept('a string', ctx => { ctx.body = 'hello' })
kept('json', ctx => { ctx.body = { a: 1 } })
kept('204', ctx => { ctx.status = 204 })
kept('304', ctx => { ctx.status = 304 })
kept('404', () => {})
kept('500', () => { throw new Error('x') })
kept('HEAD', ctx => { ctx.body = 'hello' }, { ask: 'HEAD /' })
kept('a stream', ctx => { ctx.body = Readable.from(['a', 'b']) })
kept('a request body', ctx => { ctx.body = 'x' }, { ask: 'POST /', body: 'hello' })
kept('an app-set close', header(ctx => ctx.set('Connection', 'close')))

module.exports = apps
