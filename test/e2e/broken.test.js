'use strict'

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { after, before, describe, it } = require('node:test')

describe('errors of the demo app that no visitor can cause', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kone-e2e-'))
  const reported = []
  let app

  before(() => {
    process.env.DATA = folder
    app = require('../../examples/app')
    app.on('error', err => reported.push(err))
    app.use(ctx => {
      if (ctx.path === '/null') throw null // eslint-disable-line no-throw-literal
      if (ctx.path === '/odd') throw Object.assign(new Error('secret'), { status: 7 })
      if (ctx.path === '/busy') ctx.throw(503)
      if (ctx.path === '/teapot') ctx.throw(418, 'secret')
      if (ctx.path.endsWith('/broken')) throw new Error('secret')
    })
  })
  after(() => rmSync(folder, { recursive: true }))

  for (const [path, status, heading, hint] of [
    ['/broken', 500, 'Something broke on our side', 'The error is in the log of the server. Try again later.'],
    ['/null', 500, 'Something broke on our side', 'The error is in the log of the server. Try again later.'],
    ['/odd', 500, 'Something broke on our side', 'The error is in the log of the server. Try again later.'],
    ['/busy', 503, 'The server took too long', 'It is busy. Try again later.'],
    ['/teapot', 418, 'This request makes no sense to the server', 'Go back, check what you entered, and try again.']
  ]) {
    it(`should have a page for ${path}, and log it from 500 on`, async () => {
      reported.length = 0
      const res = await app.inject({ url: path, headers: { accept: 'text/html' } })
      assert.equal(res.status, status)
      assert(res.text().includes(`<h1>${heading}</h1>`) && res.text().includes(hint))
      assert(!res.text().includes('secret'))
      assert.equal(reported.length, status >= 500 ? 1 : 0)
    })
  }

  it('should have it in Chinese', async () => {
    const res = await app.inject({ url: '/broken', headers: { accept: 'text/html', 'accept-language': 'zh-CN' } })
    assert.match(res.text(), /<html lang="zh-Hans"[^]*<h1>我们这边出了问题<\/h1>/)
  })

  it('should send programs JSON without the message', async () => {
    const res = await app.inject('/api/broken')
    assert.deepEqual([res.status, res.json()], [500, { error: 'Something broke on our side' }])
  })
})
