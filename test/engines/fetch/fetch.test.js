'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { getEventListeners, once } = require('node:events')
const { STATUS_CODES } = require('node:http')
const { Readable } = require('node:stream')
const { setImmediate } = require('node:timers/promises')
const { inspect } = require('node:util')

const Kone = require('../../helpers/kone')
const catchUncaught = require('../../helpers/uncaught')
const until = require('../../helpers/until')

/** An app with these middleware, its errors in `errors`. */
function make (...middleware) {
  const app = new Kone()
  app.errors = []
  app.on('error', err => app.errors.push(err))
  for (const fn of middleware) app.use(fn)
  return app
}

const request = (url = '/', init) => new Request(new URL(url, 'http://kone.example'), init)
const upload = (body, more) => request('/', { method: 'POST', body, duplex: 'half', ...more })
const hi = ctx => { ctx.body = 'hi' }
const send = (body, { status = 200, ...fields }) => ctx => {
  Object.assign(ctx, { body, status })
  ctx.set(fields)
}
const never = () => assert.fail('must not run')

/** A stream of a request's or response's body that a test writes into. */
function channel () {
  let controller
  const stream = new ReadableStream({ start (made) { controller = made } })
  return { stream, write: text => controller.enqueue(Buffer.from(text)), end: () => controller.close() }
}

/** A body that never ends, how many chunks were read, and whether it was cancelled. */
function source () {
  const made = { cancelled: false, pulls: 0 }
  made.stream = new ReadableStream({
    pull (controller) {
      made.pulls++
      controller.enqueue(Buffer.alloc(16))
    },
    cancel () { made.cancelled = true }
  })
  return made
}

/** All that a Response shows, and the errors of the app. */
async function shown (app, request, info) {
  const response = await app.fetch(request, info)
  assert(response instanceof Response)
  const { body, headers, status, statusText } = response
  const seen = { status, ...Object.fromEntries(headers), body: body && await response.text() }
  if (statusText !== STATUS_CODES[status]) seen.statusText = statusText
  if (headers.has('set-cookie')) seen['set-cookie'] = headers.getSetCookie()
  if (app.errors.length > 0) seen.errors = app.errors.map(err => err.message)
  return seen
}

const TEXT = 'text/plain; charset=utf-8'
const text = (body, type = TEXT) => ({ status: 200, 'content-type': type, 'content-length': `${Buffer.byteLength(body)}`, body })

const ON_BUN = request() // Bun's server knows the peer of this one
const PEERS = [
  [{ remoteAddr: { transport: 'tcp', hostname: '10.0.0.1', port: 80 } }, '10.0.0.1'],
  [{ ip: '::1' }, '::1'],
  [{ requestIP: given => given === ON_BUN ? { address: '10.0.0.3', port: 1 } : null }, '10.0.0.3'],
  ...[{ remoteAddr: { transport: 'unix', path: '/a' } }, { requestIP: () => null }, { ip: 'junk' }, { env: 1 }, 'junk', null, undefined]
    .map(info => [info, ''])
]

