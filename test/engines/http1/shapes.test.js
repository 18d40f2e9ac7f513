'use strict'

const assert = require('node:assert/strict')
const v8 = require('node:v8')

const { get, last, use, waitFor } = require('./sides')
const { wire } = require('./wire')

/**
 * `ctx.req` and `ctx.res` are own properties with node:http and accessors of a prototype on the front: own ones would
 * make every context costly. What an app can see of it is a known difference
 * (lib/front/README.md): it is stated here, so that it does not grow.
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

v8.setFlagsFromString('--allow-natives-syntax')
const isFast = new Function('object', 'return %HasFastProperties(object)') // eslint-disable-line no-new-func
v8.setFlagsFromString('--no-allow-natives-syntax')

// What becomes slow stays slow for all that node does with it: that alone cost 15 µs per connection on Node 26.
wire('the properties of a socket', ({ it, serve }) => {
  it('should stay fast, on a connection that node gets and at its end', async () => {
    const { talk, sockets } = await serve(use(ctx => { ctx.body = 'hello' }))
    const seen = []
    const look = () => seen.push(isFast(sockets[0]))
    const client = await talk(get('/'))
    await client.until(/hello$/)
    look()
    sockets[0].once('end', look)
    await client.ask(get('http://a/'))
    look()
    client.end()
    await waitFor(() => sockets[0].closed, 'its close')
    look()
    assert.deepEqual(seen, [true, true, true, true])
  })
})
