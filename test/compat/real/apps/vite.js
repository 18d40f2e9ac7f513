'use strict'

// Vite's dev server in middleware mode, as its guide has it for connect-style servers. The project is in ./vite.

const path = require('node:path')

module.exports = {
  title: 'Vite in middleware mode',
  isFramework: true,
  group: 'vite',
  packages: { vite: '8.3.8', 'koa-connect': '2.1.1' },
  responses: 14,

  async serve () {
    const Koa = require('koa')
    const connect = require('koa-connect')
    const { createServer } = await import('vite')

    const vite = await createServer({
      root: path.join(__dirname, 'vite'),
      configFile: false,
      logLevel: 'silent',
      appType: 'spa',
      cacheDir: path.join(__dirname, 'vite-cache'),
      optimizeDeps: { noDiscovery: true },
      server: { middlewareMode: true, hmr: false, ws: false, watch: null }
    })
    const app = new Koa()
    app.silent = true
    app.use(async (ctx, next) => {
      if (ctx.path !== '/api') return next()
      ctx.body = { own: true }
    })
    app.use(connect(vite.middlewares))
    return app.listen(0)
  },

  // The folder is part of some responses, and of their length.
  mask: text => (/vite-(?:koa|kone)/.test(text) ? text.replace(/("content-length":")\d+/, '$1MASKED') : text)
    .replace(/("etag":")(?:[^"\\]|\\.)*/g, '$1MASKED')
    .replace(/("last-modified":")[^"]*/g, '$1MASKED')
    .replace(/vite-(?:koa|kone)/g, 'FOLDER')
    .replace(/sourceMappingURL=data:[\w/+=;,:-]+/g, 'MAP')
    .replace(/(\?|&)(?:t|v)=\w+/g, '$1t'),

  async ask (client) {
    const html = { headers: { accept: 'text/html' } }
    await client.ask('GET /api')
    await client.ask('GET /', html)
    const module = await client.ask('GET /main.js')
    await client.ask('GET /main.js', { headers: { 'if-none-match': module.headers.etag } })
    await client.ask('GET /style.css')
    await client.ask('GET /style.css', { headers: { accept: 'text/css' } })
    await client.ask('GET /public.txt')
    await client.ask('HEAD /public.txt')
    await client.ask('GET /public.txt', { headers: { range: 'bytes=0-3' } })
    await client.ask('GET /some/page', html)
    await client.ask('GET /nothing.js')
    await client.ask('OPTIONS /main.js', { headers: { origin: 'http://localhost:1', 'access-control-request-method': 'GET' } })
    await client.ask('GET /../package.json')
    await client.ask('POST /api', { json: {} })
  },

  load: { line: 'GET /main.js' }
}
