'use strict'

const assert = require('node:assert/strict')
const { createHash } = require('node:crypto')
const { readFileSync } = require('node:fs')
const http = require('node:http')
const { join } = require('node:path')
const { it } = require('node:test')
const until = require('../helpers/until')
const demo = require('./demo')

const FILE = join(__dirname, '../../LICENSE')

demo('the demo app in Chromium', suite => {
  const { visit, signIn, submit, shoot, complaints } = suite

  it('should notice what a page prints, throws and cannot load', async () => {
    const page = await visit('/healthz')
    await page.evaluate(() => {
      console.error('printed')
      setTimeout(() => { throw new Error('thrown') })
      fetch('http://127.0.0.1:1/').catch(() => {})
    })
    const expected = [/^printed$/, /^thrown$/, /^http:\/\/127\.0\.0\.1:1\/: /, /^Failed to load resource/]
    await until(() => expected.every(what => complaints.some(complaint => what.test(complaint))))
    assert.equal(complaints.splice(0).length, expected.length)
  })

  it('should say on the first page what kone is, what the page shows, and where the documentation is', async () => {
    const page = await visit()
    assert.match(await page.textContent('.hero'), /web framework for Node.*Koa.*unchanged/)
    assert.match(await page.textContent('.hero'), /A kone server sends this page/)
    assert.match(await page.textContent('#documentation'), /make docs.*README\.md.*docs\//s)
    await page.click('.hero a:text("Documentation")')
    assert.equal(await page.textContent('h1'), 'Documentation')
    assert.match(await page.textContent('main'), /make docs.*README\.md.*docs\//s)
  })

  it('should sign in, keep it over a reload, and sign out', async () => {
    const page = await visit('/guestbook')
    await page.click('main >> text=Sign in')
    await signIn(page, 'Ada')
    assert.equal(new URL(page.url()).pathname, '/guestbook')
    assert.equal(await page.textContent('.who .name'), 'Ada')
    await page.reload()
    assert.equal(await page.textContent('.who .name'), 'Ada')
    await page.click('text=Sign out')
    await page.waitForSelector('.who >> text=Sign in')
    assert.equal(await page.locator('.who .name').count(), 0)
  })

  it('should come back to the page that the sign-in was for, and to no other site', async () => {
    for (const [from, path] of [['/upload', '/upload'], ['/api', '/api'], ['/sign-in?to=//evil.example', '/guestbook']]) {
      const page = await visit(from)
      if (from !== '/sign-in?to=//evil.example') await page.click('main >> text=Sign in')
      await page.fill('#name', 'Traveller')
      await page.fill('#password', 'correct horse')
      await submit(page)
      assert.equal(page.url(), suite.url + path)
    }
  })

  it('should show an entry at once and to everybody, as text', async () => {
    const page = await visit('/guestbook')
    await signIn(page, 'Mallory')
    const line = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>'
    await page.fill('#text', line)
    await submit(page)
    assert.equal(await page.textContent('.entries .text >> nth=0'), line)
    await shoot(page, 'guestbook')

    const other = await visit('/guestbook')
    assert.equal(await other.textContent('.entries .text >> nth=0'), line)
    assert.doesNotMatch(await other.title(), /owned/)
    assert.equal(await other.locator('.entries img').count(), 0)
  })

  it('should show an entry on the pages that are open, over a WebSocket', async () => {
    const [reader, writer] = [await visit('/guestbook'), await visit('/guestbook')]
    await signIn(writer, 'Ann')
    const connected = reader.waitForEvent('websocket')
    await reader.reload()
    await (await connected).waitForEvent('framereceived')
    for (const line of ['first', 'second']) {
      await writer.fill('#text', line)
      await submit(writer)
      await reader.waitForFunction(line => document.querySelector('.entries .text')?.textContent === line, line)
    }
    assert.match(await reader.textContent('.entries time >> nth=0'), /\d:\d\d/)
    assert.doesNotMatch(await reader.textContent('.entries time >> nth=0'), /UTC/)
  })

  it('should switch the language, stay on the page and remember it', async () => {
    const page = await visit('/upload')
    await page.click('text=中文')
    assert.equal(new URL(page.url()).pathname, '/upload')
    assert.equal(await page.textContent('h1'), '上传')
    assert.equal(await page.getAttribute('html', 'lang'), 'zh-Hans')
    await page.goto(`${suite.url}/guestbook`)
    assert.equal(await page.textContent('h1'), '留言簿')
    await page.click('text=English')
    assert.equal(await page.textContent('h1'), 'Guestbook')
  })

  it('should take an upload, show its size with a unit, and forget the file', async () => {
    const page = await visit()
    await signIn(page, 'Linus')
    await page.goto(`${suite.url}/upload`)
    const buffer = Buffer.alloc(11_357, 'a')
    await page.setInputFiles('#file', { name: 'letters.txt', mimeType: 'text/plain', buffer })
    await submit(page)
    const shown = await page.textContent('#uploaded')
    assert.match(shown, /letters\.txt.*text\/plain.*11\.4 kB/s)
    assert.match(shown, new RegExp(createHash('sha256').update(buffer).digest('hex')))
  })

  it('should work without JavaScript: sign in, post, upload, language, theme', async () => {
    const page = await visit('/guestbook', { javaScriptEnabled: false, colorScheme: 'light' })
    await signIn(page, 'No Script')
    await page.fill('#text', 'posted without a script')
    await submit(page)
    assert.equal(await page.textContent('.entries .text >> nth=0'), 'posted without a script')
    assert.match(await page.textContent('.entries time >> nth=0'), / UTC$/)

    await page.goto(`${suite.url}/upload`)
    await page.setInputFiles('#file', FILE)
    await submit(page)
    assert.match(await page.textContent('#uploaded'), new RegExp(createHash('sha256').update(readFileSync(FILE)).digest('hex')))

    const paper = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    await page.goto(suite.url)
    const light = await paper()
    await page.click('#theme button[value=dark]')
    assert.equal(page.url(), `${suite.url}/`)
    assert.notEqual(await paper(), light)
    await page.click('text=中文')
    assert.equal(await page.textContent('#live-title'), '本服务器的实时数据')
    assert.match(await page.textContent('#total'), /^\d+$/)
    assert.match(await page.textContent('noscript'), /刷新/)
  })

  it('should refuse a form that another origin sends', async () => {
    const page = await visit()
    await signIn(page, 'Victim')
    const evil = http.createServer((req, res) => {
      res.setHeader('Content-Type', 'text/html')
      res.end(`<link rel="icon" href="data:,"><form id="f" method="post" action="${suite.url}/guestbook">
        <input name="text" value="forged"></form><script>f.submit()</script>`)
    }).listen(0)
    const [response] = await Promise.all([
      page.waitForResponse(res => res.request().method() === 'POST'),
      page.goto(`http://127.0.0.1:${evil.address().port}/`)
    ])
    assert.equal(response.status(), 403)
    await page.waitForLoadState()
    assert.doesNotMatch(await (await fetch(`${suite.url}/api/entries`)).text(), /forged/)
    evil.close()
    evil.closeAllConnections()
  })

  it('should change the theme at once, without a new page', async () => {
    const page = await visit('/', { colorScheme: 'light' })
    const paper = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await paper()
    await page.evaluate('window.isSame = true')
    const [response] = await Promise.all([
      page.waitForResponse(res => res.request().method() === 'POST'),
      page.click('#theme button[value=dark]')
    ])
    assert.equal(response.status(), 302)
    assert.notEqual(await paper(), light)
    assert.equal(await page.evaluate('window.isSame'), true)
    assert.equal(await page.getAttribute('#theme button[value=dark]', 'aria-pressed'), 'true')
    await page.reload()
    assert.notEqual(await paper(), light)
  })

  it('should send the figures of its process once a second, and draw them', async () => {
    const page = await visit()
    const total = async () => Number((await page.textContent('#total')).replace(',', ''))
    const before = await total()
    await page.waitForFunction(() => document.querySelector('#rate-line').getAttribute('d').split('L').length >= 3)
    const line = await page.getAttribute('#rate-line', 'd')
    await page.click('#load')
    await until(async () => await total() > before + 100)
    assert.notEqual(await page.getAttribute('#rate-line', 'd'), line)
    await page.waitForFunction(() => /\d/.test(document.getElementById('latestCpu').textContent))
    assert.match(await page.textContent('#latestCpu'), /^[\d.,]+ (?:µs|ms)$/)
    assert.match(await page.textContent('#delay'), /^[\d.,]+ ms$/)
    assert.equal(await page.textContent('#fast'), 'On')
    assert.equal(await page.textContent('#share'), '100%')
    await page.click('#load')
    await page.waitForSelector('text=Send requests for 10 seconds')
    await shoot(page, 'live')
  })

  it('should begin with the CPU time of a request after a hundred of them', async () => {
    const Live = require('../../examples/app/live')
    const live = new Live()
    const sampled = requests => {
      for (let i = 0; i < requests; i++) live.count({ get: () => '' }, () => {})
      return live.sample().cpu
    }
    assert.deepEqual([sampled(50), sampled(60)], [null, null])
    assert.equal(sampled(19), null)
    assert.ok(sampled(20) >= 0)
    live.delay.disable()
  })

  it('should say when the server cannot be reached, and when it can be again', async () => {
    const { url, stop } = await suite.another()
    const page = await visit('/api', {})
    await page.goto(url)
    await page.waitForFunction(() => document.querySelector('#rate-line').getAttribute('d').includes('L'))
    assert.equal(await page.textContent('#offline'), '')
    const other = await page.context().newPage()
    await other.goto(`${url}/api`)
    await stop()
    await page.waitForFunction(() => document.getElementById('offline').textContent.startsWith('The server cannot be reached'))
    await other.locator('section.card form.try button').first().click()
    await other.waitForFunction(() => document.querySelector('.response')?.textContent.includes('The server cannot be reached.'))
    const again = await suite.another(new URL(url).port)
    await page.waitForFunction(() => document.getElementById('offline').textContent === '')
    await page.context().close()
    await again.stop()
    complaints.length = 0 // of the requests to the server that was gone
  })

  it('should end the event stream of a page that is hidden or left', async () => {
    const page = await visit()
    const opened = () => page.evaluate(() => performance.getEntriesByName(`${document.location.origin}/api/live`).length)
    await page.waitForFunction(() => document.querySelector('#rate-line').getAttribute('d').split('L').length >= 3)
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: true, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    })
    await until(async () => await opened() === 1) // a stream is listed when it has ended
  })

  it('should try the API from its page', async () => {
    const page = await visit()
    await signIn(page, 'Tester')
    await page.goto(`${suite.url}/api`)
    const send = async (path, fields = {}) => {
      const card = page.locator('section.card', { has: page.locator('h2', { hasText: path }) })
      for (const [name, value] of Object.entries(fields)) await card.locator(`[name=${name}]`).fill(value)
      const before = (await card.locator('.response').allInnerTexts()).join('')
      await card.locator('button').click()
      return until(async () => {
        const text = (await card.locator('.response').allInnerTexts()).join('')
        return text !== before && text
      })
    }
    assert.match(await send(/^POST \/api\/entries$/, { text: 'from the page' }), /^201 Created.*"text": "from the page"/s)
    assert.match(await send(/^POST \/api\/entries$/, { text: ' ' }), /^400 Bad Request.*problem\+json.*"text"/s)
    assert.match(await send(/^GET \/api\/entries$/, { limit: '1' }), /^200 OK.*from the page/s)
    assert.match(await send(/^GET \/api\/entries$/, { limit: '99' }), /^400 Bad Request.*"limit"/s)
    assert.match(await send(/^GET \/api\/entries\/:id$/, { id: '9999' }), /^404 Not Found.*"No such entry"/s)
    assert.match(await send(/^POST \/rpc\/latest$/, { n: '1' }), /^200 OK.*from the page/s)
    assert.match(await send(/callback=/, { callback: 'show' }), /^200 OK.*show\(/s)
    assert.match(await send(/^GET \/api\/live$/), /^200 OK.*event: history.*event: sample/s)
    await shoot(page, 'api')
  })

  it('should open the responses of the API without JavaScript', async () => {
    const page = await visit('/api', { javaScriptEnabled: false })
    await page.fill('#limit', '3')
    await page.click('form[action="/api/entries"]:not([method]) button')
    assert.equal(page.url(), `${suite.url}/api/entries?limit=3`)
    await page.goto(`${suite.url}/api`)
    await page.fill('#id', '9999')
    await page.click('form[action="/api/entry"] button')
    assert.equal(page.url(), `${suite.url}/api/entries/9999`)
    assert.match(await page.textContent('body'), /No such entry/)
  })

  it('should compress pages and respond to a conditional request with 304', async () => {
    const page = await fetch(suite.url)
    assert.match(page.headers.get('content-encoding') || '', /gzip|br/)
    const css = await fetch(`${suite.url}/site.css`)
    const again = await fetch(`${suite.url}/site.css`, {
      // fetch would add no-cache, which requests the whole file
      headers: { 'if-none-match': css.headers.get('etag'), 'cache-control': 'max-age=0' }
    })
    assert.equal(again.status, 304)
  })
}, { DOCS_URL: 'http://localhost:1' }) // where no documentation site runs

demo('the demo app on node:http, with an empty guestbook', ({ visit, signIn, submit }) => {
  it('should say that the front is off', async () => {
    const page = await visit()
    await page.waitForFunction(() => document.getElementById('fast').textContent === 'Off')
    assert.equal(await page.textContent('#share'), '0%')
  })

  it('should invite to write the first entry, and count entries in words', async () => {
    for (const [locale, empty] of [['zh-CN', '还没有留言'], ['en-US', 'No entries yet']]) {
      const page = await visit('/', { locale })
      assert.match(await page.textContent('main'), new RegExp(empty))
      await page.goto(new URL('/guestbook', page.url()).href)
      assert.match(await page.textContent('main'), new RegExp(empty))
      assert.doesNotMatch(await page.textContent('main'), /\b0 /)
      if (locale === 'zh-CN') continue
      await signIn(page, 'First')
      await page.fill('#text', 'counted')
      await submit(page)
      assert.equal(await page.textContent('.count'), '1 entry')
      await page.fill('#text', 'again')
      await submit(page)
      assert.equal(await page.textContent('.count'), '2 entries')
    }
  })
}, { KONE_HTTP1: 'off' })

const site = http.createServer((req, res) => res.end('the site')).listen(0)
site.unref() // where Chromium is missing no test closes it

demo('the demo app beside the documentation site', suite => {
  it('should lead there', async () => {
    const page = await suite.visit()
    await page.click('.hero a:text("Documentation")')
    assert.equal(await page.textContent('body'), 'the site')
    site.close()
    site.closeAllConnections()
  })
}, { DOCS_URL: `http://localhost:${site.address().port}` })
