'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const http2 = require('node:http2')
const { once } = require('node:events')
const Koa = require('koa')
const Kone = require('kone')
const { bodyParser, upload, rpc } = require('kone/middleware')

const MULTIPART = '--b\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n'

for (const [name, App] of Object.entries({ koa: Koa, kone: Kone })) {
  describe(`a body over its limit on HTTP/2 in ${name}`, () => {
    for (const [what, path, type, start] of [
      ['bodyParser', '/', 'application/json', '['],
      ['upload', '/', 'multipart/form-data; boundary=b', MULTIPART],
      ['rpc', '/rpc/a', 'application/json', '[']
    ]) {
      it(`should get a 413 by ${what} and end the stream, not the session`, async () => {
        const app = new App()
        app.on('error', () => {})
        app.use(rpc({ a () {} }, { limit: 1000 }))
        app.use(bodyParser({ jsonLimit: 1000 })).use(upload({ limits: { fileSize: 1000 } }))
        app.use(ctx => { ctx.body = ctx.request.body })
        const server = http2.createServer(app.callback()).listen(0, '127.0.0.1')
        await once(server, 'listening')
        const session = http2.connect(`http://127.0.0.1:${server.address().port}`)
        try {
          const headers = { ':method': 'POST', ':path': path, 'content-type': type }
          const streamed = once(server, 'stream')
          const refused = session.request(headers)
          refused.resume().write(start + ' '.repeat(500000)) // more than the flow-control window
          const [{ ':status': status }] = await once(refused, 'response')
          assert.equal(status, 413)
          const [stream] = await streamed
          if (!stream.destroyed) await once(stream, 'close')
          assert.equal(stream.rstCode, http2.constants.NGHTTP2_NO_ERROR)
          const next = session.request({ ...headers, ':path': '/', 'content-type': 'application/json' })
          next.end('[1]')
          next.setEncoding('utf8')
          let text = ''
          for await (const chunk of next) text += chunk
          assert.equal(text, '[1]')
        } finally {
          session.destroy()
          server.close()
        }
      })
    }
  })
}
