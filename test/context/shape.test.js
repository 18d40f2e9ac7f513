'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const v8 = require('node:v8')

const context = require('../helpers/context')
const engines = require('../helpers/engines')
const { request, response } = require('../helpers/context')

engines('the objects of a request', ({ it, serve }) => {
  it('should have one shape, whatever the request', async () => {
    const shapes = new Set()
    const { ask } = await serve(app => app.use(ctx => {
      shapes.add([ctx, ctx.request, ctx.response].map(one => Object.keys(one).join()).join(' | '))
      ctx.body = ctx.path
    }))
    await ask('GET /')
    await ask('GET /a?b', { headers: { 'x-a': 'b', cookie: 'a=b' } })
    await ask('POST /c', { body: 'hello' })
    assert.equal(shapes.size, 1)
  })
})

// V8's own word on it, where keys could be equal and hidden classes differ.
v8.setFlagsFromString('--allow-natives-syntax')
const haveSameMap = new Function('a', 'b', 'return %HaveSameMap(a, b)') // eslint-disable-line no-new-func
v8.setFlagsFromString('--no-allow-natives-syntax')

engines('the hidden class of the objects of a request', ({ it, serve }) => {
  it('should be one, whatever the request and its response', { skip: { 'create-context': 'the app makes them' } }, async () => {
    const seen = []
    const { ask } = await serve(app => app.use(ctx => {
      seen.push([ctx, ctx.request, ctx.response])
      if (ctx.path === '/fail') throw new Error('x')
      if (ctx.path === '/json') ctx.body = ctx.query
      if (ctx.path === '/none') ctx.status = 204
    }))
    // The first few are the engine's to settle.
    for (const line of ['GET /', 'GET /', 'GET /json?a=b', 'POST /none', 'GET /fail', 'GET /json']) await ask(line)
    const [, first, ...others] = seen
    const lazily = ['_querycache', 'memoizedURL', '_accept']
    for (const objects of others) {
      objects.forEach((object, i) => {
        if (Reflect.ownKeys(object).length !== Reflect.ownKeys(first[i]).length) {
          assert(lazily.some(name => name in object) || Object.getOwnPropertySymbols(object).length > 0)
        } else {
          assert.equal(haveSameMap(object, first[i]), true)
        }
      })
    }
  })
})

describe('the objects of a request', () => {
  test('should have no private fields: a proxy and a child work as well', () => {
    const ctx = context({ url: '/a?b=c', method: 'GET', headers: { host: 'a.com' } })
    for (const other of [Object.create(ctx), new Proxy(ctx, {})]) {
      other.body = 'hello'
      other.status = 201
      assert.equal(other.body, 'hello')
      assert.equal(other.path, '/a')
      assert.equal(other.host, 'a.com')
      assert.equal(other.ip, '127.0.0.1')
      other.cookies.get('x')
    }
    assert.equal(new Proxy(request({ url: '/p' }), {}).path, '/p')
    const res = new Proxy(response(), {})
    res.body = { a: 1 }
    assert.equal(res.type, 'application/json')
  })
})

engines('setters of _body and status on one ctx.response', ({ it, ask }) => {
  it('should be called, as an APM tool expects', async () => {
    const calls = []
    const res = await ask(app => app.use((ctx, next) => {
      const { response } = ctx
      let _body
      let { status } = response
      Object.defineProperty(response, '_body', {
        get: () => _body,
        set: value => {
          calls.push(['_body', value])
          _body = value
        }
      })
      Object.defineProperty(response, 'status', {
        get: () => status,
        set: value => {
          calls.push(['status', value])
          status = ctx.res.statusCode = value
        }
      })
      return next()
    }).use(ctx => {
      ctx.body = 'hello'
      ctx.status = 201
    }), 'GET /')
    assert.equal(res.status, 201)
    assert.equal(res.text, 'hello')
    assert.deepEqual(calls, [['_body', 'hello'], ['status', 200], ['status', 201]])
  })
})

engines('ctx.response._body', ({ it, ask }) => {
  it('should get a response when it was set beside the setter', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.body = 'replaced'
      ctx.response._body = 'by force'
      ctx.length = 8
    }), 'GET /')
    assert.equal(res.text, 'by force')
  })

  it('should say that null was meant by _explicitNullBody', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.status = 200
      ctx.response._explicitNullBody = true
    }), 'GET /')
    assert.equal(res.status, 200)
    assert.equal(res.text, '')
  })
})
