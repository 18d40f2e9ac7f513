'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const createError = require('http-errors')

const context = require('../helpers/context')

/** The error that `ctx.throw()` or another method throws, with statusCode = status. */
function thrown (args, act = ctx => ctx.throw(...args)) {
  try {
    act(context())
  } catch (error) {
    assert(error instanceof Error)
    assert.equal(error.statusCode, error.status)
    return error
  }
}

const error = props => Object.assign(new Error('test'), props)
const PROP = { prop: true }

/** Arguments → status, message, expose, prop. */
const THROWN = [
  ['nothing', [], 500, 'Internal Server Error', false],
  ['a status', [400], 400, 'Bad Request', true],
  ['a status from 500 on', [503], 503, 'Service Unavailable', false],
  ['a message', ['test'], 500, 'test', false],
  ['status and message', [400, 'name required'], 400, 'name required', true],
  ['message and status', ['name required', 400], 400, 'name required', true],
  ['an error', [error()], 500, 'test', false],
  ['status and error', [422, error()], 422, 'test', true],
  ['error and status', [error(), 422], 422, 'test', true],
  ['an error with a status', [error({ status: 404 })], 404, 'test', true],
  ['an error with another status', [createError(404, 'gone'), 422], 422, 'gone', true],
  ['an error with another status, from 500 on', [createError(404, 'gone'), 503], 503, 'gone', false],
  ['a status that does not exist', [9000, 'x'], 500, 'x', false],
  ['props', [400, 'msg', PROP], 400, 'msg', true, true],
  ['status and props', [400, PROP], 400, 'Bad Request', true, true],
  ['message and props', ['msg', PROP], 500, 'msg', false, true],
  ['message, status and props', ['msg', 400, PROP], 400, 'msg', true, true],
  ['error and props', [error(), PROP], 500, 'test', false, true],
  ['status, error and props', [400, error(), PROP], 400, 'test', true, true],
  ['props with a status, which does not count', [400, 'msg', { ...PROP, status: -1, statusCode: -1 }], 400, 'msg', true, true]
]

describe('ctx.throw()', () => {
  for (const [title, args, status, message, expose, prop] of THROWN) {
    it(`should take ${title}`, () => {
      const err = thrown(args)
      assert.deepEqual([err.status, err.message, err.expose, err.prop], [status, message, expose, prop])
      const given = args.find(arg => arg instanceof Error)
      if (given) assert.equal(err, given)
    })
  }

  it('should be an HttpError of the shared package', () => {
    assert(thrown([400]) instanceof createError.HttpError)
    assert(thrown([400]) instanceof createError.BadRequest)
    assert(createError.isHttpError(thrown(['x'])))
  })
})

describe('ctx.assert(value, status, message, props)', () => {
  const failed = (...args) => thrown(args, ctx => ctx.assert(...args))

  it('should do nothing when the value is truthy', () => {
    for (const value of [true, 1, 'yes', {}, []]) assert.equal(failed(value, 404), undefined)
  })

  it('should throw otherwise', () => {
    for (const value of [false, 0, '', null, undefined, NaN]) assert.equal(failed(value, 404, 'custom').status, 404)
  })

  for (const [title, args, status, message, prop] of [
    ['status, message and props', [401, 'Please login!', PROP], 401, 'Please login!', true],
    ['props in place of a message', [404, PROP], 404, 'Not Found', true],
    ['a status', [404], 404, 'Not Found'],
    ['nothing', [], 500, 'Internal Server Error']
  ]) {
    it(`should take ${title}`, () => {
      const err = failed(false, ...args)
      assert.deepEqual([err.status, err.message, err.expose, err.prop], [status, message, status < 500, prop])
    })
  }

  for (const [name, good, bad] of [
    ['equal', [1, '1'], [1, 2]],
    ['notEqual', [1, 2], [1, '1']],
    ['strictEqual', ['a', 'a'], [1, '1']],
    ['notStrictEqual', [1, '1'], ['a', 'a']],
    ['deepEqual', [{ a: 1 }, { a: '1' }], [{ a: 1 }, { a: 2 }]],
    ['notDeepEqual', [{ a: 1 }, { a: 2 }], [{ a: 1 }, { a: '1' }]],
    ['ok', [true], [false]],
    ['fail', undefined, []]
  ]) {
    it(`should have ${name}`, () => {
      const act = operands => thrown([], ctx => ctx.assert[name](...operands, 403, 'custom', PROP))
      if (good) assert.equal(act(good), undefined)
      const { status, message, prop } = act(bad)
      assert.deepEqual([status, message, prop], [403, 'custom', true])
    })
  }
})
