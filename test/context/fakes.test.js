'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const { PassThrough } = require('node:stream')

const Kone = require('../helpers/kone')
const engines = require('../helpers/engines')

describe('plain objects as req and res', () => {
  const plain = emitter => {
    const headers = {}
    return new Kone().createContext({ headers: { host: 'a.com', accept: 'text/html' }, socket: { ...emitter } }, {
      ...emitter,
      _headers: headers,
      getHeader: name => headers[name.toLowerCase()],
      setHeader: (name, value) => { headers[name.toLowerCase()] = value },
      removeHeader: name => { delete headers[name.toLowerCase()] }
    })
  }

  test('should be enough for every getter', () => {
    const ctx = plain()
    for (const object of [ctx, ctx.request, ctx.response]) {
      for (let proto = object; proto !== Object.prototype; proto = Object.getPrototypeOf(proto)) {
        for (const name of Object.getOwnPropertyNames(proto)) {
          if (name.startsWith('__') || ['path', 'query', 'querystring', 'search'].includes(name)) continue
          assert.doesNotThrow(() => object[name], name)
        }
      }
    }
  })

  test('should be enough to set all that a response has', () => {
    const ctx = plain()
    ctx.status = 201
    ctx.body = { a: 1 }
    ctx.etag = 'x'
    ctx.lastModified = new Date(0)
    ctx.vary('Accept')
    ctx.append('Link', '<a>')
    ctx.attachment('a.txt')
    ctx.redirect('/b')
    assert.equal(ctx.response.get('location'), '/b')
    assert.equal(ctx.accepts('json', 'html'), 'html')
    assert.equal(ctx.host, 'a.com')
    assert.equal(ctx.length, Buffer.byteLength(ctx.body))
    JSON.stringify(ctx)
  })

  // as unit tests write them; Koa calls on() alone
  const on = { on () { return this } }
  for (const [what, emitter] of [['nothing of an emitter', {}], ['on() alone', on], ['on() and once()', { ...on, once: on.on }]]) {
    test(`should be enough for a stream as the body, with ${what}`, () => {
      const ctx = plain(emitter)
      ctx.body = new PassThrough()
      ctx.onFinished(() => {})
      assert.deepEqual([ctx.status, ctx.type], [200, 'application/octet-stream'])
    })
  }
})

engines('node’s objects in ctx', ({ ask, it, see }) => {
  it('should send the response where ctx.res and response.res are replaced', async () => {
    const called = []
    const replace = ctx => {
      const proxy = new Proxy(ctx.res, {
        get (res, name) {
          if (name === 'end' || name === 'setHeader') called.push(name)
          return typeof res[name] === 'function' ? res[name].bind(res) : res[name]
        },
        set: (res, name, value) => Reflect.set(res, name, value)
      })
      ctx.res = ctx.response.res = proxy
      assert.equal(ctx.res, proxy)
    }
    const sent = await ask(app => app.use(ctx => {
      replace(ctx)
      ctx.body = 'by another'
      assert.equal(ctx.response.has('content-length'), true)
    }), 'GET /')
    assert.deepEqual([sent.status, sent.text, called.at(-1)], [200, 'by another', 'end'])
    const failed = await ask(app => app.use(ctx => {
      replace(ctx)
      ctx.throw(400, 'refused')
    }), 'GET /')
    assert.deepEqual([failed.status, failed.text], [400, 'refused'])
  })
})
