'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const FILES = {
  'index.html': '<p>hello',
  'script.js': 'hello()',
  'script.js.gz': 'pretend this is gzip',
  'script.js.br': 'pretend this is brotli',
  'large.txt': 'x'.repeat(100000),
  'é.json': '{}',
  '.hidden': 'secret',
  'folder/index.html': '<p>folder'
}

module.exports = {
  title: 'files by koa-send',
  packages: { 'koa-send': '5.0.1' },
  responses: 16,

  async serve () {
    const Koa = require('koa')
    const send = require('koa-send')

    // One place for both: the response to a missing file names it.
    const root = path.join(os.tmpdir(), 'kone-compat-public')
    for (const [name, text] of Object.entries(FILES)) {
      const file = path.join(root, name)
      fs.mkdirSync(path.dirname(file), { recursive: true })
      fs.writeFileSync(file, text)
      fs.utimesSync(file, 1e9, 1e9)
    }
    const app = new Koa()
    app.silent = true
    app.use(ctx => send(ctx, ctx.path, { root, index: 'index.html', maxage: 60000, extensions: ['txt'] }))
    return app.listen(0)
  },

  async ask (client) {
    for (const path of ['/', '/script.js', '/large.txt', '/large', '/%C3%A9.json', '/.hidden', '/folder/', '/folder',
      '/missing', '/%2e%2e/package.json', '/%', '/a%00b']) await client.ask(`GET ${path}`)
    await client.ask('HEAD /large.txt')
    await client.ask('GET /script.js', { headers: { 'accept-encoding': 'gzip' } })
    await client.ask('GET /script.js', { headers: { 'accept-encoding': 'gzip, br' } })
    await client.ask('POST /script.js')
  },

  load: { line: 'GET /index.html' }
}
