'use strict'

const assert = require('node:assert/strict')
const { createHash } = require('node:crypto')
const { mkdtempSync, readFileSync, rmSync } = require('node:fs')
const http = require('node:http')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { after, afterEach, before, describe, it } = require('node:test')
const { start } = require('../helpers/child')
const { missing, need } = require('../helpers/programs')
const until = require('../helpers/until')

const SHOTS = process.env.KONE_SCREENSHOTS // a folder, to look at what the test saw
const FILE = join(__dirname, '../../LICENSE')

describe('the demo app in Chromium', { skip: missing('chromium') }, () => {
  let app, browser, data
  const complaints = []

  before(async () => {
    data = mkdtempSync(join(tmpdir(), 'kone-e2e-'))
    app = await start(['examples/app'], { PORT: '0', DATA: data })
    const { chromium } = require('playwright-core')
    browser = await chromium.launch({
      executablePath: need('chromium'),
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update']
    })
  })

  after(async () => {
    if (browser) await browser.close()
    if (app) await app.stop()
    rmSync(data, { recursive: true, force: true })
  })

  // after each test, so that what one page complains about is this test's failure in any order
  afterEach(() => assert.deepEqual(complaints.splice(0), []))

  it('should hear what a page prints, throws and cannot load', async () => {
    const page = await visit('/healthz')
    await page.evaluate(() => {
      console.error('printed')
      setTimeout(() => { throw new Error('thrown') })
      fetch('http://127.0.0.1:1/').catch(() => {})
    })
    const expected = [/^printed$/, /^thrown$/, /^http:\/\/127\.0\.0\.1:1\/: /, /^Failed to load resource/]
    await until(() => expected.every(what => complaints.some(complaint => what.test(complaint))))
    await page.context().close()
    assert.equal(complaints.splice(0).length, expected.length)
  })

  // A page of its own visitor; what it complains about is collected.
  async function visit (path = '/', options = {}) {
    const context = await browser.newContext({ locale: 'en-US', ...options })
    const page = await context.newPage()
    page.on('console', message => {
      // A refused form is an answer with an error status, which Chromium prints; pages are silent.
      if (message.type() === 'error' && !/the server responded with a status of 4/.test(message.text())) {
        complaints.push(message.text())
      }
    })
    page.on('pageerror', err => complaints.push(err.message))
    page.on('requestfailed', request => {
      const { errorText } = request.failure()
      if (errorText !== 'net::ERR_ABORTED') complaints.push(`${request.url()}: ${errorText}`) // not: left for another page
    })
    await page.goto(app.url + path)
    return page
  }

  async function signIn (page, name, password = 'correct horse') {
    await page.goto(`${app.url}/sign-in`)
    await page.fill('#name', name)
    await page.fill('#password', password)
    await page.click('main button')
  }

  async function shoot (page, name) {
    if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true })
  }

  it('should sign in, keep it over a reload, and sign out', async () => {
    const page = await visit()
    await page.click('text=Sign in >> nth=0')
    await signIn(page, 'Ada')
    assert.equal(await page.textContent('.who span'), 'Ada')
    await page.reload()
    assert.equal(await page.textContent('.who span'), 'Ada')
    await page.click('text=Sign out')
    assert.equal(await page.locator('.who span').count(), 0)
    await page.context().close()
  })

  it('should refuse a wrong password with a 401 and say so', async () => {
    const page = await visit()
    await signIn(page, 'Grace', 'the right one')
    await page.click('text=Sign out')
    const [response] = await Promise.all([
      page.waitForResponse(res => res.request().method() === 'POST'),
      signIn(page, 'Grace', 'the wrong one')
    ])
    assert.equal(response.status(), 401)
    assert.match(await page.textContent('[role=alert]'), /not the password/)
    await page.context().close()
  })

  it('should show an entry at once and to everybody, as text', async () => {
    const page = await visit()
    await signIn(page, 'Mallory')
    const line = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>'
    await page.fill('#text', line)
    await page.click('main button')
    assert.equal(await page.textContent('.entries p >> nth=0'), line)
    await shoot(page, 'guestbook')

    const other = await visit()
    assert.equal(await other.textContent('.entries p >> nth=0'), line)
    assert.doesNotMatch(await other.title(), /owned/)
    assert.equal(await other.locator('.entries img').count(), 0)
    await page.context().close()
    await other.context().close()
  })

  it('should switch the language, stay on the page and remember it', async () => {
    const page = await visit('/clock')
    await page.click('text=中文')
    assert.equal(new URL(page.url()).pathname, '/clock')
    assert.equal(await page.textContent('h1'), '时钟')
    assert.equal(await page.getAttribute('html', 'lang'), 'zh')
    await page.goto(app.url)
    assert.equal(await page.textContent('h1'), '留言簿')
    await page.click('text=English')
    assert.equal(await page.textContent('h1'), 'Guestbook')
    await page.context().close()
  })

  it('should take an upload and forget the file', async () => {
    const page = await visit()
    await signIn(page, 'Linus')
    await page.goto(`${app.url}/upload`)
    await page.setInputFiles('#file', FILE)
    await page.click('main button')
    const shown = await page.textContent('#uploaded')
    assert.match(shown, /LICENSE/)
    assert.match(shown, new RegExp(createHash('sha256').update(readFileSync(FILE)).digest('hex')))

    await page.goto(`${app.url}/upload`)
    await page.setInputFiles('#file', { name: 'big.bin', mimeType: 'a/b', buffer: Buffer.alloc(1024 * 1024 + 1) })
    await page.click('main button')
    assert.equal(await page.textContent('h1'), '413')
    await page.context().close()
  })

  it('should tick', async () => {
    const page = await visit('/clock')
    await page.waitForFunction(() => !document.getElementById('clock').textContent.endsWith('UTC'))
    const first = await page.textContent('#clock')
    await page.waitForFunction(before => document.getElementById('clock').textContent !== before, first)
    await shoot(page, 'clock')
    await page.context().close()
  })

  it('should show the time without JavaScript', async () => {
    const page = await visit('/clock', { javaScriptEnabled: false })
    assert.match(await page.textContent('#clock'), /^\d\d:\d\d:\d\d UTC$/)
    assert.match(await page.textContent('noscript'), /Reload/)
    await page.context().close()
  })

  it('should show an error page, escaped', async () => {
    const page = await visit('/%3Cscript%3Ealert(1)%3C/script%3E')
    assert.equal(await page.textContent('h1'), '404')
    assert.equal(await page.locator('main script').count(), 0)
    await page.context().close()
  })

  it('should refuse a form that another origin sends', async () => {
    const page = await visit()
    await signIn(page, 'Victim')
    const evil = http.createServer((req, res) => {
      res.setHeader('Content-Type', 'text/html')
      res.end(`<link rel="icon" href="data:,"><form id="f" method="post" action="${app.url}/entries">
        <input name="text" value="forged"></form><script>f.submit()</script>`)
    }).listen(0)
    const [response] = await Promise.all([
      page.waitForResponse(res => res.request().method() === 'POST'),
      page.goto(`http://127.0.0.1:${evil.address().port}/`)
    ])
    assert.equal(response.status(), 403)
    await page.waitForLoadState()
    assert.doesNotMatch(await (await fetch(`${app.url}/api/entries`)).text(), /forged/)
    evil.close()
    evil.closeAllConnections()
    await page.context().close()
  })

  it('should have no serious accessibility problem, in light and dark, wide and narrow', async () => {
    for (const colorScheme of ['light', 'dark']) {
      const page = await visit('/', { colorScheme, bypassCSP: true, viewport: { width: 390, height: 800 } })
      await signIn(page, `Axe ${colorScheme}`)
      for (const path of ['/', '/sign-in', '/upload', '/clock', '/nowhere']) {
        await page.goto(app.url + path)
        await page.addScriptTag({ path: require.resolve('axe-core/axe.min.js') })
        const { violations } = await page.evaluate('axe.run()')
        const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
        assert.deepEqual(serious.map(({ id, nodes }) => `${path} ${id}: ${nodes[0].html}`), [])
        const width = await page.evaluate('document.documentElement.scrollWidth')
        assert(width <= 390, `${path} is ${width} px wide on a phone`)
      }
      await page.goto(app.url)
      await shoot(page, `phone-${colorScheme}`)
      await page.context().close()
    }
  })

  it('should dim on demand', async () => {
    const page = await visit('/', { colorScheme: 'light' })
    const paper = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await paper()
    await page.click('#theme')
    assert.notEqual(await paper(), light)
    await page.context().close()
  })

  it('should limit the attempts to sign in', async () => {
    const tries = await Promise.all(Array.from({ length: 12 }, () => {
      return fetch(`${app.url}/sign-in`, { method: 'POST', headers: { 'sec-fetch-site': 'same-origin' } })
    }))
    assert(tries.some(({ status }) => status === 429))
  })

  it('should compress pages and answer a conditional request with 304', async () => {
    const page = await fetch(app.url)
    assert.match(page.headers.get('content-encoding') || '', /gzip|br/)
    const css = await fetch(`${app.url}/site.css`)
    const again = await fetch(`${app.url}/site.css`, {
      // fetch would add no-cache, which asks for the whole file
      headers: { 'if-none-match': css.headers.get('etag'), 'cache-control': 'max-age=0' }
    })
    assert.equal(again.status, 304)
  })
})
