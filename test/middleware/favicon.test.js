'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const koaFavicon = require('koa-favicon')
const favicon = require('kone/middleware/favicon')

const folder = require('../helpers/folder')
const frameworks = require('../helpers/frameworks')

const bytes = Buffer.from([0, 0, 1, 0, 255, 254])
const dir = folder({ 'icon.ico': bytes })
const file = path.join(dir, 'icon.ico')

frameworks('favicon', ({ it, Koa, ask }) => {
  function app (fn) {
    return new Koa().use(fn).use(ctx => { ctx.body = 'next' })
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
    assert.deepEqual([res.status, res.body.length], [304, 0])
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
