'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const esbuild = require('esbuild')
const Kone = require('kone')
const { bodyParser, router: Router } = require('kone/middleware')
const { missing, need } = require('../helpers/programs')

// The page's part, bundled for browsers as an app bundles it.
const PAGE = `
import client from 'kone/client'
const api = client('')
const created = await api.post('/users/:id/notes', { params: { id: 'a b/ü' }, query: { tag: ['x', 'y'] }, body: { title: 'One' } })
const form = new FormData()
form.append('title', 'Two')
const typed = await api.put('/type', { body: form })
const refused = await api.get('/users/:id', { params: { id: '..' } }).catch(err => err.message)
document.title = JSON.stringify([created.status, await created.json(), await typed.text(), refused])
`

describe('client() in a page', () => {
  it('should send requests to its own origin, in Chromium', { skip: missing('chromium') }, async () => {
    const { outputFiles: [{ text }] } = await esbuild.build({
      stdin: { contents: PAGE, resolveDir: __dirname },
      bundle: true,
      write: false,
      platform: 'browser',
      format: 'esm'
    })
    const app = new Kone()
    const router = new Router()
    router.get('/', ctx => { ctx.body = '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>' })
    router.get('/page.js', ctx => {
      ctx.type = 'js'
      ctx.body = text
    })
    router.post('/users/:id/notes', ctx => {
      ctx.status = 201
      ctx.body = { id: ctx.params.id, query: ctx.query, body: ctx.request.body }
    })
    router.put('/type', ctx => { ctx.body = ctx.get('content-type').split(';')[0] })
    app.use(bodyParser()).use(router.routes())
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const browser = await require('playwright-core').chromium.launch({ executablePath: need('chromium'), args: ['--no-sandbox', '--disable-gpu'] })
    try {
      const page = await browser.newPage()
      const failed = new Promise((resolve, reject) => page.on('pageerror', reject))
      await page.goto(`http://127.0.0.1:${server.address().port}/`)
      await Promise.race([page.waitForFunction('document.title !== ""'), failed])
      assert.deepEqual(JSON.parse(await page.title()), [
        201,
        { id: 'a b/ü', query: { tag: ['x', 'y'] }, body: { title: 'One' } },
        'multipart/form-data',
        "client: params.id of GET /users/:id must not be '..'"
      ])
    } finally {
      await browser.close()
      await app.close()
    }
  })
})
