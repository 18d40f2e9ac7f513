'use strict'

const assert = require('node:assert/strict')

const { last, use } = require('./sides')
const { wire } = require('./wire')

/**
 * `ctx.req` and `ctx.res` are own properties with node:http and accessors of a prototype on the front: own ones would
 * make every context costly. What an app can see of it is a known difference
 * (lib/engines/http1/README.md): it is stated here, so that it does not grow.
 */
wire('ctx as an object', ({ side, it, all }) => {
  const isOwn = side === 'node:http'
  const not = isOwn ? '' : 'not '

  /** Runs `fn`, and gives ctx its own req and res back. */
  const restored = fn => ctx => {
    const { req, res } = ctx
    const seen = fn(ctx)
    return Object.assign(ctx, { req, res }) && seen
  }

  for (const [title, read, expected] of [
    [`${not}give req and res to whoever spreads it`, ctx => ({ ...ctx }).req === ctx.req && ({ ...ctx }).res === ctx.res, isOwn],
    [`${not}have req and res of its own`, ctx => [Object.hasOwn(ctx, 'req'), Object.hasOwn(ctx, 'res')], [isOwn, isOwn]],
    ['have req and res where `in` looks', ctx => ['req' in ctx, 'res' in ctx], [true, true]],
    ['have own app, request, response, state and originalUrl', ctx => {
      return ['app', 'request', 'response', 'state', 'originalUrl'].filter(name => !Object.hasOwn(ctx, name))
    }, []],
    [`${not}let req and res be deleted`, restored(ctx => {
      delete ctx.req
      delete ctx.res
      return [typeof ctx.req, typeof ctx.res]
    }), isOwn ? ['undefined', 'undefined'] : ['object', 'object']],
    ['take other objects as req and res', restored(ctx => {
      Object.assign(ctx, { req: { fake: 'req' }, res: { fake: 'res' } })
      return [ctx.req, ctx.res]
    }), [{ fake: 'req' }, { fake: 'res' }]]
  ]) {
    it(`should ${title}`, async () => {
      let seen
      assert.match(await all(use(ctx => {
        seen = read(ctx)
        ctx.body = 'seen'
      }), last('/')), /seen$/)
      assert.deepEqual(seen, expected)
    })
  }
})
