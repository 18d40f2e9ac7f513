'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const koaConditionalGet = require('koa-conditional-get')
const conditionalGet = require('kone/middleware/conditionalGet')

const frameworks = require('../helpers/frameworks')

const DATE = 'Sun, 06 Nov 1994 08:49:37 GMT'

frameworks('conditionalGet', ({ it, Koa, ask, name }) => {
  const forms = {
    middleware: app => app.use(conditionalGet()),
    ...(name.startsWith('kone') && { final: app => app.final(conditionalGet.final()) })
  }

  function answering (use, status) {
    const app = new Koa()
    use(app)
    app.use(ctx => {
      ctx.status = status
      if (ctx.path !== '/none') {
        ctx.etag = 'a'
        ctx.lastModified = new Date(DATE)
      }
      ctx.body = ctx.path === '/stream' ? fs.createReadStream(__filename) : 'hello'
    })
    return app
  }

  for (const [form, use] of Object.entries(forms)) {
    it(`should respond as koa-conditional-get does (${form})`, async () => {
      for (const status of [200, 203, 404]) {
        const apps = [answering(app => app.use(koaConditionalGet()), status), answering(use, status)]
        for (const line of ['GET /', 'HEAD /', 'POST /', 'GET /stream', 'GET /none']) {
          for (const headers of [
            {}, { 'If-None-Match': '"a"' }, { 'If-None-Match': 'W/"a", "b"' }, { 'If-None-Match': '"b"' },
            { 'If-None-Match': '*' }, { 'If-Modified-Since': DATE }, { 'If-Modified-Since': 'junk' },
            { 'If-Modified-Since': 'Sat, 05 Nov 1994 08:49:37 GMT' }, { 'If-None-Match': '"b"', 'If-Modified-Since': DATE },
            { 'If-None-Match': '"a"', 'Cache-Control': 'no-cache' }
          ]) {
            const [theirs, ours] = await Promise.all(apps.map(async app => {
              const { status, text, headers: { date, ...rest } } = await ask(app, line, { headers })
              return { status, text, rest }
            }))
            assert.deepEqual(ours, theirs, `${line} ${status} ${JSON.stringify(headers)}`)
          }
        }
      }
    })

    it(`should remove what describes a body that a 304 does not have (${form})`, async () => {
      const app = new Koa()
      use(app)
      app.use(ctx => {
        ctx.set({ ETag: '"a"', 'Content-Encoding': 'gzip', 'Content-Range': 'bytes 0-1/9' })
        ctx.body = 'ab'
      })
      const { status, headers } = await ask(app, 'GET /', { headers: { 'If-None-Match': '"a"' } })
      assert.deepEqual([status, headers['content-encoding'], headers['content-range']], [304, undefined, undefined])
    })
  }
})
