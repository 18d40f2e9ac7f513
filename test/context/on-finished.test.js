'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const http2 = require('node:http2')
const net = require('node:net')
const { PassThrough, Readable } = require('node:stream')

const engines = require('../helpers/engines')
const catchUncaught = require('../helpers/uncaught')
const until = require('../helpers/until')
const Kone = require('../helpers/kone')

engines('ctx.onFinished(fn)', ({ it, serve }) => {
  it('should be called with null for a body of any kind and size', async () => {
    const calls = []
    const finished = new Map()
    const bodies = {
      text: () => 'hello',
      large: () => Buffer.alloc(5e6),
      stream: () => Readable.from(['one', Buffer.alloc(1e6), 'two']),
      json: () => ({ hello: 'world' }),
      none: () => null,
      thrown: ctx => ctx.throw(400),
      'of its own': ctx => {
        ctx.respond = false
        ctx.res.write('own')
        ctx.res.end('end', 'utf8')
      }
    }
    const { ask } = await serve(app => app.on('error', ({ code, status }) => calls.push([code ?? status])).use(ctx => {
      const key = `${ctx.method} ${ctx.url}`
      if (ctx.querystring) ctx.method = ctx.querystring
      finished.set(key, new Promise(resolve => {
        ctx.onFinished(err => {
          calls.push([key, err])
          resolve()
        })
      }))
      ctx.body = bodies[decodeURI(ctx.path.slice(1))](ctx)
    }))
    const expected = []
    for (const kind of Object.keys(bodies)) {
      for (const [method, query] of [['GET', ''], ['HEAD', ''], ['HEAD', '?GET']]) {
        const key = `${method} /${encodeURI(kind)}${query}`
        await ask(key)
        await finished.get(key)
        if (kind === 'thrown') expected.push([400])
        expected.push([key, null])
      }
    }
    assert.deepEqual(calls, expected)
  })
})

const raw = { http2: 'gets its request from a raw client here', inject: 'has no client that could leave', fetch: 'is aborted instead: test/engines/fetch' }

const own = { fetch: 'has no ctx.res of its own', http2: 'never closes a stream after an exception in this listener' }

/** A body that fails in the middle. */
function fails (ctx) {
  ctx.body = Readable.from((async function * () {
    yield 'half'
    throw new Error('boom')
  })())
}

engines("ctx.onFinished(fn) and what the app's other code does", ({ it, serve }) => {
  it("should be called when a listener for 'finish' throws", { skip: own }, async t => {
    const uncaught = catchUncaught(t)
    const calls = []
    const { ask, app } = await serve(app => app.use(ctx => {
      ctx.res.on('finish', () => { throw new Error('thrown') })
      ctx.onFinished(err => calls.push(err))
      ctx.body = 'hello'
    }))
    const finished = new Promise(resolve => app.once('finish', resolve))
    await ask('GET /')
    await finished
    assert.deepEqual(calls, [null])
    assert.deepEqual(uncaught.map(({ message }) => message), ['thrown'])
  })

  it('should call each, whatever the others throw', async t => {
    const uncaught = catchUncaught(t)
    const calls = []
    const { ask, app } = await serve(app => app.use(ctx => {
      for (const name of ['one', 'two', 'three']) {
        ctx.onFinished(() => {
          calls.push(name)
          throw new Error(name)
        })
      }
      ctx.body = 'hello'
    }))
    const finished = new Promise(resolve => app.once('finish', resolve))
    await ask('GET /')
    await finished
    await new Promise(resolve => setImmediate(resolve))
    assert.deepEqual(calls, ['one', 'two', 'three'])
    assert.deepEqual(uncaught.map(({ message }) => message), ['one', 'two', 'three'])
  })

  it('should run in the async context of its own request', { skip: { ...raw, fetch: 'is not pipelined' } }, async () => {
    const calls = []
    const { app, port } = await serve(app => app.use(async ctx => {
      ctx.onFinished(() => calls.push([ctx.path, app.currentContext?.path]))
      if (ctx.path === '/1') await new Promise(resolve => setTimeout(resolve, 1))
      ctx.body = 'hello'
    }), { asyncLocalStorage: true })
    app.on('finish', ctx => calls.push([ctx.path, app.currentContext?.path]))
    const client = net.connect(port, '127.0.0.1')
    client.write(['/1', '/2', '/3'].map(path => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''))
    await until(() => calls.length === 6)
    client.destroy()
    assert.deepEqual(calls.sort(), ['/1', '/1', '/2', '/2', '/3', '/3'].map(path => [path, path]))
  })
})

