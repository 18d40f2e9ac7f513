'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, describe, it } = require('node:test')
const koaFavicon = require('koa-favicon')
const favicon = require('kone/middleware/favicon')

const frameworks = require('../helpers/frameworks')
const Kone = require('../helpers/kone')
const materialised = require('../helpers/materialised')

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-favicon-'))
const file = path.join(dir, 'icon.ico')
const bytes = Buffer.from([0, 0, 1, 0, 255, 254])
fs.writeFileSync(file, bytes)
after(() => fs.rmSync(dir, { recursive: true }))

frameworks('favicon', ({ it, Koa, ask }) => {
  function app (fn) {
    const app = new Koa()
    app.use(fn)
    app.use(ctx => { ctx.body = 'next' })
    return app
  }

  it('should respond as koa-favicon does', async () => {
    for (const args of [
      [], [file], [file, { maxAge: 5999 }], [file, { maxAge: 0 }], [file, { maxAge: 1e15 }], [file, { mime: 'image/png' }]
    ]) {
      const apps = [app(koaFavicon(...args)), app(favicon(...args))]
      for (const line of [
        'GET /favicon.ico', 'GET /favicon.ico?v=2', 'HEAD /favicon.ico', 'POST /favicon.ico', 'OPTIONS /favicon.ico',
        'GET /', 'GET /x/favicon.ico', 'GET /Favicon.ico'
      ]) {
        const [theirs, ours] = await Promise.all(apps.map(async app => {
          const { status, body, headers: { date, etag, ...headers } } = await ask(app, line)
          return { status, body, headers }
        }))
        assert.deepEqual(ours, theirs, line)
      }
    }
  })

  it('should respond with 304 to a client that has it', async () => {
    const one = app(favicon(file))
    const { headers } = await ask(one, 'GET /favicon.ico')
    assert.match(headers.etag, /^"6-.{27}"$/)
    const res = await ask(one, 'GET /favicon.ico', { headers: { 'If-None-Match': headers.etag } })
    assert.equal(res.status, 304)
    assert.equal(res.body.length, 0)
    assert.equal(res.headers.etag, headers.etag)
    assert.equal(res.headers['cache-control'], 'public, max-age=86400')
    const stale = await ask(one, 'GET /favicon.ico', { headers: { 'If-None-Match': '"other"' } })
    assert.deepEqual(stale.body, bytes)
  })

  it('should read the file at start', async () => {
    const copy = path.join(dir, 'copy.ico')
    fs.copyFileSync(file, copy)
    const one = app(favicon(copy))
    fs.rmSync(copy)
    assert.deepEqual((await ask(one, 'GET /favicon.ico')).body, bytes)
  })
})

describe('favicon(path, options)', () => {
  it('should throw for what cannot be read, with its path', () => {
    for (const missing of [path.join(dir, 'missing.ico'), dir]) {
      assert.throws(() => favicon(missing), err => err.message.includes(missing))
    }
  })

  it('should throw for an option of the wrong type', () => {
    for (const args of [[42], [file, { maxAge: '1d' }], [file, { maxAge: -1 }], [file, { maxAge: NaN }], [file, { mime: 1 }]]) {
      assert.throws(() => favicon(...args), TypeError)
    }
  })

  it('should be a named function', () => {
    assert.equal(favicon(file).name, 'favicon')
  })

  it('should not make ctx.req or ctx.res', async () => {
    const app = new Kone()
    app.use(favicon(file))
    app.use(ctx => { ctx.body = 'hi' })
    const count = await materialised(app, async ask => {
      const { headers } = await ask('GET /favicon.ico')
      await ask('GET /favicon.ico', { 'If-None-Match': headers.etag })
      await ask('GET /')
    })
    assert.deepEqual(count, { requests: 3, materialised: 0 })
  })
})
