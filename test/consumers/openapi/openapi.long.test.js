'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { copyFileSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { before, describe, it } = require('node:test')
const { install } = require('../../helpers/area')
const { start } = require('../../helpers/child')
const temporary = require('../../helpers/folder')
const { onFreePort } = require('../../helpers/ports')
const { missing, need } = require('../../helpers/programs')

const ROOT = join(__dirname, '../../..')
const example = cwd => onFreePort(port => start([join(ROOT, 'examples/openapi.js')], { PORT: String(port) }, cwd))

// The document of an app, by the programs that people give it to.
describe('the document of openapi()', () => {
  const folder = temporary()
  let area

  before(() => { area = install('consumers/openapi') })

  /** Declarations of a document, compiled under --strict with what uses them. */
  function compile (document, ...files) {
    const run = (...args) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
      assert.equal(status, 0, stdout + stderr)
    }
    writeFileSync(join(folder, 'document.json'), JSON.stringify(document))
    run(area.bin('openapi-typescript'), 'document.json', '--output', 'document.ts')
    run(area.require.resolve('typescript/bin/tsc'), '--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes',
      '--noEmit', '--skipLibCheck', '--module', 'nodenext', ...files, 'document.ts')
  }

  it('should be types of what a client may send and gets, by openapi-typescript', async () => {
    const app = await example(ROOT)
    try {
      copyFileSync(join(__dirname, 'client.ts'), join(folder, 'client.ts'))
      compile(await (await fetch(`${app.url}/openapi.json`)).json(), 'client.ts')
    } finally {
      await app.stop('SIGKILL')
    }
  })

  it('should be types for all of the demo app, too', () => {
    process.env.DATA = folder
    const document = require('../../../middleware/openapi')(require('../../../examples/app'), { warnings: false }).document()
    assert(Object.keys(document.paths).length > 1)
    compile(document)
  })

  // Each page by the package that is installed where the app was started, in Chromium, under helmet's policy.
  for (const [name, cwd, ready] of [
    ['Scalar', () => area.folder, 'text=Powered by Scalar'],
    ['Swagger UI', () => ROOT, '.swagger-ui .info']
  ]) {
    it(`should be a page of ${name} without a violation of helmet's policy or a request to another host`, { skip: missing('chromium') }, async () => {
      const app = await example(cwd())
      const browser = await require('playwright-core').chromium.launch({
        executablePath: need('chromium'),
        args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update']
      })
      try {
        const page = await browser.newPage()
        const complaints = []
        const isFavicon = url => new URL(url, app.url).pathname === '/favicon.ico' // that Chromium itself asks for
        page.on('pageerror', err => complaints.push(err.message))
        page.on('request', request => { if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(app.url)) complaints.push(request.url()) })
        page.on('console', message => { if (message.type() === 'error' && !isFavicon(message.location().url)) complaints.push(`${message.text()} ${message.location().url}`) })
        await page.addInitScript(() => document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
          console.error(`${violatedDirective}: ${blockedURI}`)
        }))
        await page.goto(`${app.url}/docs`)
        await page.waitForSelector(ready)
        for (const text of ['Shop', 'Add an item', 'All items', 'One item']) await page.waitForSelector(`text=${text}`)
        await page.waitForLoadState('networkidle')
        assert.deepEqual(complaints, [])
      } finally {
        await browser.close()
        await app.stop('SIGKILL')
      }
    })
  }
})
