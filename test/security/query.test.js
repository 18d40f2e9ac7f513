'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const querystring = require('node:querystring')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

const query = text => context({ url: `/?${text}` }).query

describe('ctx.query', () => {
  test('should have no prototype to pollute', () => {
    const one = query('__proto__[a]=b&__proto__=c&constructor=d&hasOwnProperty=e')
    assert.equal(Object.getPrototypeOf(one), null)
    assert.equal(one.constructor, 'd')
    assert.equal(one.hasOwnProperty, 'e')
    assert.deepEqual(Object.keys(one).sort(), ['__proto__', '__proto__[a]', 'constructor', 'hasOwnProperty'])
    assert.equal({}.a, undefined)
  })

  test('should be empty of inherited names', () => {
    assert.equal(query('').toString, undefined)
    assert.equal(query('a=b').constructor, undefined)
    assert.equal(query('a=b').__proto__, undefined) // eslint-disable-line no-proto
  })

  test('should remember query strings that are called like a prototype’s members', () => {
    for (const text of ['__proto__', 'constructor', 'toString']) {
      const ctx = context({ url: `/?${text}` })
      assert.deepEqual({ ...ctx.query }, { ...querystring.parse(text) })
      ctx.query.added = '1'
      assert.equal(ctx.query.added, '1')
      assert.equal({}.added, undefined)
    }
  })

  // A getAll() per key, as others do it, would take minutes for these.
  test('should read a great many repeated, different and encoded keys', () => {
    const many = 400000
    assert.deepEqual({ ...query('a=1&'.repeat(many)) }, { ...querystring.parse('a=1&'.repeat(many)) })
    assert(Object.keys(query(Array.from({ length: many }, (_, i) => `k${i}`).join('&'))).length >= 1000)
    for (const unit of ['%', '%61=%62&', '&', '=']) assert.equal(typeof query(unit.repeat(many / unit.length)), 'object')
  })

  test('should be parsed once however often it is read', t => {
    const ctx = context({ url: '/?a=1' })
    const parse = t.mock.method(querystring, 'parse')
    for (let i = 0; i < 10; i++) assert.equal(ctx.query.a, '1')
    assert(parse.mock.callCount() <= 1)
  })
})

engines('bad percent-encoding', ({ it, serve, engine }) => {
  it('should be read without an error', async () => {
    const { ask } = await serve(app => app.use(ctx => {
      ctx.body = [ctx.path, ctx.querystring, { ...ctx.query }, ctx.href, String(ctx.URL.pathname), ctx.search]
    }))
    for (const target of ['/%', '/%zz', '/%ff', '/%c0%ae%c0%ae/', '/a%00b', '/?%', '/?a=%zz', '/?%ff=%fe', '/?a=%', '/%2e%2e/%2e%2e']) {
      if (engine.startsWith('fetch') && target.includes('%2e%2e')) continue // the URL of a Request is normalised
      const res = await ask(`GET ${target}`)
      assert.equal(res.status, 200, target)
      assert.equal(res.json()[0] + res.json()[5], target === '/?' ? '/' : target)
    }
  })
})
