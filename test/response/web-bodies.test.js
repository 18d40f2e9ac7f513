'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { ReadableStream: NodeReadableStream } = require('node:stream/web')
const { promisify } = require('node:util')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

const readable = (...chunks) => new ReadableStream({
  start (controller) {
    for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
    controller.close()
  }
})

describe('ctx.body= a Blob', () => {
  test('should take its type and size', () => {
    const ctx = context()
    ctx.body = new Blob(['hello'], { type: 'text/css' })
    assert.equal(ctx.response.get('Content-Type'), 'text/css; charset=utf-8')
    assert.equal(ctx.length, 5)
  })

  test('should be bin without a type', () => {
    const ctx = context()
    ctx.body = new Blob(['hello'])
    assert.equal(ctx.type, 'application/octet-stream')
  })
})

describe('ctx.body= a ReadableStream', () => {
  test('should be bin without a length', () => {
    const ctx = context()
    ctx.body = readable('a')
    assert.equal(ctx.type, 'application/octet-stream')
    assert.equal(ctx.response.has('Content-Length'), false)
    assert.equal(ctx.length, undefined)
  })
})

describe('ctx.body= a Response', () => {
  test('should take its status and headers', () => {
    const ctx = context()
    ctx.body = new Response('hello', { status: 201, headers: { 'content-type': 'text/css', 'x-a': 'b' } })
    assert.equal(ctx.status, 201)
    assert.equal(ctx.response.get('Content-Type'), 'text/css')
    assert.equal(ctx.response.get('X-A'), 'b')
  })
})

engines('bodies of the web', ({ it, ask, serve }) => {
  const send = (make, more = () => {}) => ask(app => app.use(ctx => {
    ctx.body = make()
    more(ctx)
  }), 'GET /')

  it('should respond with a Blob', async () => {
    const res = await send(() => new Blob(['hel', 'lo'], { type: 'text/css' }))
    assert.equal(res.status, 200)
    assert.equal(res.text, 'hello')
    assert.equal(res.headers['content-length'], '5')
    assert.equal(res.headers['content-type'], 'text/css; charset=utf-8')
  })

  it('should respond with a Blob to HEAD by its size', async () => {
    const res = await ask(app => app.use(ctx => { ctx.body = new Blob(['hello']) }), 'HEAD /')
    assert.equal(res.headers['content-length'], '5')
    assert.equal(res.text, '')
  })

  it('should respond with a ReadableStream', async () => {
    for (const make of [() => readable('hel', 'lo'), () => NodeReadableStream.from(['hel', 'lo'])]) {
      const res = await send(make, ctx => { ctx.type = 'text' })
      assert.equal(res.status, 200)
      assert.equal(res.text, 'hello')
      assert.equal(res.headers['content-type'], 'text/plain; charset=utf-8')
    }
  })

  it('should respond with a Response', async () => {
    const res = await send(() => new Response('hello', {
      status: 203,
      headers: { 'content-type': 'text/css', 'x-a': 'b' }
    }))
    assert.equal(res.status, 203)
    assert.equal(res.text, 'hello')
    assert.equal(res.headers['content-type'], 'text/css')
    assert.equal(res.headers['x-a'], 'b')
  })

  it('should respond with a Response of JSON', async () => {
    const res = await send(() => Response.json({ hello: 'world' }))
    assert.deepEqual(res.json(), { hello: 'world' })
    assert.match(res.headers['content-type'], /^application\/json/)
  })

  it('should respond with a Response without a body', async () => {
    const res = await send(() => new Response(null, { status: 200, headers: { 'x-a': 'b' } }))
    assert.equal(res.status, 200)
    assert.equal(res.text, '')
    assert.equal(res.headers['x-a'], 'b')
  })

  it("should keep a Response's own Content-Length, and one that was set before", async () => {
    const own = await send(() => new Response('hello', { headers: { 'content-length': '5' } }))
    const { ask } = await serve(app => app.use(ctx => {
      if (ctx.path === '/replaced') ctx.body = 'a longer string'
      else ctx.length = 5
      ctx.body = new Response('hello')
    }))
    for (const res of [own, await ask('GET /before')]) {
      assert.deepEqual([res.text, res.headers['content-length']], ['hello', '5'])
    }
    assert.equal((await ask('HEAD /before')).headers['content-length'], '5')
    assert.equal((await ask('GET /replaced')).text, 'hello')
  })

  it('should respond with a Response of 204', async () => {
    const res = await send(() => new Response(null, { status: 204 }))
    assert.equal(res.status, 204)
    assert.equal(res.text, '')
  })

  it('should respond with 500 when a ReadableStream fails before its first byte', async () => {
    const errors = []
    const res = await ask(app => {
      app.on('error', error => errors.push(error.message))
      app.use(ctx => {
        ctx.body = new ReadableStream({ pull (controller) { controller.error(new Error('boom')) } })
      })
    }, 'GET /')
    assert.equal(res.status, 500)
    assert.deepEqual(errors, ['boom'])
  })
})

describe('ctx.body= where there are no web classes', () => {
  test('should be sent as everywhere', async () => {
    // Jest's jsdom has none of these, nor setImmediate.
    const program = `
      for (const name of ['ReadableStream', 'Response', 'Blob', 'setImmediate']) delete globalThis[name]
      const { Readable } = require('node:stream')
      const Kone = require('kone')
      class Model { toJSON () { return { model: true } } }
      const bodies = {
        '/json': () => ({ a: 1 }),
        '/model': () => new Model(),
        '/buffer': () => Buffer.from('buffer'),
        '/stream': () => Readable.from(['stream'])
      }
      const app = new Kone()
      app.use(ctx => {
        ctx.onFinished(() => {})
        ctx.body = 'replaced'
        ctx.body = bodies[ctx.path]()
      })
      const inject = async (method, url) => {
        const res = await app.inject({ method, url })
        return [res.status, res.text()]
      }
      const responses = Object.keys(bodies).flatMap(url => [inject('GET', url), inject('HEAD', url)])
      Promise.all(responses).then(all => process.stdout.write(JSON.stringify(all)))
    `
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], { cwd: __dirname })
    assert.deepEqual(JSON.parse(stdout), [
      [200, '{"a":1}'], [200, ''], [200, '{"model":true}'], [200, ''],
      [200, 'buffer'], [200, ''], [200, 'stream'], [200, '']
    ])
  })
})