/** A row: a title, a handler, the request, and all that comes. It has to come also when ctx.req and ctx.res were read. */
const ROWS = [
  ['should have the status, message, fields and cookies', ctx => {
    ctx.status = 201
    ctx.message = 'Made'
    ctx.set('X-A', ['1', '2'])
    ctx.cookies.set('a', 'b')
    ctx.cookies.set('c', 'd')
    ctx.body = { a: 1 }
  }, request(), {
    ...text('{"a":1}', 'application/json; charset=utf-8'),
    status: 201,
    statusText: 'Made',
    'x-a': '1, 2',
    'set-cookie': ['a=b; path=/; httponly', 'c=d; path=/; httponly']
  }],
  ['should have the message of the status for an empty one', ctx => Object.assign(ctx, { body: 'a', message: '' }), request(), text('a')],
  ['should give ctx what a client would have sent', ctx => {
    ctx.body = [ctx.method, ctx.url, ctx.host, ctx.protocol, ctx.href, ctx.get('x-a'), ctx.query.b].join(' ')
  }, request('https://user.example:8443/a?b=c#d', { method: 'PUT', headers: { 'X-A': '1' } }),
  text('PUT /a?b=c user.example:8443 https https://user.example:8443/a?b=c 1 c')],
  ...['é', Buffer.from('é')].flatMap(body => [['text/x', 'text/x'], [['text/x', 'text/y'], 'text/x, text/y']].map(([type, expected]) => [
    `should have the type that was set: ${type}, of a ${body.constructor.name}`,
    send(body, { 'Content-Type': type }), request(), text('é', expected)
  ])),
  ...['é', Buffer.from('é')].map(body => [`should have no type that was removed, of a ${body.constructor.name}`, ctx => {
    ctx.body = body
    ctx.remove('Content-Type')
  }, request(), { status: 200, 'content-length': '2', body: 'é' }]),
  ['should leave the fields of a connection to the server that sends the Response', ctx => {
    ctx.set({ Connection: 'close', 'Keep-Alive': 'timeout=5' })
    ctx.body = Readable.from(['a'])
  }, request(), { status: 200, 'content-type': 'application/octet-stream', body: 'a' }],
  ['should have no body for HEAD', hi, request('/', { method: 'HEAD' }), { ...text('hi'), body: null }],
  ...[204, 304].map(status => [`should have no body for ${status}`, send('text', { status }), request(), { status, body: null }]),
  ...PEERS.map(([info, ip]) => [
    `should know ${ip ? 'the' : 'no'} peer by ${inspect(info, { breakLength: Infinity })}`, ctx => { ctx.body = `ip ${ctx.ip}` },
    ip === '10.0.0.3' ? ON_BUN : request(), text(`ip ${ip}`), info
  ])
]

/** Requests, and the fields beside Host that a client would send. */
const TYPE = { 'content-type': 'text/plain;charset=UTF-8' }
const FIELDS = [
  [{}, {}],
  [{ headers: { 'Set-Cookie': 'a=b', 'X-A': '1', ['__proto__']: 'x', 12: 'digits' } }, { 'set-cookie': ['a=b'], 'x-a': '1', 12: 'digits' }],
  [{ headers: { Host: 'other' } }, { host: 'other' }],
  [{ method: 'POST' }, { 'content-length': '0' }],
  [{ method: 'DELETE' }, {}],
  ...['POST', 'DELETE'].flatMap(method => [
    [{ method, body: 'abc' }, { 'transfer-encoding': 'chunked', ...TYPE }],
    [{ method, body: 'abc', headers: { 'Content-Length': '3' } }, { 'content-length': '3', ...TYPE }],
    [{ method, body: 'abc', headers: { 'Transfer-Encoding': 'chunked' } }, { 'transfer-encoding': 'chunked', ...TYPE }]
  ])
]
const NAMES = ['host', 'set-cookie', 'x-a', '__proto__', '12', 'content-length', 'transfer-encoding', 'content-type', 'a b', 'ä', '', 'constructor']

