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
})
