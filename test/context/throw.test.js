'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const createError = require('http-errors')

const context = require('../helpers/context')
const engines = require('../helpers/engines')

const thrown = (...args) => {
  try {
    context().throw(...args)
  } catch (error) {
    return error
  }
  assert.fail('nothing was thrown')
}

const is = (error, { status, message, expose }) => {
  assert(error instanceof Error)
  assert.equal(error.status, status)
  assert.equal(error.statusCode, status)
  assert.equal(error.message, message)
  assert.equal(error.expose, expose)
}

describe('ctx.throw()', () => {
  it('should be 500 and not exposed', () => {
    is(thrown(), { status: 500, message: 'Internal Server Error', expose: false })
  })

  it('should take a status', () => {
    is(thrown(400), { status: 400, message: 'Bad Request', expose: true })
    is(thrown(503), { status: 503, message: 'Service Unavailable', expose: false })
  })

  it('should take a message', () => {
    is(thrown('test'), { status: 500, message: 'test', expose: false })
  })

  it('should take status and message, in both orders', () => {
    is(thrown(400, 'name required'), { status: 400, message: 'name required', expose: true })
    is(thrown('name required', 400), { status: 400, message: 'name required', expose: true })
  })

  it('should take an error', () => {
    const error = new Error('test')
    assert.equal(thrown(error), error)
    is(error, { status: 500, message: 'test', expose: false })
  })

  it('should take status and error, in both orders', () => {
    const first = new Error('test')
    assert.equal(thrown(422, first), first)
    is(first, { status: 422, message: 'test', expose: true })

    const second = new Error('test')
    assert.equal(thrown(second, 422), second)
    is(second, { status: 422, message: 'test', expose: true })
  })

  it('should let the status given win over the error’s', () => {
    is(thrown(createError(404, 'gone'), 422), { status: 422, message: 'gone', expose: true })
    is(thrown(createError(404, 'gone'), 503), { status: 503, message: 'gone', expose: false })
  })

  it('should keep the status of an error when none is given', () => {
    is(thrown(Object.assign(new Error('no entry'), { status: 404 })),
      { status: 404, message: 'no entry', expose: true })
  })

  it('should take props', () => {
    const error = thrown(400, 'msg', { prop: true })
    is(error, { status: 400, message: 'msg', expose: true })
    assert.equal(error.prop, true)
    assert.equal(thrown(400, { prop: true }).prop, true)
    assert.equal(thrown('msg', { prop: true }).prop, true)
    assert.equal(thrown('msg', 400, { prop: true }).prop, true)
    assert.equal(thrown(new Error('test'), { prop: true }).prop, true)
    assert.equal(thrown(400, new Error('test'), { prop: true }).prop, true)
  })

  it('should not let props overwrite the status', () => {
    const error = thrown(400, 'msg', { prop: true, status: -1, statusCode: -1 })
    is(error, { status: 400, message: 'msg', expose: true })
    assert.equal(error.prop, true)
  })

  it('should make 500 of a status that does not exist', () => {
    assert.equal(thrown(9000, 'x').status, 500)
  })

  it('should be an HttpError of the shared package', () => {
    assert(thrown(400) instanceof createError.HttpError)
    assert(thrown(400) instanceof createError.BadRequest)
    assert(createError.isHttpError(thrown('x')))
  })
})

engines('ctx.throw()', ({ it, ask }) => {
  it('should show the message to the client only when it may be seen', async () => {
    const throwing = (...args) => ask(app => app.use(ctx => ctx.throw(...args)), 'GET /')
    const exposed = await throwing(403, 'keep out')
    assert.equal(exposed.status, 403)
    assert.equal(exposed.text, 'keep out')

    const hidden = await throwing(500, 'password is 1234')
    assert.equal(hidden.status, 500)
    assert.equal(hidden.text, 'Internal Server Error')

    const chosen = await throwing(500, 'sorry', { expose: true })
    assert.equal(chosen.text, 'sorry')
  })

  it('should send the headers of the error', async () => {
    const res = await ask(app => app.use(ctx => {
      ctx.set('X-Before', 'gone')
      ctx.throw(401, 'who?', { headers: { 'WWW-Authenticate': 'Basic', 'X-List': ['a', 'b'] } })
    }), 'GET /')
    assert.equal(res.headers['www-authenticate'], 'Basic')
    assert.equal(res.headers['x-list'], 'a, b')
    assert.equal(res.headers['x-before'], undefined)
  })

  it('should be catchable by the middleware before it', async () => {
    const res = await ask(app => app.use(async (ctx, next) => {
      try {
        await next()
      } catch (error) {
        ctx.status = error.status
        ctx.body = { error: error.message }
      }
    }).use(ctx => ctx.throw(409, 'conflict')), 'GET /')
    assert.equal(res.status, 409)
    assert.deepEqual(res.json(), { error: 'conflict' })
  })
})
