'use strict'

const assert = require('node:assert/strict')
const { PassThrough, Readable, pipeline } = require('node:stream')
const zlib = require('node:zlib')

const { get, sides, waitFor } = require('./sides')

sides('the events of a piped response', ({ it, serve }) => {
  const WAYS = {
    'in the tick of its last chunk': () => [Readable.from(['one']), new PassThrough()],
    'in a later tick': () => [Readable.from(['a'.repeat(300000)]), zlib.createGzip(), zlib.createGunzip()]
  }

  for (const [when, streams] of Object.entries(WAYS)) {
    it(`should come in node's order when it ends ${when}`, async () => {
      const log = []
      const { talk } = await serve(app => app.use(ctx => {
        ctx.respond = false
        for (const name of ['prefinish', 'finish', 'close']) ctx.res.on(name, () => log.push(name))
        pipeline(...streams(), ctx.res, err => log.push(err ? err.code : 'piped'))
      }))
      const client = await talk(get('/'))
      await client.until(/\r\n0\r\n\r\n$/)
      await waitFor(() => log.length === 4, () => log.join(' '))
      assert.deepEqual(log, ['prefinish', 'finish', 'close', 'piped'])
    })
  }
})
