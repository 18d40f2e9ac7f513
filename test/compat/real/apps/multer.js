'use strict'

const BOUNDARY = 'b0undary'
const type = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }

// parts: [name, value, filename?]
function multipart (...parts) {
  const heads = parts.map(([name, value, filename]) => [
    `--${BOUNDARY}`,
    `Content-Disposition: form-data; name="${name}"${filename ? `; filename="${filename}"` : ''}`,
    ...(filename ? ['Content-Type: text/plain'] : []),
    '',
    value
  ].join('\r\n'))
  return `${heads.join('\r\n')}\r\n--${BOUNDARY}--\r\n`
}

module.exports = {
  title: 'uploads by @koa/multer',
  packages: { '@koa/multer': '4.0.0', multer: '2.5.0', '@koa/router': '15.7.0' },
  responses: 11,

  async serve () {
    const Koa = require('koa')
    const multer = require('@koa/multer')
    const { Router } = require('@koa/router')

    const upload = multer({ limits: { fileSize: 50000 } })
    const show = ({ fieldname, originalname, mimetype, size, buffer }) =>
      ({ fieldname, originalname, mimetype, size, start: buffer.toString('utf8', 0, 20) })
    const router = new Router()
    router.post('/one', upload.single('file'), ctx => {
      ctx.body = { file: ctx.file && show(ctx.file), same: ctx.file === ctx.request.file, fields: ctx.request.body }
    })
    router.post('/many', upload.array('file', 2), ctx => { ctx.body = ctx.files.map(show) })
    router.post('/fields', upload.fields([{ name: 'a' }, { name: 'b' }]), ctx => {
      ctx.body = Object.values(ctx.files).flat().map(show)
    })
    router.post('/none', upload.none(), ctx => { ctx.body = ctx.request.body })

    const app = new Koa()
    app.silent = true
    app.use(async (ctx, next) => {
      try {
        await next()
      } catch (err) {
        ctx.status = 400
        ctx.body = { code: err.code, message: err.message }
      }
    })
    app.use(router.routes())
    return app.listen(0)
  },

  async ask (client) {
    const file = (name, length) => ['file', 'é'.repeat(length), name]
    const send = (path, ...parts) => client.ask(`POST ${path}`, { headers: type, body: multipart(...parts) })
    await send('/one', ['title', 'hello'], file('a.txt', 10))
    await send('/one', ['title', 'hello'])
    await send('/one', file('big.txt', 20000))
    await send('/one', file('too big.txt', 30000))
    await send('/one', ['other', 'x', 'x.txt'])
    await send('/many', file('a.txt', 1), file('b.txt', 2))
    await send('/many', file('a.txt', 1), file('b.txt', 2), file('c.txt', 3))
    await send('/fields', ['a', '1', 'a.txt'], ['b', '2', 'b.txt'], ['a', '3', 'c.txt'])
    await send('/none', ['a[b]', '1'], ['c', '2'])
    await client.ask('POST /one', { headers: type, body: `--${BOUNDARY}\r\nnonsense` })
    await client.ask('POST /one', { json: { not: 'multipart' } })
  },

  load: { line: 'POST /one', headers: type, body: multipart(['title', 'hello'], ['file', 'x'.repeat(1000), 'a.txt']) }
}