describe('app.fetch', () => {
  it('should be an own, bound property that is not enumerable', async () => {
    const app = make(hi)
    const { fetch } = app
    assert.equal(await (await fetch(request())).text(), 'hi')
    assert.deepEqual([Object.hasOwn(app, 'fetch'), Object.keys(app).includes('fetch'), 'fetch' in Kone.prototype], [true, false, false])
  })

  it('should leave a method of a subclass alone', () => {
    class Own extends Kone {
      fetch () { return 'own' }
    }
    assert.equal(new Own().fetch(), 'own')
  })

  it('should load nothing before it is called', () => {
    // lib/engines/memory/pipe.js is what app.inject() needs, too
    const script = `
      const Kone = require('kone')
      new Kone()
      console.log(Object.keys(require.cache).filter(file => /lib.fetch|lib.pipe/.test(file)).length)`
    assert.equal(execFileSync(process.execPath, ['-e', script], { cwd: __dirname, encoding: 'utf8' }), '0\n')
  })

  for (const [init, expected] of FIELDS) {
    it(`should give fields alone and together as a client would send them, of ${JSON.stringify(init)}`, async () => {
      const alone = ({ request }) => Object.fromEntries(NAMES.map(name => [name, request.get(name)]).filter(([, value]) => value !== ''))
      const together = ({ headers }) => ({ ...headers })
      const distinct = ({ req: { headersDistinct } }) => Object.fromEntries(Object.entries(headersDistinct)
        .map(([name, values]) => [name, name === 'set-cookie' ? values : values[0]]))
      for (const looks of [[alone, together, alone], [together, alone], [distinct, together]]) {
        let seen
        await make(ctx => { seen = looks.map(look => look(ctx)) }).fetch(request('/', init))
        assert.deepEqual(seen, looks.map(() => ({ host: 'kone.example', ...expected })))
      }
    })
  }

  it('should serve an app whose createContext was replaced', async () => {
    const app = make(ctx => { ctx.body = ctx.seen })
    const { createContext } = app
    app.createContext = function (req, res) {
      return Object.assign(createContext.call(this, req, res), { seen: req.constructor.name })
    }
    assert.deepEqual(await shown(app, request()), text('IncomingMessage'))
  })

  it('should reject with what a ctx.onerror of the app’s own throws', async () => {
    const app = make(() => { throw new Error('first') })
    app.context.onerror = () => { throw new Error('second') }
    await assert.rejects(app.fetch(request()), { message: 'second' })
  })

  it('should reject where it throws for the error of a connection', async t => {
    const uncaught = catchUncaught(t)
    const app = make(ctx => {
      ctx.socket.destroy(new Error('first'))
      return new Promise(() => {})
    })
    app.context.onerror = err => { throw err }
    await assert.rejects(app.fetch(request()), { code: 'ECONNRESET' })
    assert.deepEqual(uncaught.map(({ message }) => message), ['first'])
  })

  it('should refuse what is not a Request that can be read', async () => {
    const used = upload('a')
    await used.text()
    const locked = upload('a')
    locked.body.getReader()
    for (const [message, ...values] of [
      [/request must be a web Request/, undefined, null, 'http://a/', {}, { url: 'http://a/' }, new Request('data:,a')],
      [/was already read/, used, locked]
    ]) for (const value of values) await assert.rejects(make(never).fetch(value), { name: 'TypeError', message })
  })

  it('should respond with 500 for a status that a Response cannot have', async () => {
    assert.deepEqual(await shown(make(send('a', { status: 700 })), request()), {
      ...text('Internal Server Error'), status: 500, errors: ['a web Response has a status from 200 to 599, not 700']
    })
  })

  it('should close ctx.res after the response', async () => {
    const events = []
    const app = make(ctx => {
      for (const name of ['finish', 'close']) ctx.res.on(name, () => events.push(name))
      ctx.body = 'a'
    })
    await shown(app, request())
    await until(() => events.length === 2)
    assert.deepEqual(events, ['finish', 'close'])
  })
})

const touch = (ctx, next) => {
  assert(ctx.req && ctx.res)
  return next()
}

