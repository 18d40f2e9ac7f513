'use strict'

const assert = require('node:assert/strict')
const { setImmediate: turn } = require('node:timers/promises')

const { get, use, waitFor } = require('./sides')
const { download, wire } = require('./wire')

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

wire('what ctx.res.write() has taken', ({ it, serve }) => {
  it('should be in res.writableLength in the same tick', async () => {
    const rows = []
    const { ask } = await serve(use(ctx => {
      ctx.respond = false
      for (const part of ['x'.repeat(10), Buffer.alloc(1000), 'x'.repeat(20_000), Buffer.alloc(70_000), 'ü'.repeat(10)]) {
        const before = ctx.res.writableLength
        ctx.res.write(part)
        rows.push([part.length, ctx.res.writableLength - before >= part.length])
      }
      ctx.res.end('end')
    }))
    await ask(get('/'), /end/)
    assert.deepEqual(rows, [10, 1000, 20_000, 70_000, 10].map(size => [size, true]))
  })

  for (const [what, sizes] of Object.entries({ 'a large part': [1e7], 'a small part and a large one': [10, 1e7], 'two large ones': [1e7, 1e7] })) {
    it(`should be flushed at 'drain': ${what}`, async () => {
      let drains = 0
      const { port, sockets } = await serve(use(ctx => {
        ctx.respond = false
        ctx.res.on('drain', () => { drains++ }).once('drain', () => ctx.res.end())
        for (const size of sizes) ctx.res.write(Buffer.alloc(size))
      }))
      const client = await download(port, get('/'))
      await waitFor(() => sockets[0]?.writableLength > 0, 'the response')
      await turn()
      assert.equal(drains, 0, 'the client has not read')
      client.resume()
      await client.received(sizes.reduce((sum, size) => sum + size))
      await waitFor(() => drains > 0, "'drain'")
      client.destroy()
    })
  }
})
