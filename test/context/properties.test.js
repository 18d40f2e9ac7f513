'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { format, inspect } = require('node:util')

const prototype = require(`${process.env.KONE_CLASS || 'kone'}/lib/context`)
const rows = require('../helpers/rows')

rows('ctx.app, ctx.request and ctx.response', [
  ['should know each other, and node’s objects', ctx => {
    const { app, req, request, res, response } = ctx
    return [
      request.ctx === ctx && response.ctx === ctx, request.response === response && response.request === request,
      request.app === app && response.app === app, request.req === req && response.req === req,
      request.res === res && response.res === res, ctx.originalUrl, request.originalUrl, ctx.state
    ]
  }, [true, true, true, true, true, '/x', '/x', {}], { url: '/x' }]
])

rows('ctx.req, ctx.res, request.req and response.res', [
  ['should be assignable', ctx => {
    ctx.req = ctx.request.req = ctx.response.req = { headers: { host: 'b.com' }, method: 'PUT', url: '/b', socket: {} }
    ctx.res = ctx.request.res = ctx.response.res = { getHeader () {}, setHeader () {}, removeHeader () {}, statusCode: 299 }
    return [ctx.host, ctx.method, ctx.res.statusCode, ctx.status]
  }, ['b.com', 'PUT', 299, 299], { req: {} }],
  ['should be deletable', ctx => {
    const deleted = [delete ctx.req, delete ctx.request.req, delete ctx.response.res]
    return [...deleted, ctx.req, ctx.request.req, ctx.response.res]
  }, [true, true, true, undefined, undefined, undefined], { req: {} }],
  ['should be replaceable by others, here a proxy that changes the method', ctx => {
    const own = Object.create(ctx.req, { method: { value: 'OWN' } })
    ctx.req = ctx.request.req = own
    return [ctx.req === own, ctx.method]
  }, [true, 'OWN']]
])

rows('ctx.cookies', [
  ['should be memoised and replaceable', ctx => {
    const { cookies } = ctx
    const isMemoised = ctx.cookies === cookies
    ctx.cookies = { get: () => 'own', set () {} }
    return [isMemoised, ctx.cookies.get('x')]
  }, [true, 'own']],
  ['should be signed with the keys that the app has by then', ctx => {
    ctx.app.keys = ['secret']
    ctx.cookies.set('a', 'b', { signed: true })
    return ctx.response.get('Set-Cookie')
  }, ['a=b; path=/; httponly', 'a.sig=QkhQDQzu8rTLhQGKH3BpOzyyt70; path=/; httponly']],
  ['should say what a proxy needs when a secure cookie cannot be sent', ctx => messageOf(() => ctx.cookies.set('a', 'b', { secure: true })),
    'Cannot send secure cookie over unencrypted connection: set app.proxy behind a proxy that ends TLS, and let it send X-Forwarded-Proto',
    { koa: 'its message ends at the colon' }],
  ['should throw other errors as they are', ctx => [
    messageOf(() => ctx.cookies.set('a;', 'b', { secure: true })), messageOf(() => ctx.cookies.set('a', 'b', { signed: true }))
  ], ['argument name is invalid', '.keys required for signed cookies'], { req: {} }]
])

function messageOf (fn) {
  try {
    fn()
  } catch (err) {
    return err.message
  }
}

rows('ctx.toJSON() and ctx.inspect()', [
  ['should have the parts, node’s objects by name only', ctx => {
    const { request, response, app, ...rest } = JSON.parse(JSON.stringify(ctx))
    return [request.url, typeof response.header, app.subdomainOffset, rest]
  }, ['/x', 'object', 2, {
    originalUrl: '/x', req: '<original node req>', res: '<original node res>', socket: '<original node socket>'
  }], { url: '/x' }],
  ['should be what util.inspect shows', ctx =>
    [inspect(ctx.inspect()) === inspect(ctx.toJSON()), inspect(ctx) === inspect(ctx.toJSON()), inspect(ctx).includes('/printed')],
  [true, true, true], { url: '/printed' }]
])

describe('the prototype of ctx', () => {
  it('should be printed as it is', () => {
    for (const one of [prototype, Object.create(prototype)]) { // app.context is like the second one
      assert.equal(one.inspect(), one)
      assert.doesNotThrow(() => [inspect(one), format('%o', one)])
    }
  })
})
