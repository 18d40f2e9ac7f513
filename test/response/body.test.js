'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const { PassThrough, Readable } = require('node:stream')
const { promisify } = require('node:util')
const Koa = require('koa')

const { response } = require('../helpers/context')
const Kone = require('../helpers/kone')
const rows = require('../helpers/rows')

/** Sets each body; then the status, the type, the length and whether it was sent along. */
const set = (...bodies) => given(() => {}, ...bodies)

/** The same behind what `prepare` does. */
const given = (prepare, ...bodies) => ctx => {
  prepare(ctx)
  for (const body of bodies) ctx.body = typeof body === 'function' ? body() : body
  return [ctx.status, ctx.response.get('Content-Type'), ctx.length, ctx.response.get('Content-Length')]
}

const TEXT = 'text/plain; charset=utf-8'
const HTML = 'text/html; charset=utf-8'
const JSON_TYPE = 'application/json; charset=utf-8'
const BIN = 'application/octet-stream'
const stream = () => new PassThrough()
/** What readable-stream and web shims give: everything but the prototype. */
const foreign = () => ({
  pipe () {},
  read () {},
  on () { return this },
  once () { return this },
  removeListener () { return this },
  destroy () { this.destroyed = true },
  destroyed: false,
  readable: true,
  readableObjectMode: false
})
const png = ctx => { ctx.type = 'png' }
const KOA = { koa: 'has no bodies of the web' }

/** Which setters of ctx.response `act` calls, with their values: Egg has its own, of other names of fields. */
const assigned = act => ctx => {
  const calls = []
  for (const name of ['type', 'length', 'status']) {
    let of = ctx.response
    while (!Object.hasOwn(of, name)) of = Object.getPrototypeOf(of)
    const { get, set } = Object.getOwnPropertyDescriptor(of, name)
    Object.defineProperty(ctx.response, name, {
      configurable: true,
      get,
      set (value) {
        calls.push(`${name}=${value}`)
        set.call(this, value)
      }
    })
  }
  act(ctx)
  return [...calls]
}
const assignedBy = body => assigned(ctx => { ctx.body = typeof body === 'function' ? body() : body })

