'use strict'

const assert = require('node:assert/strict')

const { get } = require('./sides')
const { wire } = require('./wire')

/**
 * `ctx.req` and `ctx.res` are own properties with node:http and accessors of a prototype on the front: own ones would
 * cost every request 0.3 to 0.4 µs more (benchmarks/micro/shapes.js). What an app can see of it is a known difference
 * (lib/http1/README.md): it is stated here, so that it does not grow.
 */
wire('ctx as an object', ({ side, it, serve }) => {
  const isOwn = side === 'node:http'

  /** What `read(ctx)` gives in a handler. */
  async function see (read) {
    let seen
    const { talk } = await serve(app => app.use(ctx => {
      seen = read(ctx)
      ctx.body = 'seen'
    }))
    const client = await talk(get('/', 'Connection: close\r\n'))
    assert.match(await client.all(), /seen$/)
    return seen
  }

  it(`should ${isOwn ? '' : 'not '}give req and res to whoever spreads it`, async () => {
    const [copy, ctx] = await see(ctx => [{ ...ctx }, ctx])
    assert(copy.req === (isOwn ? ctx.req : undefined))
    assert(copy.res === (isOwn ? ctx.res : undefined))
  })

  it(`should ${isOwn ? '' : 'not '}let req and res be deleted`, async () => {
    const left = await see(ctx => {
      const { req, res } = ctx
      delete ctx.req
      delete ctx.res
      const left = [typeof ctx.req, typeof ctx.res]
      ctx.req = req
      ctx.res = res
      return left
    })
    assert.deepEqual(left, isOwn ? ['undefined', 'undefined'] : ['object', 'object'])
  })

  it(`should have req and res ${isOwn ? 'of its own' : 'of a prototype'}`, async () => {
    assert.deepEqual(await see(ctx => [Object.hasOwn(ctx, 'req'), Object.hasOwn(ctx, 'res')]), [isOwn, isOwn])
  })

  it('should have req and res where `in` looks', async () => {
    assert.deepEqual(await see(ctx => ['req' in ctx, 'res' in ctx]), [true, true])
  })

  it('should have own app, request, response, state and originalUrl', async () => {
    const names = ['app', 'request', 'response', 'state', 'originalUrl']
    assert.deepEqual(await see(ctx => names.filter(name => !Object.hasOwn(ctx, name))), [])
  })

  it('should take other objects as req and res', async () => {
    const [req, res] = await see(ctx => {
      const { req, res } = ctx
      ctx.req = { fake: 'req' }
      ctx.res = { fake: 'res' }
      const seen = [ctx.req, ctx.res]
      ctx.req = req
      ctx.res = res
      return seen
    })
    assert.deepEqual([req, res], [{ fake: 'req' }, { fake: 'res' }])
  })
})
