'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

const thrown = (...args) => {
  try {
    context().assert(...args)
  } catch (error) {
    return error
  }
}

describe('ctx.assert(value, status, message, props)', () => {
  it('should do nothing when the value is truthy', () => {
    for (const value of [true, 1, 'yes', {}, []]) assert.equal(thrown(value, 404), undefined)
  })

  it('should throw otherwise', () => {
    for (const value of [false, 0, '', null, undefined, NaN]) {
      assert.equal(thrown(value, 404, 'custom message').status, 404)
    }
  })

  it('should carry status, message, expose and props', () => {
    const error = thrown(false, 401, 'Please login!', { redirect: '/login' })
    assert(error instanceof Error)
    assert.equal(error.status, 401)
    assert.equal(error.statusCode, 401)
    assert.equal(error.message, 'Please login!')
    assert.equal(error.expose, true)
    assert.equal(error.redirect, '/login')
  })

  it('should be 500 without a status and have its message without one', () => {
    assert.equal(thrown(false).status, 500)
    assert.equal(thrown(false, 404).message, 'Not Found')
  })

  it('should take props in place of a message', () => {
    const error = thrown(false, 404, { field: 'name' })
    assert.equal(error.message, 'Not Found')
    assert.equal(error.field, 'name')
  })
})

describe('ctx.assert.*', () => {
  const fails = (name, ...args) => {
    try {
      context().assert[name](...args, 403, 'custom', { code: 'x' })
    } catch (error) {
      assert.equal(error.status, 403)
      assert.equal(error.message, 'custom')
      assert.equal(error.code, 'x')
      return true
    }
    return false
  }

  const table = [
    ['equal', [1, '1'], [1, 2]],
    ['notEqual', [1, 2], [1, '1']],
    ['strictEqual', ['a', 'a'], [1, '1']],
    ['notStrictEqual', [1, '1'], ['a', 'a']],
    ['deepEqual', [{ a: 1 }, { a: '1' }], [{ a: 1 }, { a: 2 }]],
    ['notDeepEqual', [{ a: 1 }, { a: 2 }], [{ a: 1 }, { a: '1' }]],
    ['ok', [true], [false]]
  ]

  for (const [name, good, bad] of table) {
    it(`should have ${name}`, () => {
      assert.equal(fails(name, ...good), false)
      assert.equal(fails(name, ...bad), true)
    })
  }

  it('should have fail', () => {
    assert.equal(fails('fail'), true)
  })
})

engines('ctx.assert()', ({ it, ask }) => {
  it('should respond with its status and message', async () => {
    const res = await ask(app => app.use(ctx => ctx.assert(ctx.state.user, 401, 'Please login!')), 'GET /')
    assert.equal(res.status, 401)
    assert.equal(res.text, 'Please login!')
    assert.equal(res.headers['content-type'], 'text/plain; charset=utf-8')
  })
})
