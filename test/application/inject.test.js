'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const diagnostics = require('node:diagnostics_channel')
const fs = require('node:fs')
const http = require('node:http')
const { join } = require('node:path')
const { Readable } = require('node:stream')

const Kone = require('../helpers/kone')

const LARGE = join(__dirname, '../../package-lock.json')

const echo = () => {
  const app = new Kone()
  app.use(async ctx => {
    ctx.set('X-Method', ctx.method)
    ctx.body = {
      url: ctx.url,
      headers: ctx.headers,
      body: (await ctx.request.readBody()).toString()
    }
  })
  return app
}

describe('app.inject()', () => {
  it('should GET / by default, and take a url alone', async () => {
    assert.equal((await echo().inject({})).json().url, '/')
    assert.equal((await echo().inject('/only')).json().url, '/only')
    assert.equal((await echo().inject({ url: '/a' })).headers['x-method'], 'GET')
  })

  it('should send an object as JSON, a buffer as it is', async () => {
    const json = (await echo().inject({ method: 'POST', body: { a: 1 } })).json()
    assert.equal(json.body, '{"a":1}')
    assert.match(json.headers['content-type'], /^application\/json/)
    assert.equal((await echo().inject({ method: 'POST', body: Buffer.from('bytes') })).json().body, 'bytes')
    assert.equal((await echo().inject({ method: 'POST', body: new Uint8Array([98, 99]) })).json().body, 'bc')
  })

  it('should give the promise of the app’s class', () => {
    const app = new Kone()
    assert(app.inject('/') instanceof (app.Promise ?? Promise))
  })

  for (const engine of ['http1', 'node', 'fetch']) {
    it(`should resolve behind what the app does when the response is sent: ${engine}`, async () => {
      const app = new Kone()
      const done = []
      app.on('finish', ctx => done.push(`${ctx.path} finish`))
      app.use(ctx => {
        ctx.onFinished(() => done.push(`${ctx.path} onFinished`))
        ctx.body = ctx.query.stream ? Readable.from(['a', 'b']) : 'a'
      })
      await Promise.all(Array.from({ length: 20 }, async (_, i) => {
        await app.inject({ url: `/${i}${i % 2 ? '?stream=1' : ''}`, engine })
        for (const what of ['finish', 'onFinished']) assert(done.includes(`/${i} ${what}`), `${i} ${what}`)
      }))
    })
  }

  for (const engine of ['http1', 'node']) {
    it(`should resolve with a 101, and close the connection: ${engine}`, async () => {
      const app = new Kone()
      const closed = new Promise(resolve => {
        app.use(ctx => {
          ctx.respond = false
          ctx.socket.once('close', resolve)
          ctx.res.writeHead(101, { Connection: 'upgrade', Upgrade: 'x', 'X-A': 'b' }).end()
        })
      })
      const { status, headers, body } = await app.inject({ url: '/', engine })
      assert.deepEqual([status, headers['x-a'], body.length], [101, 'b', 0])
      await closed
    })
  }

  it('should respond concurrently', async () => {
    const app = new Kone()
    app.use(async ctx => {
      await new Promise(resolve => setTimeout(resolve, Number(ctx.query.ms)))
      ctx.body = ctx.query.ms
    })
    const answers = await Promise.all(['5', '1', '3'].map(ms => app.inject(`/?ms=${ms}`)))
    assert.deepEqual(answers.map(res => res.text()), ['5', '1', '3'])
  })

  it('should carry large bodies both ways', async () => {
    const app = new Kone()
    app.use(async ctx => {
      const body = await ctx.request.readBody({ limit: 2e6 })
      ctx.body = Readable.from([body, body])
    })
    const body = Buffer.alloc(1e6, 'x')
    assert.equal((await app.inject({ method: 'POST', body })).body.length, 2e6)
  })

  it('should reject when the app cuts the connection', async () => {
    const app = new Kone()
    app.use(ctx => {
      ctx.respond = false
      ctx.res.destroy()
    })
    await assert.rejects(Promise.resolve(app.inject('/')), { code: 'ECONNRESET' })
  })
})

const quiet = () => Object.assign(new Kone(), { silent: true })

