'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { describe, it } = require('node:test')
const Kone = require('kone')
const { static: serve, compress, template, i18n, jsonp, logger, sse } = require('kone/middleware')
const until = require('../helpers/until')

describe("kone's front", () => {
  it("should never make node's request and response for responses from memory", async () => {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-fast-'))
    fs.writeFileSync(path.join(root, 'page.html'), '<p>{{ __("Hello") }}')

    const app = new Kone()
    const lines = []
    const finished = []
    app.use(logger(line => lines.push(line), ':remote-addr :method :url :http-version :status :req[host]'))
    app.use(compress({ threshold: 1 }))
    app.use(jsonp())
    app.use(sse())
    app.use(i18n(app, { locales: { en: { Hello: 'Hello' } }, modes: ['query', 'cookie', 'header', 'subdomain'] }))
    app.use(serve(root))
    app.use(template(root))
    app.use(ctx => {
      if (ctx.path === '/page') return ctx.render('page')
      if (ctx.path === '/json') ctx.body = { a: 1 }
    })
    app.on('finish', ctx => finished.push([ctx.url, ctx.request.incoming.req, ctx.response.outgoing.res]))

    const server = app.listen(0, '127.0.0.1')
    if (!server.listening) await once(server, 'listening')
    const ask = async (target, headers) => {
      const res = await fetch(`http://127.0.0.1:${server.address().port}${target}`, { headers })
      return [res.status, await res.text()]
    }
    try {
      assert.deepEqual(await ask('/page'), [200, '<p>Hello'])
      assert.deepEqual(await ask('/json?callback=cb'), [200, '/**/cb({"a":1});'])
      for (let i = 0; i < 2; i++) assert.deepEqual(await ask('/page.html'), [200, '<p>{{ __("Hello") }}'])
      assert.deepEqual(await ask('/page.html', { Range: 'bytes=0-2' }), [206, '<p>'])
      assert.equal((await ask('/page.html', { 'If-Modified-Since': new Date(Date.now() + 1e6).toUTCString() }))[0], 304)
      assert.equal((await ask('/none'))[0], 404)
      await until(() => finished.length >= 7)
      for (const [url, req, res] of finished) assert.deepEqual([req, res], [null, null], url)
      assert.equal(lines.length, 7)
    } finally {
      await app.close({ grace: 0 })
      fs.rmSync(root, { recursive: true })
    }
  })
})