rows('ctx.body=', [
  ['should be text', set('Tobi'), [200, TEXT, 4, '4']],
  ['should be empty text', set(''), [200, TEXT, 0, '0']],
  ['should be html when it begins with <', set('<h1>Tobi</h1>'), [200, HTML, 13, '13']],
  ['should be html behind blanks', set('\n\t <p>'), [200, HTML, 6, '6']],
  ['should be text with markup later', set('hello <b>'), [200, TEXT, 9, '9']],
  ['should count bytes', set('ü☃'), [200, TEXT, 5, '5']],
  ['should count again when set again, and keep the type', set('<h1>Tobi</h1>', 'Loki'), [200, HTML, 4, '4']],
  ['should be bin with a length for a Buffer', set(Buffer.from('Tobi')), [200, BIN, 4, '4']],
  ['should be json without a length yet', set({ a: 1 }), [200, JSON_TYPE, 7, '']],
  ['should be json in place of text', set('hello', { a: 1 }), [200, JSON_TYPE, 7, '']],
  ['should follow an object until it is sent', given(ctx => {
    ctx.body = { a: 1 }
    ctx.body.b = 2
  }), [200, JSON_TYPE, 13, '']],
  ['should be bin without a length for a stream', set(stream), [200, BIN, undefined, '']],
  ['should take a stream of another library for one by its shape', set(foreign), [200, BIN, undefined, ''],
    { koa: 'knows the class of node alone' }],
  ['should be json for what looks a little like one', set({ pipe () {}, readable: true }), [200, JSON_TYPE, 17, '']],
  ['should remove the length for a stream', set('something', stream), [200, TEXT, undefined, '']],
  ['should keep the length that the app knows', given(ctx => { ctx.length = 12 }, stream), [200, BIN, 12, '12']],
  ['should keep a type of text', given(png, '<em>hey</em>'), [200, 'image/png', 12, '12']],
  ['should keep a type of bytes', given(png, Buffer.from('hey')), [200, 'image/png', 3, '3']],
  ['should keep a type of a stream', given(png, stream), [200, 'image/png', undefined, '']],
  ['should keep a status', given(ctx => { ctx.status = 201 }, 'hey'), [201, TEXT, 3, '3']],
  ...[null, undefined].flatMap(empty => [
    [`should be 204 without type and length for ${empty}`, set('text', empty), [204, '', undefined, '']],
    [`should keep another status without a body for ${empty}`, given(ctx => { ctx.status = 304 }, empty), [304, '', undefined, '']]
  ]),
  ...[null, undefined].map(empty => [`should remove an encoding for ${empty}, and remember whether it is explicit`, ctx => {
    ctx.set('Transfer-Encoding', 'chunked')
    ctx.body = empty
    const { _explicitNullBody, _explicitStatus, header } = ctx.response
    return [{ ...header }, _explicitNullBody, _explicitStatus]
  }, [{}, empty === null ? true : undefined, true], { res: {} }]),
  ...['', 'hey', Buffer.from('a'), { a: 1 }, [1], 0, false, true, null].map(body => [`should be read as it was set: ${body}`, ctx => {
    const before = ctx.body
    ctx.body = body
    return [before, ctx.body === body, ctx.response.body === body]
  }, [undefined, true, true]]),
  ['should have the type and the size of a Blob', set(new Blob(['hello'], { type: 'text/css' })),
    [200, 'text/css; charset=utf-8', 5, '5'], KOA],
  ['should be bin for a Blob without a type', set(new Blob(['hello'])), [200, BIN, 5, '5'], KOA],
  ['should be bin without a length for a ReadableStream', set(() => new Response('a').body), [200, BIN, undefined, ''], KOA],
  ['should have the status and the type of a Response',
    set(() => new Response('hello', { status: 201, headers: { 'content-type': 'text/css' } })), [201, 'text/css', undefined, ''], KOA]
])

describe('ctx.body=', () => {
  it('should listen once for errors of a stream that is set again, and leave it alone', () => {
    const stream = new PassThrough()
    const res = response()
    for (let i = 0; i < 2; i++) {
      res.body = stream
      assert.deepEqual([stream.listenerCount('error'), stream.destroyed], [1, false])
    }
  })

  for (const [what, body, isDestroyed] of [
    ['text', 'text', true], ['bytes', Buffer.from('bytes'), true], ['json', { a: 1 }, true], ['nothing', null, true],
    ['another stream, which may read from it', new PassThrough(), false]
  ]) {
    it(`should ${isDestroyed ? 'destroy' : 'keep'} the stream that is replaced by ${what}, and survive its error`, () => {
      const first = new PassThrough()
      const res = response()
      res.body = first
      res.body = body
      assert.equal(first.destroyed, isDestroyed)
      first.emit('error', new Error('nobody listens'))
    })
  }
})

describe('ctx.body= where globals are missing', () => {
  // Jest's jsdom has none of the last ones. Without ReadableStream or Blob node's own Response cannot be read.
  for (const names of [
    ['Response'], ['Blob', 'Response'], ['ReadableStream', 'Response'], ['ReadableStream', 'Response', 'Blob', 'setImmediate']
  ]) {
    it(`should be sent as everywhere, without ${names.join(', ')}`, async () => {
      const program = `
        for (const name of ${JSON.stringify(names)}) delete globalThis[name]
        const { Readable } = require('node:stream')
        const Kone = require('kone')
        class Model { toJSON () { return { model: true } } }
        const bodies = {
          '/json': () => ({ a: 1 }),
          '/list': () => [1, 2],
          '/model': () => new Model(),
          '/instance': () => Object.assign(Object.create({ inherited: true }), { own: true }),
          '/string': () => 'string',
          '/buffer': () => Buffer.from('buffer'),
          '/stream': () => Readable.from(['stream'])
        }
        const app = new Kone()
        app.use(ctx => {
          ctx.onFinished(() => {})
          ctx.body = ctx.query.first ? { first: true } : 'replaced'
          ctx.body = bodies[ctx.path]()
        })
        const inject = async (method, url) => {
          const res = await app.inject({ method, url })
          return [res.status, res.text()]
        }
        const responses = Object.keys(bodies).flatMap(url => [inject('GET', url), inject('GET', url + '?first=1'), inject('HEAD', url)])
        Promise.all(responses).then(all => process.stdout.write(JSON.stringify(all)))
      `
      const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], { cwd: __dirname })
      const texts = ['{"a":1}', '[1,2]', '{"model":true}', '{"own":true}', 'string', 'buffer', 'stream']
      assert.deepEqual(JSON.parse(stdout), texts.flatMap(text => [[200, text], [200, text], [200, '']]))
    })
  }
})

