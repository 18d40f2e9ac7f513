'use strict'

const http = require('node:http')

module.exports = {
  title: 'a streaming proxy by koa-proxies',
  packages: { 'koa-proxies': '0.12.4', 'koa-bodyparser': '4.4.1' },
  responses: 8,

  async serve (port) {
    const Koa = require('koa')
    const bodyParser = require('koa-bodyparser')
    const proxy = require('koa-proxies')

    const app = new Koa()
    app.silent = true
    app.use(proxy('/api', {
      target: `http://127.0.0.1:${port}`,
      agent: new http.Agent({ keepAlive: true }),
      changeOrigin: true,
      xfwd: true,
      rewrite: path => path.replace(/^\/api/, '')
    }))
    app.use(bodyParser())
    app.use(ctx => { ctx.body = { own: ctx.path, body: ctx.request.body } })
    return app.listen(0)
  },

  // Tells what it was sent, or streams without a length.
  behind: () => http.createServer((req, res) => {
    if (req.url === '/stream') {
      res.write('one ')
      return setImmediate(() => res.end('two'))
    }
    if (req.url === '/fails') return res.destroy()
    let length = 0
    req.on('data', chunk => { length += chunk.length }).on('end', () => {
      res.writeHead(req.method === 'POST' ? 201 : 200, { 'Content-Type': 'application/json', 'Set-Cookie': ['a=1', 'b=2'] })
      const { host, 'x-forwarded-for': forwarded, 'content-type': type } = req.headers
      res.end(JSON.stringify({ method: req.method, url: req.url, length, type, forwarded, host: Boolean(host) }))
    })
  }).listen(0, '127.0.0.1'),

  // The refusal of http-proxy names its upstream.
  mask: text => text.replace(/127\.0\.0\.1:\d+/g, 'UPSTREAM'),

  async ask (client) {
    await client.ask('GET /own')
    await client.ask('GET /api/users?a=1&b=%20')
    await client.ask('GET /api/stream')
    await client.ask('HEAD /api/users')
    await client.ask('POST /api/users', { json: { name: 'Ada' } })
    await client.ask('PUT /api/large', { body: 'x'.repeat(300000) })
    await client.ask('GET /api/fails')
    await client.ask('POST /own', { json: { after: 'the proxy' } })
  },

  load: { line: 'GET /api/stream', status: 200 }
}