const withFront = process.env.KONE_HTTP1 !== 'off'

/** What the request goes through, seen from inside: an object of the front or of fetch is not node's. */
const through = async (app, options) => {
  let engine
  app.use((ctx, next) => {
    const { incoming } = ctx
    engine = incoming instanceof http.IncomingMessage ? 'node' : incoming.connection === undefined ? 'fetch' : 'http1'
    ctx.body = 'a'
  })
  const res = await app.inject({ ...options })
  assert.equal(res.status, 200)
  return engine
}

describe('app.inject({ engine })', () => {
  it('should be the front by default, as of app.listen()', { skip: !withFront && 'KONE_HTTP1=off: there is no front' }, async () => {
    assert.equal(await through(new Kone()), 'http1')
    assert.equal(await through(new Kone(), { engine: undefined }), 'http1')
    assert.equal(await through(new Kone(), { engine: 'http1' }), 'http1')
  })

  it('should be node:http or app.fetch() on request', async () => {
    assert.equal(await through(new Kone(), { engine: 'node' }), 'node')
    assert.equal(await through(new Kone(), { engine: 'fetch' }), 'fetch')
  })

  it('should be chosen per request', { skip: !withFront && 'KONE_HTTP1=off: there is no front' }, async () => {
    const app = new Kone()
    assert.equal(await through(app, { engine: 'node' }), 'node')
    for (const engine of ['http1', 'fetch', 'node', 'http1']) {
      app.middleware.length = 0
      assert.equal(await through(app, { engine }), engine)
    }
  })

  it('should be node:http where listen() uses it', async () => {
    const { KONE_HTTP1 } = process.env
    assert.equal(await through(new Kone({ http1: false })), 'node')
    const late = new Kone()
    await late.inject('/')
    late.http1 = false
    assert.equal(await through(late), 'node')
    process.env.KONE_HTTP1 = 'off'
    try {
      assert.equal(await through(new Kone(), { engine: 'http1' }), 'node')
    } finally {
      if (KONE_HTTP1 === undefined) delete process.env.KONE_HTTP1
      else process.env.KONE_HTTP1 = KONE_HTTP1
    }
  })

  it('should show node’s objects to whom watches requests', { skip: !withFront && 'KONE_HTTP1=off: there is no front' }, async () => {
    const seen = []
    const see = ({ request, response }) => { seen.push(request, response) }
    diagnostics.subscribe('http.server.request.start', see)
    try {
      assert.equal(await through(new Kone()), 'http1')
    } finally {
      diagnostics.unsubscribe('http.server.request.start', see)
    }
    assert.equal(seen.length, 2)
    assert(seen[0] instanceof http.IncomingMessage && seen[1] instanceof http.ServerResponse)
  })

  it('should be one of the three', () => {
    for (const engine of ['http2', '', null, 1, 'toString', ['http1']]) {
      assert.throws(() => new Kone().inject({ engine }), { name: 'TypeError', message: /^app\.inject\(\): options\.engine must be 'http1', 'node' or 'fetch', not/ })
    }
  })

  for (const engine of ['http1', 'node', 'fetch']) {
    describe(engine, () => {
      it('should send what is described', async () => {
        const res = await echo().inject({ engine, method: 'PATCH', url: '/a?b=c', headers: { 'X-A': ['1', '2'], Host: 'a.b', 'X-B': undefined }, body: { c: 1 } })
        assert.equal(res.status, 200)
        assert.equal(res.message, 'OK')
        assert.equal(res.headers['x-method'], 'PATCH')
        assert(Buffer.isBuffer(res.body))
        assert.equal(res.text(), res.body.toString())
        const { url, headers, body } = res.json()
        assert.equal(url, '/a?b=c')
        assert.equal(body, '{"c":1}')
        const { connection, ...rest } = headers
        assert.deepEqual(rest, { host: 'a.b', 'x-a': '1, 2', 'content-type': 'application/json', 'content-length': '7' })
      })

      it('should name localhost, and 127.0.0.1 as the client', async () => {
        const app = new Kone()
        app.use(ctx => { ctx.body = { host: ctx.host, ip: ctx.ip, protocol: ctx.protocol } })
        assert.deepEqual((await app.inject({ engine })).json(), { host: 'localhost', ip: '127.0.0.1', protocol: 'http' })
      })

      it('should take a type and a length that are given', async () => {
        const headers = { 'Content-Type': 'text/x', 'CONTENT-LENGTH': '2' }
        const sent = (await echo().inject({ engine, method: 'POST', headers, body: Buffer.from('ab') })).json()
        assert.equal(sent.body, 'ab')
        assert.equal(sent.headers['content-type'], 'text/x')
        assert.equal(sent.headers['content-length'], '2')
      })

      it('should have a body with each method that allows one', async () => {
        for (const method of ['DELETE', 'OPTIONS', ...(engine === 'fetch' ? [] : ['GET'])]) {
          const res = await echo().inject({ engine, method, body: 'abc' })
          assert.equal(res.json().body, 'abc', method)
        }
      })

      it('should return cookies as a list, and a stream whole', async () => {
        const app = new Kone()
        app.use(ctx => {
          ctx.set('Set-Cookie', ['a=1', 'b=2'])
          ctx.body = Readable.from(['one', 'two'])
        })
        const res = await app.inject({ engine })
        assert.deepEqual(res.headers['set-cookie'], ['a=1', 'b=2'])
        assert.equal(res.text(), 'onetwo')
      })

      it('should run in the async context of its caller', async () => {
        const storage = new AsyncLocalStorage()
        const app = new Kone()
        app.use(async ctx => {
          ctx.body = { store: storage.getStore() ?? null, length: (await ctx.request.readBody()).length }
          storage.enterWith('of the handler')
        })
        const body = Buffer.alloc(100000)
        const ask = async () => (await app.inject({ engine, method: 'POST', body })).json().store
        assert.equal(await ask(), null)
        assert.equal(await storage.run('first', ask), 'first')
        assert.equal(await storage.run('second', ask), 'second')
        assert.equal(await ask(), null)
        assert.equal(storage.getStore(), undefined)
      })

      it('should return the response to a request that node rejects', { skip: engine === 'fetch' && 'has a valid Request' }, async () => {
        const rejected = async options => (await quiet().inject({ engine, ...options })).status
        assert.equal(await rejected({ url: '/\u00e9' }), 400)
        assert.equal(await rejected({ method: 'NONE' }), 400)
        assert.equal(await rejected({ url: `/${'a'.repeat(20000)}` }), 431)
        assert.equal(await rejected({ method: 'POST', headers: { 'content-length': 1, 'transfer-encoding': 'chunked' }, body: 'a' }), 400)
      })

      it('should call ctx.onFinished() with null for a body that arrived whole', async () => {
        for (const isTouched of [false, true]) {
          for (const make of [
            () => 'text', () => Buffer.alloc(1e6), () => new Blob(['x'.repeat(1e5)]), () => fs.createReadStream(LARGE),
            () => fs.createReadStream(__filename), () => new Blob(['x'.repeat(3e5)]).stream(), () => Readable.from(['a', 'b'])
          ]) {
            const app = new Kone()
            const finished = new Promise(resolve => {
              app.use(ctx => {
                if (isTouched) assert(ctx.req && ctx.res)
                ctx.onFinished(resolve)
                ctx.body = make()
              })
            })
            await app.inject({ engine })
            assert.equal(await finished, null, `${make}, ${isTouched ? '' : 'not '}touched`)
          }
        }
      })

      it('should reject when a response is cut short', { skip: engine === 'fetch' && 'has its response before the body fails' }, async () => {
        const app = quiet()
        app.use(ctx => {
          ctx.body = Readable.from((async function * () {
            yield 'half'
            throw new Error('the other half')
          })())
        })
        await assert.rejects(Promise.resolve(app.inject({ engine })), { code: 'ECONNRESET' })
      })

      it('should leave nothing open', { timeout: 20_000 }, async () => {
        const app = new Kone()
        app.use(ctx => { ctx.body = 'a' })
        await app.inject({ engine })
        await app.close({ timeout: 60_000 })
      })
    })
  }
})
