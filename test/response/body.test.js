'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { PassThrough, Readable } = require('node:stream')

const context = require('../helpers/context')
const engines = require('../helpers/engines')
const { response } = require('../helpers/context')

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

engines('ctx.body=', ({ it, ask, serve, engine }) => {
  const send = (body, more = () => {}) => ask(app => app.use(ctx => {
    ctx.body = typeof body === 'function' ? body() : body
    more(ctx)
  }), 'GET /')

  it('should respond with text', async () => {
    const res = await send('hellö')
    assert.equal(res.status, 200)
    assert.equal(res.text, 'hellö')
    assert.equal(res.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(res.headers['content-length'], '6')
  })

  it('should respond with bytes', async () => {
    const bytes = Buffer.from([0, 255, 128, 10, 13])
    const res = await send(bytes)
    assert.deepEqual(res.body, bytes)
    assert.equal(res.headers['content-type'], 'application/octet-stream')
    assert.equal(res.headers['content-length'], '5')
  })

  it('should respond with json', async () => {
    for (const body of [{ hello: 'wörld' }, [1, 'two', null], 0, 42, true, false]) {
      const res = await send(body)
      assert.deepEqual(res.json(), body)
      assert.equal(res.headers['content-type'], 'application/json; charset=utf-8')
      assert.equal(res.headers['content-length'], String(Buffer.byteLength(JSON.stringify(body))))
    }
  })

  it('should respond with what is in the object at the end', async () => {
    const res = await send({ a: 1 }, ctx => { ctx.body.b = 2 })
    assert.deepEqual(res.json(), { a: 1, b: 2 })
  })

  it('should respond with 204 to null and undefined', async () => {
    for (const body of [null, undefined]) {
      const res = await send(body)
      assert.equal(res.status, 204)
      assert.equal(res.text, '')
      assert.equal(res.headers['content-type'], undefined)
      assert.equal(res.headers['content-length'], undefined)
    }
  })

  it('should respond with an empty 200 to an explicit null', async () => {
    const res = await send(null, ctx => { ctx.status = 200 })
    assert.equal(res.status, 200)
    assert.equal(res.text, '')
    assert.equal(res.headers['content-type'], undefined)
    assert.equal(res.headers['content-length'], '0')
  })

  it('should keep the connection for an explicit null, whatever length was set', async () => {
    const { ask } = await serve(app => app.use(ctx => {
      ctx.body = null
      ctx.length = 10
      ctx.status = 401
    }))
    const { status, text, headers, complete } = await ask('GET /')
    assert.deepEqual({ status, text, complete }, { status: 401, text: '', complete: true })
    assert.equal(headers['content-length'], '0')
    if (engine !== 'inject') assert.notEqual(headers.connection, 'close') // its client keeps none
  })

  it('should respond with the status to a body that was undefined and a status', async () => {
    const res = await send(undefined, ctx => { ctx.status = 200 })
    assert.equal(res.status, 200)
    assert.equal(res.text, engine === 'http2' ? '200' : 'OK')
  })

  it('should respond with a stream', async () => {
    const file = fs.readFileSync(__filename, 'utf8')
    const res = await send(() => fs.createReadStream(__filename))
    assert.equal(res.status, 200)
    assert.equal(res.text, file)
    assert.equal(res.complete, true)
    assert.equal(res.headers['content-type'], 'application/octet-stream')
    assert.equal(res.headers['content-length'], undefined)
  })

  it('should respond with a stream of a known length', async () => {
    const res = await send(() => Readable.from(['hello']), ctx => { ctx.length = 5 })
    assert.equal(res.text, 'hello')
    assert.equal(res.headers['content-length'], '5')
  })

  it('should respond with a stream to HEAD without its bytes, and destroy it', async () => {
    const stream = new PassThrough()
    stream.write('hello')
    const res = await ask(app => app.use(ctx => {
      ctx.body = stream
      ctx.type = 'text'
    }), 'HEAD /')
    assert.equal(res.status, 200)
    assert.equal(res.text, '')
    assert.equal(res.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(stream.destroyed, true)
  })

  it('should respond with the last body of many', async () => {
    const res = await send('one', ctx => {
      ctx.body = { two: 2 }
      ctx.body = Buffer.from('three')
      ctx.body = Readable.from(['four'])
      ctx.body = 'five'
    })
    assert.equal(res.text, 'five')
    assert.equal(res.headers['content-length'], '4')
  })

  it('should respond with big bodies whole', async () => {
    const big = 'x'.repeat(300000)
    assert.equal((await send(big)).text, big)
    assert.equal((await send(() => Buffer.from(big))).text, big)
    assert.equal((await send(() => Readable.from([big, big]))).text.length, 600000)
  })
})
