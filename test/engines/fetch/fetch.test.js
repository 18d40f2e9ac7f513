'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { getEventListeners, once } = require('node:events')
const { Readable } = require('node:stream')
const { setImmediate } = require('node:timers/promises')

const Kone = require('../../helpers/kone')
const until = require('../../helpers/until')

/** An app with these middleware, its errors in `errors`. */
function make (...middleware) {
  const app = new Kone()
  app.errors = []
  app.on('error', err => app.errors.push(err))
  for (const fn of middleware) app.use(fn)
  return app
}

const request = (path = '/', init) => new Request(`http://kone.example${path}`, init)
const touch = (ctx, next) => {
  assert(ctx.req && ctx.res)
  return next()
}

/** A stream of a request's or response's body that a test writes into. */
function channel () {
  let controller
  const stream = new ReadableStream({ start (made) { controller = made } })
  return { stream, write: text => controller.enqueue(Buffer.from(text)), end: () => controller.close() }
}

/** A body that never ends, and whether it was cancelled. */
function source () {
  const made = { cancelled: false }
  made.stream = new ReadableStream({
    pull (controller) { controller.enqueue(Buffer.alloc(16)) },
    cancel () { made.cancelled = true }
  })
  return made
}

describe('app.fetch', () => {
  it('should be an own, bound property that is not enumerable', async () => {
    const app = make(ctx => { ctx.body = 'hi' })
    const { fetch } = app
    assert.equal(await (await fetch(request())).text(), 'hi')
    assert(Object.hasOwn(app, 'fetch'))
    assert(!Object.keys(app).includes('fetch'))
    assert(!('fetch' in Kone.prototype))
  })

  it('should leave a method of a subclass alone', () => {
    class Own extends Kone {
      fetch () { return 'own' }
    }
    assert.equal(new Own().fetch(), 'own')
  })

  it('should load nothing before it is called', () => {
    const script = `
      const Kone = require('kone')
      new Kone()
      const loaded = Object.keys(require.cache).filter(file => /lib.fetch|lib.pipe/.test(file))
      console.log(loaded.length)`
    // lib/engines/memory/pipe.js is what app.inject() needs, too
    const count = Number(execFileSync(process.execPath, ['-e', script], { cwd: __dirname, encoding: 'utf8' }))
    assert.equal(count, 0)
  })

  it('should resolve to a web Response', async () => {
    const app = make(ctx => {
      ctx.status = 201
      ctx.message = 'Made'
      ctx.set('X-A', ['1', '2'])
      ctx.cookies.set('a', 'b')
      ctx.cookies.set('c', 'd')
      ctx.body = { a: 1 }
    })
    const response = await app.fetch(request())
    assert(response instanceof Response)
    assert.equal(response.status, 201)
    assert.equal(response.statusText, 'Made')
    assert.equal(response.headers.get('x-a'), '1, 2')
    assert.deepEqual(response.headers.getSetCookie(), ['a=b; path=/; httponly', 'c=d; path=/; httponly'])
    assert.deepEqual(await response.json(), { a: 1 })
  })

  it('should give ctx what a client would have sent', async () => {
    const app = make(ctx => {
      ctx.body = [ctx.method, ctx.url, ctx.host, ctx.protocol, ctx.href, ctx.get('x-a'), ctx.query.b]
    })
    const response = await app.fetch(new Request('https://user.example:8443/a?b=c#d', {
      method: 'PUT', headers: { 'X-A': '1' }
    }))
    assert.deepEqual(await response.json(), [
      'PUT', '/a?b=c', 'user.example:8443', 'https', 'https://user.example:8443/a?b=c', '1', 'c'
    ])
  })

  it('should give a field alone as the headers object has it, and as a client would send it', async () => {
    const all = { 'Set-Cookie': 'a=b', 'X-A': '1', ['__proto__']: 'x', 12: 'digits' }
    const inits = [
      {}, { headers: all }, { headers: { Host: 'other' } },
      ...['POST', 'DELETE'].flatMap(method => [
        { method }, { method, body: 'abc' }, { method, body: 'abc', headers: { 'Content-Length': '3' } },
        { method, body: 'abc', headers: { 'Transfer-Encoding': 'chunked' } }
      ])
    ]
    const names = ['host', 'set-cookie', 'x-a', '__proto__', '12', 'content-length', 'transfer-encoding', 'content-type', 'a b', 'ä', '', 'constructor']
    const read = async (init, see) => {
      let seen
      await make(ctx => { seen = see(ctx) }).fetch(request('/', init))
      return seen
    }
    for (const init of inits) {
      const fields = await read(init, ({ request }) => names.map(name => request.get(name)))
      assert.deepEqual(fields, await read(init, ({ headers, request }) => names.map(name => request.get(name))))
      assert.deepEqual(fields, await read(init, ({ headers }) => names.map(name => Object.hasOwn(headers, name) ? headers[name] : '')))
      const isFramed = new Headers(init.headers).has('content-length')
      const [length, encoding] = fields.slice(5)
      assert.equal(length, isFramed ? '3' : init.method === 'POST' && init.body === undefined ? '0' : '')
      assert.equal(encoding, init.body !== undefined && !isFramed ? 'chunked' : '')
    }
  })

  it('should have the type that was set, or none', async () => {
    for (const [type, expected] of [['text/x', 'text/x'], [['text/x', 'text/y'], 'text/x, text/y'], [null, null]]) {
      for (const body of ['é', Buffer.from('é')]) {
        const app = make(ctx => {
          ctx.body = body
          if (type === null) ctx.remove('Content-Type')
          else ctx.set('Content-Type', type)
        })
        const response = await app.fetch(request())
        assert.equal(response.headers.get('content-type'), expected)
        assert.equal(response.headers.get('content-length'), '2')
        assert.equal(await response.text(), 'é')
      }
    }
  })

  it('should leave the fields of a connection to the server that sends the Response', async () => {
    for (const first of [(ctx, next) => next(), touch]) {
      const app = make(first, ctx => {
        ctx.set({ Connection: 'close', 'Keep-Alive': 'timeout=5' })
        ctx.body = Readable.from(['a'])
      })
      const { headers } = await app.fetch(request())
      for (const name of ['connection', 'keep-alive', 'transfer-encoding', 'date']) assert.equal(headers.get(name), null, name)
    }
  })

  it('should have no body for HEAD, 204 and 304', async () => {
    const app = make(ctx => {
      ctx.body = 'text'
      if (ctx.query.status) ctx.status = Number(ctx.query.status)
    })
    const head = await app.fetch(request('/', { method: 'HEAD' }))
    assert.equal(head.body, null)
    assert.equal(head.headers.get('content-length'), '4')
    for (const status of [204, 304]) {
      const response = await app.fetch(request(`/?status=${status}`))
      assert.equal(response.status, status)
      assert.equal(response.body, null)
    }
  })

  it('should know the peer by Deno’s info, by Bun’s server and by { ip }, and ignore anything else', async () => {
    const app = make(ctx => { ctx.body = ctx.ip })
    const req = request()
    const bun = { requestIP: given => given === req ? { address: '10.0.0.3', port: 1 } : null }
    const infos = [
      [{ remoteAddr: { transport: 'tcp', hostname: '10.0.0.1', port: 80 } }, '10.0.0.1'],
      [{ ip: '::1' }, '::1'],
      [bun, '10.0.0.3'],
      [{ remoteAddr: { transport: 'unix', path: '/tmp/a' } }, ''],
      [{ requestIP: () => null }, ''],
      [{ ip: 'junk' }, ''],
      [{ env: 1 }, ''],
      ['junk', ''],
      [null, ''],
      [undefined, '']
    ]
    for (const [info, ip] of infos) {
      assert.equal(await (await app.fetch(info === bun ? req : request(), info)).text(), ip)
    }
  })

  it('should serve an app whose createContext was replaced', async () => {
    const app = make(ctx => { ctx.body = ctx.seen })
    const { createContext } = app
    app.createContext = function (req, res) {
      return Object.assign(createContext.call(this, req, res), { seen: req.constructor.name })
    }
    assert.equal(await (await app.fetch(request())).text(), 'IncomingMessage')
  })

  it('should reject with what a ctx.onerror of the app’s own throws', async () => {
    const app = make(() => { throw new Error('first') })
    app.context.onerror = () => { throw new Error('second') }
    await assert.rejects(app.fetch(request()), { message: 'second' })
  })

  it('should refuse what is not a Request that can be read', async () => {
    const app = make(() => assert.fail('must not run'))
    for (const value of [undefined, null, 'http://a/', {}, { url: 'http://a/' }, new Request('data:,a')]) {
      await assert.rejects(app.fetch(value), { name: 'TypeError', message: /request must be a web Request/ })
    }
    const used = request('/', { method: 'POST', body: 'a' })
    await used.text()
    await assert.rejects(app.fetch(used), { name: 'TypeError', message: /was already read/ })
    const locked = request('/', { method: 'POST', body: 'a' })
    locked.body.getReader()
    await assert.rejects(app.fetch(locked), { name: 'TypeError', message: /was already read/ })
  })

  it('should respond with 500 for a status that a Response cannot have', async () => {
    const app = make(ctx => {
      ctx.status = 700
      ctx.body = 'a'
    })
    assert.equal((await app.fetch(request())).status, 500)
    assert.match(app.errors[0].message, /status from 200 to 599, not 700/)
  })
})

