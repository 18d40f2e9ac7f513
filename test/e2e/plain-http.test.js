'use strict'

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const { mkdirSync, mkdtempSync, rmSync, symlinkSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { after, before, describe, it } = require('node:test')
const { pathToFileURL } = require('node:url')
const { missing } = require('../helpers/programs')
const { launch } = require('./demo')

const ROOT = join(__dirname, '../..')

// A browser sends Sec-Fetch-Site only to localhost and over TLS, and `Origin: null` behind helmet's Referrer-Policy.
describe('the site of npm create kone, over plain HTTP at a name of its own', { skip: missing('chromium') }, () => {
  let browser, folder, server, url
  const sent = []

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kone-e2e-'))
    execFileSync(process.execPath, [join(ROOT, 'create/index.js'), 'site'], { cwd: folder, stdio: 'ignore' })
    mkdirSync(join(folder, 'site/node_modules'))
    symlinkSync(ROOT, join(folder, 'site/node_modules/kone'), 'dir')
    symlinkSync(join(ROOT, 'node_modules/ioredis'), join(folder, 'site/node_modules/ioredis'), 'dir')
    const { createApp } = await import(pathToFileURL(join(folder, 'site/app.js')))
    const app = createApp({ quiet: true })
    app.silent = true
    app.middleware.unshift((ctx, next) => {
      if (ctx.method === 'POST') sent.push([ctx.get('origin'), ctx.get('sec-fetch-site')])
      return next()
    })
    server = app.listen(0, '127.0.0.1')
    if (!server.listening) await once(server, 'listening')
    url = `http://app.test:${server.address().port}/`

    browser = await launch('--host-resolver-rules=MAP *.test 127.0.0.1')
  })

  after(async () => {
    if (browser) await browser.close()
    if (server) server.close().closeAllConnections()
    rmSync(folder, { recursive: true, force: true })
  })

  async function submit (page, button = 'button') {
    sent.length = 0
    const [response] = await Promise.all([page.waitForResponse(res => res.request().method() === 'POST'), page.click(button)])
    return response.status()
  }

  it('should take its own form', async () => {
    const page = await browser.newPage()
    await page.goto(url)
    await page.fill('[name=name]', 'ada')
    await page.fill('[name=text]', 'hello from a browser')
    assert.equal(await submit(page), 303)
    assert.deepEqual(sent, [['null', '']])
    await page.waitForSelector('text=hello from a browser')
    await page.close()
  })

  for (const policy of ['no-referrer', 'unsafe-url']) {
    it(`should refuse the form of another site with the Referrer-Policy ${policy}`, async () => {
      const page = await browser.newPage()
      await page.goto(url)
      await page.route('http://evil.test/', route => route.fulfill({
        contentType: 'text/html',
        headers: { 'Referrer-Policy': policy },
        body: `<form method="post" action="${url}entries">
          <input name="name" value="eve"><input name="text" value="forged"><input name="_csrf" value="AAAA"><button></button></form>`
      }))
      await page.goto('http://evil.test/')
      assert.equal(await submit(page), 403)
      assert.deepEqual(sent, [[policy === 'no-referrer' ? 'null' : 'http://evil.test', '']])
      await page.goto(url)
      assert.ok(!(await page.content()).includes('forged'))
      await page.close()
    })
  }
})