engines('ctx.onFinished(fn) for a response that is lost', ({ it, serve }) => {
  const request = path => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

  /** Serve, and collect what was reported by path: '/a sent' or '/a KONE_ERR_RESPONSE_LOST'. */
  async function reporting (handler) {
    const reports = []
    let finished = 0
    const { app, port } = await serve(app => app.use(ctx => {
      ctx.onFinished(err => reports.push(`${ctx.path} ${err === null ? 'sent' : err.code}`))
      return handler(ctx, client)
    }))
    app.on('finish', () => { finished++ })
    const client = net.connect(port, '127.0.0.1')
    client.on('error', () => {})
    await once(client, 'connect')
    const all = async count => {
      await until(() => finished >= count)
      await new Promise(resolve => setTimeout(resolve, 20)) // a second report would come now
      assert.equal(finished, count)
      return reports.sort()
    }
    return { client, all }
  }

  const echo = ctx => { ctx.body = ctx.path }
  const lost = paths => paths.map(path => `${path} KONE_ERR_RESPONSE_LOST`)

  // when, what the handler does, the paths that the client asks for at once, what is reported, what else the client does
  for (const [when, handler, paths, expected, act = client => client.resume()] of [
    ['the client leaves before', (ctx, client) => {
      ctx.respond = false
      client.destroy()
    }, ['/gone'], lost(['/gone']), () => {}],
    ['ctx.socket.destroy() cuts off a pipelined batch', async ctx => {
      if (ctx.path === '/first') await new Promise(resolve => setImmediate(resolve))
      if (ctx.path === '/first') ctx.socket.destroy()
      echo(ctx)
    }, ['/first', '/second', '/third'], lost(['/first', '/second', '/third']), () => {}],
    ['the response before it closes', ctx => {
      if (ctx.path === '/closes') ctx.set('Connection', 'close')
      echo(ctx)
    }, ['/closes', '/second', '/third'], ['/closes sent', ...lost(['/second', '/third'])]],
    ['the client half-closes and the handler takes longer', async ctx => {
      await once(ctx.socket, 'end')
      echo(ctx)
    }, ['/half'], lost(['/half']), client => client.end().resume()],
    ['a stream body fails midway', fails, ['/stream'], lost(['/stream'])],
    ['the client leaves tens of MB unread', ctx => { ctx.body = Buffer.alloc(50e6) }, ['/large'], lost(['/large']), async client => {
      await once(client, 'readable')
      client.destroy()
    }]
  ]) {
    it(`should be called when ${when}`, { skip: raw }, async () => {
      const { client, all } = await reporting(handler)
      client.write(paths.map(request).join(''))
      await act(client)
      assert.deepEqual(await all(paths.length), expected)
    })
  }

  it('should tell what was flushed before the socket was destroyed from what was not', {
    skip: { ...raw, http1: 'writes both at the end of the tick', 'http1-materialised': 'the same', 'create-context': 'the same' }
  }, async () => {
    const { client, all } = await reporting(ctx => {
      ctx.respond = false
      ctx.res.end(ctx.path === '/small' ? 'small' : Buffer.alloc(50e6))
      if (ctx.path === '/large') ctx.req.socket.destroy()
    })
    client.write(request('/small') + request('/large'))
    assert.deepEqual(await all(2), ['/large KONE_ERR_RESPONSE_LOST', '/small sent'])
  })

  it("should give the connection's own error as the cause", { skip: raw }, async () => {
    let reported
    const { client, all } = await reporting(ctx => {
      ctx.onFinished(err => { reported = err })
      ctx.respond = false
      ctx.req.socket.destroy(Object.assign(new Error('broken'), { code: 'EBROKEN' }))
    })
    client.write(request('/error'))
    assert.deepEqual(await all(1), ['/error KONE_ERR_RESPONSE_LOST'])
    assert.equal(reported.cause.code, 'EBROKEN')
  })
})

describe('ctx.onFinished(fn) over HTTP/2', () => {
  async function serve (t, middleware) {
    const app = new Kone()
    app.silent = true
    const reports = []
    app.use(ctx => {
      ctx.onFinished(err => reports.push(`${ctx.path} ${err === null ? 'sent' : err.code}`))
      return middleware(ctx)
    })
    const server = http2.createServer(app.callback()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
    session.on('error', () => {})
    t.after(() => {
      session.destroy()
      server.close()
    })
    const finished = new Promise(resolve => app.once('finish', resolve))
    return { app, session, reports, finished }
  }

  test('should be called with an error when the client resets a stream that is pending', async t => {
    const begun = new EventEmitter()
    const { session, reports, finished } = await serve(t, async ctx => {
      begun.emit('request')
      await new Promise(resolve => ctx.onFinished(resolve))
      ctx.body = 'late'
    })
    const stream = session.request({ ':path': '/reset' })
    stream.on('error', () => {})
    await once(begun, 'request')
    stream.close(http2.constants.NGHTTP2_CANCEL)
    await finished
    assert.deepEqual(reports, ['/reset KONE_ERR_RESPONSE_LOST'])
  })

  test('should be called with an error when a stream body fails midway', async t => {
    const { session, reports, finished } = await serve(t, fails)
    const stream = session.request({ ':path': '/stream' }).resume()
    stream.on('error', () => {})
    await finished
    assert.deepEqual(reports, ['/stream KONE_ERR_RESPONSE_LOST'])
  })

  for (const end of [stream => stream.close(http2.constants.NGHTTP2_CANCEL), stream => stream.destroy()]) {
    test(`should be called with an error when the client cancels a response that has begun: ${end}`, async t => {
      const { session, reports, finished } = await serve(t, ctx => {
        ctx.body = new PassThrough()
        ctx.body.write('half')
      })
      const stream = session.request({ ':path': '/half' })
      stream.on('error', () => {})
      await once(stream, 'response')
      end(stream)
      await finished
      assert.deepEqual(reports, ['/half KONE_ERR_RESPONSE_LOST'])
    })
  }

  test('should be called with an error when the client leaves tens of MB unread', async t => {
    const { session, reports, finished } = await serve(t, ctx => { ctx.body = Buffer.alloc(50e6) })
    const stream = session.request({ ':path': '/large' })
    stream.on('error', () => {})
    await once(stream, 'response')
    session.destroy()
    await finished
    assert.deepEqual(reports, ['/large KONE_ERR_RESPONSE_LOST'])
  })

  test('should not make an error of the app out of a client that left', async t => {
    const { app, session, finished } = await serve(t, ctx => {
      ctx.respond = false
      stream.close(http2.constants.NGHTTP2_CANCEL)
    })
    app.on('error', err => assert.fail(err))
    const stream = session.request({ ':path': '/' })
    stream.on('error', () => {})
    await finished
  })
})
