'use strict'

const { Readable } = require('node:stream')

module.exports = {
  title: 'koa-conditional-get with koa-etag',
  packages: { 'koa-conditional-get': '3.0.0', 'koa-etag': '5.0.0' },
  responses: 42,

  async serve () {
    const Koa = require('koa')
    const conditional = require('koa-conditional-get')
    const etag = require('koa-etag').default

    const bodies = {
      '/text': ctx => 'hello',
      '/json': ctx => ({ hello: ['world', 'é'] }),
      '/buffer': ctx => Buffer.alloc(3000, 'x'),
      '/stream': ctx => Readable.from(['hello', 'world']),
      '/file': ctx => require('node:fs').createReadStream(require.resolve('koa/LICENSE')),
      '/own': ctx => { ctx.etag = 'mine'; return 'hello' },
      '/dated': ctx => { ctx.lastModified = new Date(0); return 'hello' },
      '/created': ctx => { ctx.status = 201; return 'hello' }
    }
    const app = new Koa()
    app.use(conditional()).use(etag())
    app.use(ctx => { ctx.body = bodies[ctx.path]?.(ctx) })
    return app.listen(0)
  },

  // How old a file is depends on when it was installed.
  mask: text => text.replace(/(W\/\\"[0-9a-f]+-)[0-9a-f.]{8,}\\"/g, '$1TIME\\"'),

  async ask (client) {
    for (const path of ['/text', '/json', '/buffer', '/stream', '/file', '/own', '/dated', '/created', '/none']) {
      const { headers } = await client.ask(`GET ${path}`)
      if (headers.etag) await client.ask(`GET ${path}`, { headers: { 'if-none-match': headers.etag } })
      await client.ask(`GET ${path}`, { headers: { 'if-none-match': '"other"' } })
      await client.ask(`GET ${path}`, { headers: { 'if-modified-since': new Date(0).toUTCString() } })
      await client.ask(`HEAD ${path}`)
    }
  },

  load: { line: 'GET /json', headers: { 'if-none-match': '"other"' } }
}
