'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { PassThrough } = require('node:stream')
const { promisify } = require('node:util')

const context = require('../helpers/context')
const { response } = context

const readable = text => new Response(text).body

const type = res => res.header['content-type']
const setTo = body => {
  const res = response()
  res.body = body
  return res
}

describe('ctx.body=', () => {
  it('should keep a Content-Type that is set already', () => {
    for (const body of ['<em>hey</em>', Buffer.from('hey'), new PassThrough()]) {
      const res = response()
      res.type = 'png'
      res.body = body
      assert.equal(type(res), 'image/png')
    }
  })

  it('should set 200 unless a status was set', () => {
    assert.equal(setTo('hey').status, 200)
    const res = response()
    res.status = 201
    res.body = 'hey'
    assert.equal(res.status, 201)
  })

  it('should be read as it was set', () => {
    for (const body of ['', 'hey', Buffer.from('a'), { a: 1 }, [1], 0, false, true, null]) {
      const ctx = context()
      ctx.body = body
      assert.equal(ctx.body, body)
      assert.equal(ctx.response.body, body)
    }
    assert.equal(context().body, undefined)
  })

  describe('to a string', () => {
    it('should be text, or html when it begins with <', () => {
      assert.equal(type(setTo('Tobi')), 'text/plain; charset=utf-8')
      assert.equal(type(setTo('')), 'text/plain; charset=utf-8')
      assert.equal(type(setTo('<h1>Tobi</h1>')), 'text/html; charset=utf-8')
      assert.equal(type(setTo('\n\t <p>')), 'text/html; charset=utf-8')
      assert.equal(type(setTo('hello <b>')), 'text/plain; charset=utf-8')
    })

    it('should count bytes', () => {
      assert.equal(setTo('Tobi').header['content-length'], '4')
      assert.equal(setTo('ü☃').header['content-length'], '5')
    })

    it('should count again when set again', () => {
      const res = setTo('<h1>Tobi</h1>')
      res.body = 'Loki'
      assert.equal(res.length, 4)
      assert.equal(type(res), 'text/html; charset=utf-8')
    })
  })

  describe('to a buffer', () => {
    it('should be bin with a length', () => {
      const res = setTo(Buffer.from('Tobi'))
      assert.equal(type(res), 'application/octet-stream')
      assert.equal(res.header['content-length'], '4')
    })
  })

  describe('to an object', () => {
    it('should be json without a length yet', () => {
      const res = setTo({ a: 1 })
      assert.equal(type(res), 'application/json; charset=utf-8')
      assert.equal(res.header['content-length'], undefined)
    })

    it('should replace the type and length of what was there', () => {
      const res = setTo('hello')
      res.body = { a: 1 }
      assert.equal(type(res), 'application/json; charset=utf-8')
      assert.equal(res.header['content-length'], undefined)
    })

    it('should follow the object until it is sent', () => {
      const ctx = context()
      ctx.body = { a: 1 }
      ctx.body.b = 2
      assert.equal(ctx.length, '{"a":1,"b":2}'.length)
    })
  })

  for (const empty of [null, undefined]) {
    describe(`to ${empty}`, () => {
      it('should be 204 without type, length and encoding', () => {
        const res = response()
        res.set({ 'Content-Type': 'text/plain', 'Content-Length': '5', 'Transfer-Encoding': 'chunked' })
        res.body = empty
        assert.equal(res.status, 204)
        assert.deepEqual({ ...res.header }, {})
      })

      it('should keep another status without a body', () => {
        const res = response()
        res.status = 304
        res.body = empty
        assert.equal(res.status, 304)
      })
    })
  }

  it('should remember an explicit null', () => {
    assert.equal(response()._explicitNullBody, undefined)
    assert.equal(setTo(null)._explicitNullBody, true)
    assert.equal(setTo(undefined)._explicitNullBody, undefined)
  })

  describe('to a stream', () => {
    it('should be bin without a length', () => {
      const res = setTo(new PassThrough())
      assert.equal(type(res), 'application/octet-stream')
      assert.equal(res.length, undefined)
      assert.equal(res.header['content-length'], undefined)
    })

    it('should remove the length of what was there', () => {
      const res = setTo('something')
      assert.equal(res.header['content-length'], '9')
      res.body = new PassThrough()
      assert.equal(res.header['content-length'], undefined)
    })

    it('should keep the length that the app knows', () => {
      const res = response()
      res.length = 12
      res.body = new PassThrough()
      assert.equal(res.header['content-length'], '12')
    })

    it('should not add a listener for errors again when set again', () => {
      const stream = new PassThrough()
      const res = setTo(stream)
      const listeners = stream.listenerCount('error')
      res.body = stream
      assert.equal(stream.listenerCount('error'), listeners)
      assert.equal(listeners, 1)
    })
  })

  describe('over a stream', () => {
    const over = body => {
      const first = new PassThrough()
      const res = setTo(first)
      res.body = body
      return { first, res }
    }

    it('should destroy it when something else is set', () => {
      for (const body of ['text', Buffer.from('bytes'), { a: 1 }, null]) {
        const { first } = over(body)
        assert.equal(first.destroyed, true)
      }
    })

    it('should leave it to another stream, which may read from it', () => {
      const { first } = over(new PassThrough())
      assert.equal(first.destroyed, false)
      first.destroy()
    })

    it('should survive an error of the one that was replaced', async () => {
      const { first } = over('text')
      first.emit('error', new Error('nobody listens'))
    })

    it('should leave it alone when it is set again', () => {
      const stream = new PassThrough()
      const res = setTo(stream)
      res.body = stream
      assert.equal(stream.destroyed, false)
      stream.destroy()
    })
  })
})

describe('ctx.body= a Blob', () => {
  it('should take its type and size', () => {
    const ctx = context()
    ctx.body = new Blob(['hello'], { type: 'text/css' })
    assert.equal(ctx.response.get('Content-Type'), 'text/css; charset=utf-8')
    assert.equal(ctx.length, 5)
  })

  it('should be bin without a type', () => {
    const ctx = context()
    ctx.body = new Blob(['hello'])
    assert.equal(ctx.type, 'application/octet-stream')
  })
})

describe('ctx.body= a ReadableStream', () => {
  it('should be bin without a length', () => {
    const ctx = context()
    ctx.body = readable('a')
    assert.equal(ctx.type, 'application/octet-stream')
    assert.equal(ctx.response.has('Content-Length'), false)
    assert.equal(ctx.length, undefined)
  })
})

describe('ctx.body= a Response', () => {
  it('should take its status and headers', () => {
    const ctx = context()
    ctx.body = new Response('hello', { status: 201, headers: { 'content-type': 'text/css', 'x-a': 'b' } })
    assert.equal(ctx.status, 201)
    assert.equal(ctx.response.get('Content-Type'), 'text/css')
    assert.equal(ctx.response.get('X-A'), 'b')
  })
})

describe('ctx.body= where there are no web classes', () => {
  it('should be sent as everywhere', async () => {
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