rows('the setters of ctx.response that an app has replaced', [
  ['should get the type and length of text', assignedBy('Tobi'), ['status=200', 'type=text', 'length=4']],
  ['should get those of html', assignedBy(' <p>'), ['status=200', 'type=html', 'length=4']],
  ['should get those of a Buffer', assignedBy(Buffer.from('Tobi')), ['status=200', 'type=bin', 'length=4']],
  ['should get the type of json', assignedBy({ a: 1 }), ['status=200', 'type=json']],
  ['should get the type of an array', assignedBy([1]), ['status=200', 'type=json']],
  ['should get the type of a stream', assignedBy(stream), ['status=200', 'type=bin']],
  ['should get the status of no body', assignedBy(null), ['status=204']],
  ['should get nothing that is set', assigned(ctx => { ctx.status = 201; ctx.type = 'png'; ctx.body = 'a' }), ['status=201', 'type=png', 'length=1']],
  ['should get those of a redirect', assigned(ctx => ctx.redirect('/a')),
    ['status=302', 'type=text/html; charset=utf-8', 'length=18']],
  ['should get the type of an attachment', assigned(ctx => ctx.attachment('a.png')), ['type=.png']],
  ['should get the type of a ReadableStream', assignedBy(() => new ReadableStream()), ['status=200', 'type=bin'], KOA],
  ['should get the type and length of a Blob', assignedBy(() => new Blob(['a'])), ['status=200', 'type=bin', 'length=1'], KOA],
  ['should get the status and type of a Response', assignedBy(() => new Response('a', { headers: { 'content-type': 'a/b' } })),
    ['status=200', 'status=200', 'type=bin'], KOA]
])

// As Egg's, whose names of fields are in lower case.
const SETTERS = {
  type: { set (type) { this.set('content-type', type === 'json' ? 'application/json' : 'text/plain') } },
  length: {
    get: Object.getOwnPropertyDescriptor(require('koa/lib/response'), 'length').get,
    set (length) { this.set('content-length', length) }
  }
}

describe('ctx.response with setters of an app', () => {
  const written = async (Framework, method) => {
    const app = new Framework()
    app.silent = true
    Object.defineProperties(app.response, SETTERS)
    const bodies = ['text', Buffer.from('a'), { a: 1 }, [], null, undefined, Readable.from(['a'])]
    app.use(ctx => {
      const at = Number(ctx.path.slice(1))
      if (at === bodies.length) ctx.throw(400, 'wrong')
      ctx.body = bodies[at]
    })
    const server = app.listen(0)
    const fields = []
    for (let at = 0; at <= bodies.length; at++) {
      const req = http.request({ port: server.address().port, path: `/${at}`, method }).end()
      const [res] = await once(req, 'response')
      res.resume()
      fields.push(res.rawHeaders.filter(name => /^content-/i.test(name)))
    }
    server.close()
    server.closeAllConnections()
    return fields
  }

  for (const method of ['GET', 'HEAD']) {
    it(`should name the fields of ${method} as in Koa`, async () => {
      assert.deepEqual(await written(Kone, method), await written(Koa, method))
    })
  }
})
