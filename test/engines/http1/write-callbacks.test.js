'use strict'

const assert = require('node:assert/strict')

const { get, use, waitFor } = require('./sides')
const { wire } = require('./wire')

const WRITES = {
  'ctx.res.write(string, fn)': (res, fn) => res.write('x', fn),
  'ctx.res.write(string, encoding, fn)': (res, fn) => res.write('x', 'latin1', fn),
  'ctx.res.write(Buffer, fn)': (res, fn) => res.write(Buffer.from('x'), fn),
  'ctx.res.write(string, fn) with a length': (res, fn) => res.setHeader('Content-Length', 5).write('x', fn),
  'a second ctx.res.write()': (res, fn) => res.write('x') && res.write('y', fn),
  'a large ctx.res.write()': (res, fn) => res.write(Buffer.alloc(8 * 1024 * 1024), fn)
}

const LOSSES = {
  'socket.destroy()': ctx => ctx.socket.destroy(),
  'socket.destroy(err)': ctx => ctx.socket.destroy(new Error('mine')),
  'socket.resetAndDestroy()': ctx => ctx.socket.resetAndDestroy(),
  'ctx.req.destroy()': ctx => ctx.req.destroy(),
  'ctx.res.destroy()': ctx => ctx.res.destroy()
}

wire('the callback of a write whose socket is destroyed in the same tick', ({ it, all }) => {
  for (const [what, write] of Object.entries(WRITES)) {
    it(`should be called once with an error: ${what}`, async () => {
      const calls = {}
      const expected = {}
      for (const [how, lose] of Object.entries(LOSSES)) {
        const seen = calls[how] = []
        expected[how] = [how === 'socket.destroy(err)' ? 'mine' : 'Cannot call write after a stream was destroyed']
        await all(use(ctx => {
          ctx.respond = false
          write(ctx.res, err => seen.push(err?.message))
          lose(ctx)
        }), get('/'))
        await waitFor(() => seen.length > 0, () => `the callback after ${how}`)
      }
      assert.deepEqual(calls, expected)
    })
  }
})
