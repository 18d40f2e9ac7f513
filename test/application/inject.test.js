'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { Readable } = require('node:stream')

const Kone = require('../helpers/kone')

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
  it('should ask without a socket', async () => {
    const res = await echo().inject({ method: 'POST', url: '/a?b=c', headers: { 'X-A': '1' }, body: 'hello' })
    assert.equal(res.status, 200)
    assert.equal(res.headers['x-method'], 'POST')
    assert(Buffer.isBuffer(res.body))
    assert.equal(res.text(), res.body.toString())
    const { url, headers, body } = res.json()
    assert.equal(url, '/a?b=c')
    assert.equal(headers['x-a'], '1')
    assert.equal(body, 'hello')
  })

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
  })

  it('should give the promise of the app’s class', () => {
    const app = new Kone()
    assert(app.inject('/') instanceof (app.Promise ?? Promise))
  })

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

  it('should see middleware and handlers that are added later', async () => {
    const app = new Kone()
    assert.equal((await app.inject('/')).status, 404)
    app.use(ctx => { ctx.body = 'late' })
    assert.equal((await app.inject('/')).text(), 'late')
  })

  it('should refuse a url that is no path', () => {
    assert.throws(() => new Kone().inject({ url: 'a' }), TypeError)
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
