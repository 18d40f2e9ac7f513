'use strict'

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { after, afterEach, before, describe } = require('node:test')
const { start } = require('../helpers/child')
const { missing, need } = require('../helpers/programs')

/** One for all suites of a file. */
let browser
after(() => browser?.close())

const SHOTS = process.env.KONE_SCREENSHOTS // a folder, to look at what the test saw

/**
 * Tests of the demo app in a real Chromium. What a page prints as an error, throws, or cannot load
 * fails the test that it happens in.
 *
 *    demo('the guestbook', ({ visit, signIn }) => {
 *      it('should have a heading', async () => {
 *        const page = await visit('/guestbook')
 *        assert.equal(await page.textContent('h1'), 'Guestbook')
 *      })
 *    })
 *
 * `visit(path, options)` opens a page for a new visitor with an IP address of its own, so that the limit
 * of sign-ins per address does not tie tests together; `options` are those of Playwright's newContext.
 * All pages of a test are closed after it.
 *
 * @param {string} title
 * @param {(parts: object) => void} suite
 * @param {object} [env] of the app
 */
module.exports = function demo (title, suite, env) {
  describe(title, { skip: missing('chromium') }, () => {
    const complaints = []
    const contexts = new Set()
    let app, data
    let visitors = 0

    before(async () => {
      data = mkdtempSync(join(tmpdir(), 'kone-e2e-'))
      app = await start(['examples/app'], { PORT: '0', DATA: data, PROXY_HOPS: '1', ...env })
      browser ??= await launch()
    })

    after(async () => {
      if (app) await app.stop('SIGKILL')
      rmSync(data, { recursive: true, force: true })
    })

    afterEach(async () => {
      for (const context of contexts) await context.close()
      contexts.clear()
      // after each test, so that what one page complains about is this test's failure in any order
      assert.deepEqual(complaints.splice(0), [])
    })

    async function visit (path = '/', options = {}) {
      const context = await browser.newContext({
        locale: 'en-US',
        extraHTTPHeaders: { 'X-Forwarded-For': `10.1.${visitors >> 8}.${visitors++ & 255}` },
        ...options
      })
      contexts.add(context)
      const page = await context.newPage()
      page.on('console', message => {
        // Chromium prints every response with an error status, those of refused forms, too.
        if (message.type() === 'error' && !/the server responded with a status of 4/.test(message.text())) {
          complaints.push(message.text())
        }
      })
      page.on('pageerror', err => complaints.push(err.message))
      page.on('requestfailed', request => {
        const { errorText } = request.failure()
        if (errorText !== 'net::ERR_ABORTED') complaints.push(`${request.url()}: ${errorText}`) // aborted: left for another page
      })
      await page.goto(app.url + path)
      return page
    }

    /** The same app in another process, to be stopped by its test. */
    async function another (port = '0') {
      const { url, stop } = await start(['examples/app'], { PORT: port, DATA: data, ...env })
      return { url, stop: () => stop('SIGKILL') }
    }

    async function signIn (page, name, password = 'correct horse') {
      await page.goto(`${app.url}/sign-in`)
      await page.fill('#name', name)
      await page.fill('#password', password)
      await submit(page)
    }

    /** Send the form of the page, and wait for the response to it, and for the page that follows. */
    async function submit (page, button = 'main form button') {
      const loaded = page.waitForEvent('load').catch(() => {}) // a form that a script sends has none
      const [response] = await Promise.all([
        page.waitForResponse(res => res.request().method() === 'POST'),
        page.click(button)
      ])
      if (response.request().isNavigationRequest()) await loaded // the old page is loaded, too
      return response
    }

    async function shoot (page, name) {
      if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true })
    }

    suite({
      visit,
      another,
      signIn,
      submit,
      shoot,
      complaints,
      get url () { return app.url },
      get browser () { return browser }
    })
  })
}

/** A headless Chromium, with more of its command line. */
function launch (...args) {
  const { chromium } = require('playwright-core')
  return chromium.launch({
    executablePath: need('chromium'),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', ...args]
  })
}

module.exports.launch = launch
