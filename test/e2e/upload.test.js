'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { after, before, describe, it } = require('node:test')
const Kone = require('kone')
const upload = require('kone/middleware/upload')
const { missing } = require('../helpers/programs')
const { launch } = require('./demo')

describe('upload, of what Chromium sends', { skip: missing('chromium') }, () => {
  let browser, server

  before(async () => {
    const app = new Kone()
    app.use(upload({ storage: upload.memoryStorage() }))
    app.use(ctx => {
      const { files = [], body } = ctx.request
      ctx.body = ctx.method === 'GET' ? '<!doctype html>' : { body, files: files.map(({ fieldname, originalname }) => [fieldname, originalname]) }
    })
    server = app.listen(0, '127.0.0.1')
    if (!server.listening) await once(server, 'listening')
    browser = await launch()
  })

  after(async () => {
    if (browser) await browser.close()
    if (server) server.close().closeAllConnections()
  })

  it('should have the names of files and fields', async () => {
    const NAMES = {
      'a.txt': 'a.txt',
      'a"b".txt': 'a"b".txt',
      'a\r\nb\nc\rd.txt': 'a_b_c_d.txt',
      "100% of %41; a='b', *é€😀.txt": "100% of %41; a='b', *é€😀.txt",
      'a\tb\x85.txt': 'a_b_.txt',
      'a%22b.txt': 'a"b.txt' // is sent as a quote is
    }
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${server.address().port}/`)
    for (const [sent, expected] of Object.entries(NAMES)) {
      const received = await page.evaluate(async name => {
        const form = new FormData()
        form.append(`f${name}`, new File(['x'], name))
        form.append(`t${name}`, 'x')
        const res = await fetch('/', { method: 'POST', body: form })
        return res.text()
      }, sent)
      // names of fields are as in urlencoded forms, with line breaks as in their values
      const field = sent.replace('%22', '"').replace(/\r\n|\r|\n/g, '\r\n')
      assert.deepEqual(JSON.parse(received), { body: { [`t${field}`]: 'x' }, files: [[`f${field}`, expected]] }, JSON.stringify(sent))
    }
    await page.close()
  })
})
