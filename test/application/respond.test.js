'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { PassThrough } = require('node:stream')
const statuses = require('statuses')

const engines = require('../helpers/engines')

engines('the response of an app', ({ it, ask }) => {
  const quiet = app => app.on('error', error => { throw error })

  it('should have no Content-Type when the type was taken away', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.body = ''
      ctx.type = null
    }), 'GET /')
    assert.equal(res.status, 200)
    assert.equal('content-type' in res.headers, false)
  })

  // Koa responds in a `.then`, and so one microtask after the onion unwound.
  it('should have a body that a synchronous layer sets one microtask later', async () => {
    const late = ctx => { Promise.resolve().then(() => { ctx.body = 'late' }) }
    const twoLayers = app => app.use((ctx, next) => { next() }).use(late)
    for (const setup of [app => app.use(late), twoLayers]) {
      const res = await ask(setup, 'GET /')
      assert.deepEqual([res.status, res.text], [200, 'late'])
    }
  })

  it('should have it before the finals run', async () => {
    const res = await ask(app => {
      app.use(ctx => { Promise.resolve().then(() => { ctx.body = 'late' }) })
      app.final(ctx => { ctx.body += ', final' })
    }, 'GET /')
    assert.equal(res.text, 'late, final')
  })

  it('should keep the headers of a body over HEAD', async () => {
    const bodies = [['hello', 'text/plain; charset=utf-8', '5'], [{ a: 1 }, 'application/json; charset=utf-8', '7'],
      [Buffer.from('abc'), 'application/octet-stream', '3'], ['', 'text/plain; charset=utf-8', '0']]
    for (const [body, type, length] of bodies) {
      const res = await ask(app => app.use(ctx => { ctx.body = body }), 'HEAD /')
      assert.equal(res.status, 200)
      assert.equal(res.headers['content-type'], type)
      assert.equal(res.headers['content-length'], length)
      assert.equal(res.text, '')
    }
    assert.equal((await ask(() => {}, 'HEAD /')).status, 404)
  })

  it('should not overwrite a Content-Type over HEAD', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.status = 200
      ctx.type = 'application/javascript'
    }), 'HEAD /')
    assert.equal(res.status, 200)
    assert.match(res.headers['content-type'], /^application\/javascript/)
  })

  it('should go on where res.write() stopped, without an error', async () => {
    const res = await ask(app => quiet(app).use(ctx => {
      ctx.status = 200
      ctx.res.setHeader('Content-Type', 'text/html')
      ctx.res.write('Hello')
    }), 'GET /')
    assert.equal(res.status, 200)
    assert.match(res.text, /^Hello/)
  })

  it('should wait for what the app writes to res', async () => {
    const res = await ask(app => quiet(app).use(ctx => {
      ctx.status = 200
      ctx.res.setHeader('Content-Type', 'text/html')
      ctx.res.write('Hello')
      return new Promise(resolve => setTimeout(() => {
        ctx.res.end('Goodbye')
        resolve()
      }, 1))
    }), 'GET /')
    assert.equal(res.text, 'HelloGoodbye')
  })

  it('should ignore headers and status that come after its end', async () => {
    const res = await ask(app => quiet(app).use(ctx => {
      ctx.respond = false
      ctx.res.statusCode = 200
      ctx.res.setHeader('X-A', '1')
      ctx.res.end('out')
      ctx.set('foo', 'bar')
      ctx.status = 201
      ctx.remove('X-A')
    }), 'GET /')
    assert.equal(res.status, 200)
    assert.equal(res.text, 'out')
    assert.equal(res.headers.foo, undefined)
    assert.equal(res.headers['x-a'], '1')
  })

  it('should be 204 for a status without a body and a stream that fails', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.status = 204
      ctx.body = fs.createReadStream('/does/not/exist')
    }), 'GET /')
    assert.equal(res.status, 204)
  })

  it('should be 404 when several streams, each replaced by the next, fail', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.body = fs.createReadStream('/does/not/exist/1')
      ctx.body = fs.createReadStream('/does/not/exist/2')
      ctx.body = fs.createReadStream('/does/not/exist/3')
    }), 'GET /')
    assert.equal(res.status, 404)
  })

  it('should not be touched by the failure of a stream that was replaced', async () => {
    const errors = []
    const res = await ask(app => {
      app.on('error', error => errors.push(error.message))
      app.use(async ctx => {
        const failing = ctx.body = new PassThrough()
        ctx.body = new PassThrough().end('good')
        failing.destroy(new Error('bad'))
        await new Promise(resolve => setImmediate(resolve))
      })
    }, 'GET /')
    assert.equal(res.status, 200)
    assert.equal(res.text, 'good')
    assert.deepEqual(errors, [])
  })

  it('should keep the length of a stream that is set again', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.body = new PassThrough().end('hello')
      ctx.length = 5
      const { body } = ctx
      ctx.body = body
    }), 'GET /')
    assert.equal(res.headers['content-length'], '5')
    assert.equal(res.text, 'hello')
  })

  it('should keep the status given with an explicit null', async () => {
    for (const status of [200, 401, 404, 500]) {
      const res = await ask(app => app.use(ctx => {
        ctx.body = null
        ctx.status = status
      }), 'GET /')
      assert.equal(res.status, status)
      assert.equal(res.text, '')
      assert.equal('content-type' in res.headers, false)
    }
  })

  it('should have neither type nor encoding with an explicit null, whatever was set', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.body = null
      ctx.status = 200
      ctx.type = 'json'
      if (ctx.req.httpVersionMajor === 1) ctx.set('Transfer-Encoding', 'chunked')
    }), 'GET /')
    assert.equal(res.text, '')
    assert.equal('content-type' in res.headers, false)
    assert.equal('transfer-encoding' in res.headers, false)
    assert.equal(res.headers['content-length'], '0')
  })

  it('should be the status as text without a body', async () => {
    const res = await ask(app => app.use(ctx => { ctx.type = 'json' }), 'GET /')
    assert.equal(res.status, 404)
    assert(['Not Found', '404'].includes(res.text)) // HTTP/2 has no reason phrases
    assert.equal(res.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(res.headers['content-length'], String(res.text.length))
  })

  it('should be the number of a status that has no reason phrase', async t => {
    statuses.message[420] = '' // apps add codes of their own
    t.after(() => { delete statuses.message[420] })
    const res = await ask(app => app.use(ctx => { ctx.status = 420 }), 'GET /')
    assert.deepEqual([res.status, res.text], [420, '420'])
  })

  it('should be an error for a body that has no JSON', async () => {
    const errors = []
    const res = await ask(app => {
      app.on('error', error => errors.push(error))
      app.use(ctx => { ctx.body = Symbol('a') })
    }, 'GET /')
    assert.equal(res.status, 500)
    assert.deepEqual(errors.map(String), ['TypeError: a body of type symbol has no JSON'])
  })

  it('should have the headers of JSON whatever its value', async () => {
    for (const body of [0, false, '"text"', [], {}]) {
      const res = await ask(app => app.use(ctx => {
        ctx.type = 'json'
        ctx.body = body
      }), 'GET /')
      assert.match(res.headers['content-type'], /^application\/json/)
    }
  })

  it('should not be given when the connection cannot be written to', {
    skip: { http2: 'asks its stream', inject: 'has no connection' }
  }, async () => {
    const res = await ask(app => quiet(app).use(async ctx => {
      const end = ctx.res.end.bind(ctx.res)
      ctx.respond = undefined
      ctx.status = 200
      Object.defineProperty(ctx.response, 'writable', { value: false })
      setImmediate(() => end('by hand'))
      ctx.body = 'not sent'
      ctx.remove('Content-Length')
    }), 'GET /')
    assert.equal(res.text, 'by hand')
  })
})
