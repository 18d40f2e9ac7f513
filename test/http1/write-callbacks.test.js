'use strict'

const assert = require('node:assert/strict')

const { get, waitFor } = require('./sides')
const { wire } = require('./wire')

const WRITES = {
  'ctx.res.write(string, fn)': (res, fn) => res.write('x', fn),
  'ctx.res.write(string, encoding, fn)': (res, fn) => res.write('x', 'latin1', fn),
  'ctx.res.write(Buffer, fn)': (res, fn) => res.write(Buffer.from('x'), fn),
  'ctx.res.write(string, fn) with a length': (res, fn) => {
    res.setHeader('Content-Length', 5)
    res.write('x', fn)
  },
  'a second ctx.res.write()': (res, fn) => {
    res.write('x')
    res.write('y', fn)
  },
  'a large ctx.res.write()': (res, fn) => res.write(Buffer.alloc(8 * 1024 * 1024), fn)
}

const LOSSES = {
  'socket.destroy()': ctx => ctx.socket.destroy(),
  'socket.destroy(err)': ctx => ctx.socket.destroy(new Error('mine')),
  'socket.resetAndDestroy()': ctx => ctx.socket.resetAndDestroy(),
  'ctx.req.destroy()': ctx => ctx.req.destroy(),
  'ctx.res.destroy()': ctx => ctx.res.destroy()
}

wire('the callback of a write whose socket is destroyed in the same tick', ({ it, serve }) => {
  for (const [what, write] of Object.entries(WRITES)) {
    it(`should be called once with an error: ${what}`, async () => {
      const calls = {}
      const { talk } = await serve(app => app.use(ctx => {
        const how = decodeURIComponent(ctx.path.slice(1))
        calls[how] = []
        ctx.respond = false
        write(ctx.res, err => calls[how].push(err?.message))
        LOSSES[how](ctx)
      }))
      for (const how of Object.keys(LOSSES)) {
        const client = await talk(get(`/${encodeURIComponent(how)}`))
        await client.all()
        await waitFor(() => calls[how]?.length > 0, () => `the callback after ${how}`)
      }
      const destroyed = ['Cannot call write after a stream was destroyed']
      const expected = Object.fromEntries(Object.keys(LOSSES).map(how => [how, destroyed]))
      assert.deepEqual(calls, { ...expected, 'socket.destroy(err)': ['mine'] })
    })
  }
})
