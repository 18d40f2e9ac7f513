'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

describe('ctx.cookies', () => {
  test('should be memoised and replaceable', () => {
    const ctx = context()
    assert.equal(ctx.cookies, ctx.cookies)
    const own = { get: () => 'own', set () {} }
    ctx.cookies = own
    assert.equal(ctx.cookies, own)
    assert.equal(ctx.cookies.get('x'), 'own')
  })
})

engines('ctx.cookies', ({ it, ask, see }) => {
  const signed = { app: { keys: ['a', 'b'] } }

  it('should read the cookies of the request', async () => {
    const headers = { cookie: 'name=tobi; other=x%20y' }
    assert.deepEqual(await see(ctx =>
      [ctx.cookies.get('name'), ctx.cookies.get('other'), ctx.cookies.get('none')], 'GET /', { headers }),
    ['tobi', 'x%20y', undefined])
  })

  it('should set several', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.cookies.set('name', 'jon')
      ctx.cookies.set('age', '4', { httpOnly: false, path: '/zoo', maxAge: 1000, sameSite: 'lax' })
      ctx.status = 204
    }), 'GET /')
    const [first, second] = res.headers['set-cookie']
    assert.equal(first, 'name=jon; path=/; httponly')
    assert.match(second, /^age=4; path=\/zoo; expires=.* GMT; samesite=lax$/)
  })

  it('should sign with app.keys', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.cookies.set('name', 'jon', { signed: true })
      ctx.status = 204
    }), 'GET /', signed)
    const cookies = res.headers['set-cookie']
    assert.equal(cookies.length, 2)
    assert(cookies.every(cookie => /^name(\.sig)?=/.test(cookie)))

    const cookie = cookies.map(one => one.split(';')[0]).join('; ')
    const read = ctx => ctx.cookies.get('name', { signed: true })
    assert.equal(await see(read, 'GET /', { ...signed, headers: { cookie } }), 'jon')
    const forged = cookie.replace('jon', 'bob')
    assert.equal(await see(read, 'GET /', { ...signed, headers: { cookie: forged } }), undefined)
  })

  it('should refuse to sign without keys', async () => {
    const res = await ask(app => app.use(ctx => {
      try {
        ctx.cookies.set('foo', 'bar', { signed: true })
      } catch (error) {
        ctx.body = error.message
      }
    }), 'GET /')
    assert.equal(res.text, '.keys required for signed cookies')
  })

  it('should be secure behind a trusted proxy that says https', async () => {
    const options = { app: { proxy: true }, headers: { 'x-forwarded-proto': 'https' } }
    const res = await ask(app => app.use(ctx => {
      ctx.cookies.set('a', 'b', { secure: true })
      ctx.cookies.set('c', 'd')
      ctx.status = 204
    }), 'GET /', options)
    assert.match(res.headers['set-cookie'][0], /; secure/)
    assert.match(res.headers['set-cookie'][1], /; secure/)
  })

  it('should not send a secure cookie in the clear', async () => {
    const res = await ask(app => app.use(ctx => ctx.cookies.set('a', 'b', { secure: true })), 'GET /')
    assert.equal(res.status, 500)
    assert.equal(res.headers['set-cookie'], undefined)
  })
})