for (const [name, first] of [['', (ctx, next) => next()], [' when ctx.req and ctx.res were read', touch]]) {
  describe(`the bodies of app.fetch${name}`, () => {
    it('should stream both ways at once', async () => {
      const app = make(first, ctx => {
        ctx.body = Readable.from((async function * () {
          for await (const chunk of ctx.request.body ?? ctx.req) yield String(chunk).toUpperCase()
        })())
      })
      const upload = channel()
      const response = await Promise.race([
        app.fetch(request('/', { method: 'POST', body: upload.stream, duplex: 'half' })),
        (async () => {
          upload.write('first')
          await new Promise(() => {})
        })()
      ])
      const reader = response.body.getReader()
      assert.equal(String(Buffer.from((await reader.read()).value)), 'FIRST')
      upload.write('second')
      assert.equal(String(Buffer.from((await reader.read()).value)), 'SECOND')
      upload.end()
      assert.equal((await reader.read()).done, true)
    })

    it('should refuse what is longer than the limit, and read no more of it', async () => {
      const app = make(first, async ctx => { ctx.body = await ctx.request.readBody({ limit: 10 }) })
      let pulled = 0
      const body = new ReadableStream({
        pull (controller) {
          pulled++
          controller.enqueue(Buffer.alloc(8))
        }
      })
      const response = await app.fetch(request('/', { method: 'POST', body, duplex: 'half' }))
      assert.equal(response.status, 413)
      await setImmediate()
      const seen = pulled
      await setImmediate()
      assert.equal(pulled, seen)
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

    it('should end a stream, and report it, when the reader cancels', async () => {
      const source = new Readable({ read () { this.push('x') } })
      const app = make(first, ctx => { ctx.body = source })
      const finished = once(app, 'finish')
      const response = await app.fetch(request())
      await response.body.cancel()
      await finished
      await until(() => source.destroyed)
    })

    it('should cancel a request’s body that nobody read when the response is settled', async () => {
      const touchLate = ctx => touch(ctx, () => { ctx.body = 'text' })
      const handlers = {
        'a string': ctx => { ctx.body = 'text' },
        'an empty body': ctx => { ctx.body = '' },
        'no body': ctx => { ctx.status = 204 },
        'nothing set': () => {},
        'an error': () => { throw new Error('on purpose') },
        'a refusal': ctx => ctx.throw(413),
        'a limit below Content-Length': async ctx => { await ctx.request.readBody({ limit: 1 }) },
        'a stream': ctx => { ctx.body = Readable.from(['a', 'b']) },
        'a web stream': ctx => { ctx.body = new Response('text').body },
        'ctx.req and ctx.res, read late': touchLate,
        'ctx.req.resume()': ctx => {
          ctx.req.resume()
          ctx.body = 'text'
        }
      }
      for (const method of ['POST', 'DELETE']) {
        for (const [name, fn] of Object.entries(handlers)) {
          const upload = source()
          let late
          const app = make(async (ctx, next) => {
            late = new Promise(resolve => ctx.onFinished(resolve))
              .then(() => ctx.request.readBody()).catch(err => err.code)
            await next()
          }, first, fn)
          const response = await app.fetch(request('/', {
            method, body: upload.stream, duplex: 'half', headers: { 'Content-Length': '1000' }
          }))
          await response.text()
          await until(() => upload.cancelled)
          assert.equal(await late, name.startsWith('a limit') ? 'KONE_ERR_BODY_LIMIT' : 'KONE_ERR_BODY_USED', name)
        }
      }
    })

    it('should cancel it no earlier than the response is read', async () => {
      const sent = channel()
      const app = make(first, ctx => { ctx.body = sent.stream })
      const upload = source()
      const req = request('/', { method: 'POST', body: upload.stream, duplex: 'half' })
      sent.write('a')
      const response = await app.fetch(req)
      await setImmediate()
      assert.equal(upload.cancelled, false)
      assert.equal(req.bodyUsed, false)
      sent.end()
      await response.text()
      await until(() => upload.cancelled)
    })

    it('should leave a request’s body alone that somebody reads', async () => {
      let read
      const collect = async stream => {
        const chunks = []
        for await (const chunk of stream) chunks.push(chunk)
        return Buffer.concat(chunks)
      }
      const readers = {
        'readBody()': ctx => ctx.request.readBody(),
        'ctx.req, iterated': ctx => collect(ctx.req),
        'ctx.req, listened to': async ctx => {
          const chunks = []
          ctx.req.on('data', chunk => chunks.push(chunk))
          await once(ctx.req, 'end')
          return Buffer.concat(chunks)
        },
        'the Request itself': (ctx, req) => req.text()
      }
      for (const [name, reader] of Object.entries(readers)) {
        const upload = channel()
        const req = request('/', { method: 'POST', body: upload.stream, duplex: 'half' })
        const app = make(first, ctx => {
          read = Promise.resolve(reader(ctx, req))
          ctx.body = 'text'
        })
        assert.equal(await (await app.fetch(req)).text(), 'text')
        upload.write('one ')
        await setImmediate()
        upload.write('two')
        upload.end()
        assert.equal(String(await read), 'one two', name)
        assert.deepEqual(app.errors, [], name)
      }
    })

    it('should leave a clone of the Request readable', async () => {
      const app = make(first, ctx => { ctx.status = 404 })
      const req = request('/', { method: 'POST', body: 'text' })
      assert.equal((await app.fetch(req.clone())).status, 404)
      assert.equal(await req.text(), 'text')
    })

    it('should break the body when the request is aborted while it is sent', async () => {
      const abort = new AbortController()
      const source = new Readable({ read () {} })
      const app = make(first, ctx => { ctx.body = source })
      source.push('a')
      const response = await app.fetch(request('/', { signal: abort.signal }))
      const reader = response.body.getReader()
      await reader.read()
      abort.abort()
      await assert.rejects(reader.read())
      await until(() => source.destroyed)
    })

    it('should cut the request’s body short when it is aborted', async () => {
      const abort = new AbortController()
      const upload = channel()
      let failed
      const app = make(first, async ctx => {
        failed = Promise.resolve(ctx.request.readBody()).catch(err => err.code)
        upload.write('a')
        await setImmediate()
        abort.abort()
        ctx.body = await failed
      })
      await assert.rejects(app.fetch(request('/', {
        method: 'POST', body: upload.stream, duplex: 'half', signal: abort.signal
      })))
      assert.equal(await failed, 'KONE_ERR_BODY_ABORTED')
    })

    it('should reject when the request is aborted while it runs, at once or later, and say why', async () => {
      for (const [wait, reason, error] of [
        [() => {}, new Error('enough'), { message: 'enough' }], [() => Promise.resolve(), new Error('enough'), { message: 'enough' }],
        [setImmediate, undefined, { name: 'AbortError' }]
      ]) {
        const abort = new AbortController()
        let ended
        const app = make(first, async ctx => {
          ended = new Promise(resolve => ctx.onFinished(resolve))
          await wait()
          abort.abort(reason)
          ctx.body = 'late'
        })
        await assert.rejects(app.fetch(request('/', { signal: abort.signal })), error)
        const { code, cause } = await ended
        assert.deepEqual([code, cause], ['KONE_ERR_RESPONSE_LOST', abort.signal.reason])
        await setImmediate()
        assert.deepEqual(app.errors, [])
      }
    })

    it('should resolve when the request is aborted as soon as the response was sent', async () => {
      const abort = new AbortController()
      const app = make(first, ctx => { ctx.body = 'a' })
      app.on('finish', () => abort.abort())
      const response = await app.fetch(request('/', { signal: abort.signal }))
      assert.equal(await response.text(), 'a')
      assert(abort.signal.aborted)
    })

    it('should leave no listener on the signal', async () => {
      const abort = new AbortController()
      for (const wait of [() => {}, setImmediate]) {
        const app = make(first, async ctx => {
          await wait()
          ctx.body = 'a'
        })
        const req = request('/', { signal: abort.signal })
        const before = getEventListeners(req.signal, 'abort').length
        await (await app.fetch(req)).text()
        await setImmediate()
        assert.equal(getEventListeners(req.signal, 'abort').length, before)
      }
    })

    it('should not run an aborted request', async () => {
      const app = make(() => assert.fail('must not run'))
      const signal = AbortSignal.abort(new Error('before'))
      await assert.rejects(app.fetch(request('/', { signal })), { message: 'before' })
    })
  })
}

describe('node’s objects in app.fetch', () => {
  it('should be closed after the response', async () => {
    const events = []
    const app = make(ctx => {
      for (const name of ['finish', 'close']) ctx.res.on(name, () => events.push(name))
      ctx.body = 'a'
    })
    await (await app.fetch(request())).text()
    await until(() => events.length === 2)
    assert.deepEqual(events, ['finish', 'close'])
  })
})

describe('app.inject(new Request())', () => {
  it('should give what app.inject() gives', async () => {
    const app = make(async ctx => {
      ctx.cookies.set('a', 'b')
      ctx.body = { method: ctx.method, body: String(await ctx.request.readBody()) }
    })
    const res = await app.inject(request('/', { method: 'POST', body: 'hi' }))
    assert.equal(res.status, 200)
    assert.equal(res.message, 'OK')
    assert.deepEqual(res.headers['set-cookie'], ['a=b; path=/; httponly'])
    assert(Buffer.isBuffer(res.body))
    assert.deepEqual(res.json(), { method: 'POST', body: 'hi' })
    assert.equal(res.text(), res.body.toString())
  })
})