for (const [name, first] of [['', (ctx, next) => next()], [' when ctx.req and ctx.res were read', touch]]) {
  describe(`the responses of app.fetch${name}`, () => {
    for (const [title, fn, request, expected, info] of ROWS) {
      it(title, async () => assert.deepEqual(await shown(make(first, fn), request, info), expected))
    }
  })

  describe(`the bodies of app.fetch${name}`, () => {
    it('should stream both ways at once', async () => {
      const app = make(first, ctx => {
        ctx.body = Readable.from((async function * () {
          for await (const chunk of ctx.req) yield String(chunk).toUpperCase()
        })())
      })
      const { stream, write, end } = channel()
      write('first')
      const reader = (await app.fetch(upload(stream))).body.getReader()
      const read = async () => String(Buffer.from((await reader.read()).value ?? 'the end'))
      assert.equal(await read(), 'FIRST')
      write('second')
      assert.equal(await read(), 'SECOND')
      end()
      assert.equal(await read(), 'the end')
    })

    it('should refuse what is longer than the limit, and read no more of it', async () => {
      const body = source()
      const app = make(first, async ctx => { ctx.body = await ctx.request.readBody({ limit: 20 }) })
      assert.equal((await app.fetch(upload(body.stream))).status, 413)
      await setImmediate()
      const { pulls } = body
      await setImmediate()
      assert.equal(body.pulls, pulls)
    })

    it('should have ended when its stream has, before the caller has read it', async () => {
      let ctx
      const app = make(first, made => {
        ctx = made
        ctx.body = Readable.from(['a', 'b'])
      })
      const response = await app.fetch(request())
      await until(() => !ctx.writable)
      assert.equal(ctx.outgoing.writableEnded, true)
      assert.equal(await response.text(), 'ab')
    })

    it('should hold a stream back while nobody reads, and carry all of it', async () => {
      let made = 0
      const app = make(first, ctx => {
        ctx.body = Readable.from((async function * () {
          for (; made < 200; made++) yield Buffer.alloc(16384, 'x')
        })())
      })
      const response = await app.fetch(request())
      for (let i = 0; i < 20; i++) await setImmediate()
      assert(made < 50, `${made} chunks were made for nobody`)
      assert.equal((await response.arrayBuffer()).byteLength, 200 * 16384)
    })

    for (const [title, stop] of [
      ['the reader cancels', reader => reader.cancel()],
      ['the request is aborted', (reader, abort) => { abort.abort(); return assert.rejects(reader.read()) }]
    ]) {
      it(`should end a stream, and report it, when ${title}`, async () => {
        const abort = new AbortController()
        const body = new Readable({ read () {} })
        body.push('a')
        const app = make(first, ctx => { ctx.body = body })
        const finished = once(app, 'finish')
        const reader = (await app.fetch(request('/', { signal: abort.signal }))).body.getReader()
        await reader.read()
        await stop(reader, abort)
        await finished
        await until(() => body.destroyed)
      })
    }

    for (const [title, fn, code = 'KONE_ERR_BODY_USED'] of [
      ['a string', hi],
      ['an empty body', ctx => { ctx.body = '' }],
      ['no body', ctx => { ctx.status = 204 }],
      ['nothing set', () => {}],
      ['an error', () => { throw new Error('on purpose') }],
      ['a refusal', ctx => ctx.throw(413)],
      ['a limit below Content-Length', async ctx => { await ctx.request.readBody({ limit: 1 }) }, 'KONE_ERR_BODY_LIMIT'],
      ['a stream', ctx => { ctx.body = Readable.from(['a', 'b']) }],
      ['a web stream', ctx => { ctx.body = new Response('text').body }],
      ['ctx.req and ctx.res, read late', ctx => touch(ctx, () => hi(ctx))],
      ['ctx.req.resume()', ctx => ctx.req.resume() && hi(ctx)]
    ]) {
      it(`should cancel a request’s body that nobody read when the response is settled: ${title}`, async () => {
        for (const method of ['POST', 'DELETE']) {
          const body = source()
          let late
          const app = make((ctx, next) => {
            late = new Promise(resolve => ctx.onFinished(resolve)).then(() => ctx.request.readBody()).catch(err => err.code)
            return next()
          }, first, fn)
          const response = await app.fetch(upload(body.stream, { method, headers: { 'Content-Length': '1000' } }))
          await response.text()
          await until(() => body.cancelled)
          assert.equal(await late, code)
        }
      })
    }

    it('should cancel it no earlier than the response is read', async () => {
      const sent = channel()
      const body = source()
      const req = upload(body.stream)
      sent.write('a')
      const response = await make(first, ctx => { ctx.body = sent.stream }).fetch(req)
      await setImmediate()
      assert.deepEqual([body.cancelled, req.bodyUsed], [false, false])
      sent.end()
      await response.text()
      await until(() => body.cancelled)
    })

    for (const [title, read] of [
      ['readBody()', ctx => ctx.request.readBody()],
      ['ctx.req, iterated', ctx => ctx.req.toArray()],
      ['ctx.req, listened to', async ctx => {
        const chunks = []
        ctx.req.on('data', chunk => chunks.push(chunk))
        await once(ctx.req, 'end')
        return chunks
      }],
      ['the Request itself', (ctx, req) => req.text()]
    ]) {
      it(`should leave a request’s body alone that somebody reads: ${title}`, async () => {
        const { stream, write, end } = channel()
        const req = upload(stream)
        let all
        const app = make(first, ctx => {
          all = read(ctx, req)
          hi(ctx)
        })
        assert.deepEqual(await shown(app, req), text('hi'))
        write('one ')
        await setImmediate()
        write('two')
        end()
        assert.equal([].concat(await all).join(''), 'one two')
      })
    }

    it('should leave a clone of the Request readable', async () => {
      const req = upload('text')
      assert.equal((await make(first).fetch(req.clone())).status, 404)
      assert.equal(await req.text(), 'text')
    })

    for (const [title, wait, reason, error] of [
      ['at once', () => {}, new Error('enough'), { message: 'enough' }],
      ['a microtask later', () => Promise.resolve(), new Error('enough'), { message: 'enough' }],
      ['later', setImmediate, undefined, { name: 'AbortError' }]
    ]) {
      it(`should reject when the request is aborted while it runs, ${title}, say why, and cut its body short`, async () => {
        const abort = new AbortController()
        const { stream, write } = channel()
        let ended, read
        const app = make(first, async ctx => {
          ended = new Promise(resolve => ctx.onFinished(resolve))
          read = ctx.request.readBody().catch(err => err.code)
          write('a')
          await wait()
          abort.abort(reason)
          ctx.body = 'late'
        })
        await assert.rejects(app.fetch(upload(stream, { signal: abort.signal })), error)
        const { code, cause } = await ended
        assert.deepEqual([await read, code, cause], ['KONE_ERR_BODY_ABORTED', 'KONE_ERR_RESPONSE_LOST', abort.signal.reason])
        await setImmediate()
        assert.deepEqual(app.errors, [])
      })
    }

    it('should resolve when the request is aborted as soon as the response was sent', async () => {
      const abort = new AbortController()
      const app = make(first, hi).on('finish', () => abort.abort())
      assert.deepEqual(await shown(app, request('/', { signal: abort.signal })), text('hi'))
      assert(abort.signal.aborted)
    })

    for (const [title, wait] of [['at once', () => {}], ['later', setImmediate]]) {
      it(`should leave no listener on the signal when it responds ${title}`, async () => {
        const req = request('/', { signal: new AbortController().signal })
        const before = getEventListeners(req.signal, 'abort').length
        await shown(make(first, async ctx => { await wait(); hi(ctx) }), req)
        await setImmediate()
        assert.equal(getEventListeners(req.signal, 'abort').length, before)
      })
    }

    it('should not run an aborted request', () => {
      const signal = AbortSignal.abort(new Error('before'))
      return assert.rejects(make(never).fetch(request('/', { signal })), { message: 'before' })
    })
  })
}

describe('app.inject(new Request())', () => {
  it('should give what app.inject() gives', async () => {
    const res = await make(async ctx => {
      ctx.cookies.set('a', 'b')
      ctx.body = { method: ctx.method, ip: ctx.ip, body: String(await ctx.request.readBody()) }
    }).inject(upload('hi'))
    assert.deepEqual([res.status, res.message, res.headers['set-cookie']], [200, 'OK', ['a=b; path=/; httponly']])
    assert(Buffer.isBuffer(res.body))
    assert.deepEqual(res.json(), { method: 'POST', ip: '127.0.0.1', body: 'hi' })
    assert.equal(res.text(), res.body.toString())
  })
})
