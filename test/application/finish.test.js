'use strict'

const assert = require('node:assert/strict')
const { PassThrough } = require('node:stream')

const engines = require('../helpers/engines')

engines("app.on('finish')", ({ it, serve }) => {
  const cases = {
    'a body': ctx => { ctx.body = 'hello' },
    'no body': ctx => { ctx.status = 204 },
    'an error': () => { throw new Error('boom') },
    'a stream': ctx => {
      const body = ctx.body = new PassThrough()
      body.end('streamed')
    },
    'a response of its own': ctx => {
      ctx.respond = false
      ctx.res.end('own')
    }
  }

  for (const [what, middleware] of Object.entries(cases)) {
    it(`should be emitted once, with the ctx, after ${what}`, async () => {
      const seen = []
      const { app, ask } = await serve(app => app.use(middleware))
      app.on('finish', ctx => seen.push([ctx.path, ctx.status, ctx.writable]))
      // not by once(), which would reject with the app's own 'error'
      const finished = new Promise(resolve => app.once('finish', resolve))
      const res = await ask('GET /path')
      await finished
      await ask('GET /second')
      assert.deepEqual(seen[0], ['/path', res.status, false])
      assert.equal(seen.filter(([path]) => path === '/path').length, 1)
    })
  }

  it('should not be emitted before the response is sent', async () => {
    let finished = false
    const { app, ask } = await serve(app => app.use(async ctx => {
      await new Promise(resolve => setImmediate(resolve))
      ctx.body = String(finished)
    }))
    app.on('finish', () => { finished = true })
    assert.equal((await ask('GET /')).text, 'false')
  })
})
