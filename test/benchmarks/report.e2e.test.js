'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { after, before, describe, it } = require('node:test')
const { pathToFileURL } = require('node:url')
const { missing, need } = require('../helpers/programs')
const { battle, growth } = require('./fixtures/results')

const REPORT = path.join(__dirname, '../../benchmarks/report.js')
const PAGES = ['index', 'battle.node20', 'growth.node20']

describe('the report in Chromium', { skip: missing('chromium') }, () => {
  let browser, folder

  before(async () => {
    folder = fs.mkdtempSync(path.join(tmpdir(), 'kone-report-'))
    fs.writeFileSync(path.join(folder, 'battle.json'), JSON.stringify(battle()))
    fs.writeFileSync(path.join(folder, 'growth.json'), JSON.stringify(growth()))
    fs.writeFileSync(path.join(folder, 'broken.json'), '{')
    const { status, stderr } = spawnSync(process.execPath, [REPORT, '--from', folder, '--html'], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    assert.match(stderr, /^broken\.json is left out/)

    const { chromium } = require('playwright-core')
    browser = await chromium.launch({
      executablePath: need('chromium'),
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update']
    })
  })

  after(async () => {
    if (browser) await browser.close()
    fs.rmSync(folder, { recursive: true, force: true })
  })

  // A page, what it complained about, and what it asked for beside itself.
  async function visit (name, options) {
    const context = await browser.newContext(options)
    const page = await context.newPage()
    const complaints = []
    const requests = []
    page.on('console', message => { if (['error', 'warning'].includes(message.type())) complaints.push(message.text()) })
    page.on('pageerror', err => complaints.push(err.message))
    page.on('request', request => { if (!/^(?:file|data):/.test(request.url())) requests.push(request.url()) })
    await page.goto(pathToFileURL(path.join(folder, 'report', `${name}.html`)).href)
    return { page, complaints, requests }
  }

  for (const name of PAGES) {
    it(`should show ${name} on a phone, without a complaint or a request to any host`, async () => {
      const { page, complaints, requests } = await visit(name, { viewport: { width: 390, height: 844 } })
      assert.deepEqual([complaints, requests], [[], []])
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 390)
      assert.ok(await page.locator('svg').count() > 0)
      await page.context().close()
    })

    it(`should show ${name} in light and in dark`, async () => {
      const colors = []
      for (const colorScheme of ['light', 'dark']) {
        const { page } = await visit(name, { colorScheme })
        colors.push(await page.evaluate(() => {
          const { backgroundColor, color } = window.getComputedStyle(document.body)
          return [backgroundColor, color]
        }))
        await page.context().close()
      }
      const [light, dark] = colors
      assert.equal(light[0], 'rgb(255, 255, 255)')
      assert.notEqual(dark[0], light[0])
      assert.notEqual(dark[1], light[1])
    })
  }

  it('should lead from the index to the page of every result, and back', async () => {
    const { page } = await visit('index')
    for (const name of ['battle.node20', 'growth.node20']) {
      await page.click(`a[href="${name}.html"] >> nth=0`)
      assert.match(await page.textContent('main'), /AMD EPYC.*node benchmarks/s)
      await page.click('a[href="index.html"]')
    }
    assert.match(await page.textContent('h1'), /what it claims/)
    await page.context().close()
  })
})
