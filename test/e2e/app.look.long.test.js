'use strict'

const assert = require('node:assert/strict')
const { readFileSync, readdirSync } = require('node:fs')
const { join } = require('node:path')
const { describe, it } = require('node:test')
const { long } = require('../helpers/share')
const demo = require('./demo')

const APP = join(__dirname, '../../examples/app')
const PAGES = ['/', '/guestbook', '/upload', '/api', '/sign-in', '/docs', '/nowhere']
const BUDGET = 30 * 1024 // bytes

demo('the look of the demo app', suite => {
  const { visit, signIn, submit, shoot } = suite

  const rect = (page, selector) => page.locator(selector).first().evaluate(element => {
    const { left, right, top, bottom, height } = element.getBoundingClientRect()
    return { left, right, top, bottom, height }
  })

  for (const [colorScheme, locale] of long([['dark', 'en-US']], [['light', 'en-US'], ['dark', 'en-US'], ['light', 'zh-CN']])) {
    it(`should pass axe, and fit into 360 px: ${colorScheme}, ${locale}`, async () => {
      const page = await visit('/', { colorScheme, locale, bypassCSP: true, viewport: { width: 360, height: 740 } })
      for (const user of long([true], [false, true])) {
        if (user) await signIn(page, `Axe ${colorScheme} ${locale}`)
        for (const path of PAGES) {
          await page.goto(suite.url + path)
          await page.addScriptTag({ path: require.resolve('axe-core/axe.min.js') })
          const { violations } = await page.evaluate('axe.run()')
          assert.deepEqual(violations.map(({ id, nodes }) => `${path} ${id}: ${nodes[0].html}`), [])
          assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, path)
          await shoot(page, `360-${colorScheme}-${locale}-${user}-${path.slice(1)}`)
        }
      }
    })
  }

  it('should pass axe with errors at the fields', async () => {
    const page = await visit('/sign-in', { bypassCSP: true })
    await page.fill('#name', 'Axe!')
    await page.fill('#password', 'long enough')
    await submit(page)
    await page.addScriptTag({ path: require.resolve('axe-core/axe.min.js') })
    const { violations } = await page.evaluate('axe.run()')
    assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), [])
  })

  it(`should transfer at most ${BUDGET / 1024} KB for the first page`, async () => {
    const page = await visit('/healthz')
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    let transferred = 0
    session.on('Network.loadingFinished', ({ encodedDataLength }) => { transferred += encodedDataLength })
    await page.goto(suite.url, { waitUntil: 'load' })
    assert(transferred > 2000 && transferred <= BUDGET, `${transferred} bytes`)
  })

  it('should not shift a page while it loads, also on a slow machine, which paints in the middle of a page', async () => {
    const shiftOf = async (page, path) => {
      await page.goto(suite.url + path)
      if (path === '/') await page.waitForFunction(() => document.querySelector('#rate-line').getAttribute('d').includes('L'))
      return page.evaluate(() => new Promise(resolve => {
        let sum = 0
        const observer = new PerformanceObserver(list => {
          for (const entry of list.getEntries()) sum += entry.value
        })
        observer.observe({ type: 'layout-shift', buffered: true })
        setTimeout(() => resolve(sum), 300)
      }))
    }
    for (const width of long([360], [360, 1280])) {
      const page = await visit('/healthz', { viewport: { width, height: 800 } })
      await signIn(page, `Shift ${width}`)
      await page.fill('#text', 'an entry whose time is written anew')
      await submit(page)
      const session = await page.context().newCDPSession(page)
      await session.send('Emulation.setCPUThrottlingRate', { rate: 20 })
      for (const path of long(PAGES.slice(0, 2), PAGES)) assert.equal(await shiftOf(page, path), 0, `${path} at ${width} px`)
    }
  })

  it('should notice a shift, so that the test above can fail', async () => {
    const page = await visit('/nowhere')
    const shift = await page.evaluate(async () => {
      const next = type => new Promise(resolve => {
        new PerformanceObserver(list => resolve(list.getEntries()[0])).observe({ type, buffered: true })
      })
      await next('paint') // what comes before the first frame shifts nothing
      const box = document.createElement('div')
      box.style.height = '200px'
      document.getElementById('main').prepend(box)
      const { value } = await next('layout-shift')
      return value
    })
    assert(shift > 0)
  })

  it('should have a header of two rows at most on a phone, also with a long name', async () => {
    const page = await visit('/', { viewport: { width: 360, height: 740 } })
    const rows = async () => {
      const tops = await page.locator('header a, header button, .who .name').evaluateAll(elements => elements.map(element => {
        const { top, height } = element.getBoundingClientRect()
        return Math.round((top + height / 2) / 20)
      }))
      return new Set(tops).size
    }
    assert(await rows() <= 2)
    await signIn(page, 'Wolfeschlegelsteinhausenbergerdo')
    assert(await rows() <= 2)
  })

  it('should keep the height of the header on sign-in', async () => {
    const page = await visit('/guestbook')
    const heights = async () => {
      const found = []
      for (const width of [360, 768, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        found.push((await rect(page, 'header')).height)
      }
      return found
    }
    const before = await heights()
    await signIn(page, 'Height')
    assert.deepEqual(await heights(), before)
  })

  it('should draw the lines of header and footer from edge to edge, and their contents in the column', async () => {
    const page = await visit('/guestbook')
    for (const width of [360, 768, 1280, 1600]) {
      await page.setViewportSize({ width, height: 800 })
      const column = await rect(page, 'main h1')
      for (const [bar, first] of [['header', '.brand'], ['footer', 'footer a']]) {
        const line = await rect(page, bar)
        assert.deepEqual([line.left, line.right], [0, width], `${bar} at ${width} px`)
        assert.equal((await rect(page, first)).left, column.left, `${first} at ${width} px`)
      }
    }
  })

  it('should put labels nearer to their own field, and buttons at a distance', async () => {
    const page = await visit('/sign-in')
    const [name, label, password, button] = await Promise.all(
      ['#name', 'label[for=password]', '#password', 'main form button'].map(selector => rect(page, selector)))
    const own = password.top - label.bottom
    const other = label.top - name.bottom
    assert(other >= 16, `${other} px above the label`)
    assert(button.top - password.bottom >= 16, `${button.top - password.bottom} px above the button`)
    const hint = await rect(page, '#password-hint')
    assert(own - hint.height < other / 1.5, `${own - hint.height} px below the label, ${other} px above it`)
  })

  it('should not invite to sign in who is signed in', async () => {
    const page = await visit('/guestbook')
    assert.match(await page.textContent('main'), /Sign in/)
    await signIn(page, 'Counter')
    for (const path of ['/guestbook', '/upload', '/api']) {
      await page.goto(suite.url + path)
      assert.doesNotMatch(await page.locator('main > .columns > div').innerText(), /Sign in/, path)
    }
  })

  it('should show times without seconds', async () => {
    const page = await visit('/guestbook', { timezoneId: 'Asia/Shanghai' })
    await signIn(page, 'Clock')
    await page.fill('#text', 'when')
    await submit(page)
    assert.doesNotMatch(await page.textContent('.entries time'), /\d:\d\d:\d\d/)
    const plain = await visit('/guestbook', { javaScriptEnabled: false })
    assert.match(await plain.textContent('.entries time'), /\d:\d\d [AP]M UTC$/)
  })

  it('should have a chosen theme before any script runs', async () => {
    const page = await visit('/', { colorScheme: 'light' })
    await Promise.all([
      page.waitForResponse(res => res.request().method() === 'POST'),
      page.click('#theme button[value=dark]')
    ])
    await page.route(/\.js\b/, () => {}) // never loads
    await page.goto(`${suite.url}/guestbook`, { waitUntil: 'commit' })
    await page.waitForSelector('footer')
    const [r] = (await page.evaluate('getComputedStyle(document.body).backgroundColor')).match(/\d+/g)
    assert(r < 64, `red of the paper: ${r}`)
  })

  it('should name Chinese fonts for Chinese', async () => {
    const page = await visit('/', { locale: 'zh-CN' })
    const fonts = await page.evaluate('getComputedStyle(document.querySelector("h1")).fontFamily')
    for (const font of ['PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC']) assert(fonts.includes(font), font)
    assert.equal(await page.getAttribute('html', 'lang'), 'zh-Hans')
  })

  it('should fill the window of a desktop with more than a heading', async () => {
    const page = await visit('/docs')
    assert((await rect(page, 'main section')).left > 600)
    for (const path of ['/guestbook', '/upload', '/api', '/sign-in', '/nowhere']) {
      await page.goto(suite.url + path)
      const right = await rect(page, 'aside pre')
      assert(right.height > 150 && right.left > 600, path)
    }
  })

  it('should keep headings at a distance from what is above them, and commands in one line, on a phone', async () => {
    const page = await visit('/docs', { viewport: { width: 360, height: 740 } })
    const gap = (await rect(page, 'main section h2')).top - (await rect(page, '.steps')).bottom
    assert(gap >= 24, `${gap} px above the heading`)
    assert.equal(await page.locator('.steps code').evaluate(code => code.getClientRects().length), 1)
  })

  it('should not leave a separator or a unit alone at the end or the start of a line', async () => {
    const page = await visit('/guestbook', { viewport: { width: 360, height: 740 } })
    await signIn(page, 'A name of thirty characters or')
    await page.fill('#text', 'a line')
    await submit(page)
    assert.doesNotMatch(await page.textContent('.entries .by'), /·/)
    await page.goto(`${suite.url}/api`)
    await page.click('.try button >> nth=0')
    await page.locator('.response', { hasText: /\d\s?ms/ }).waitFor()
    assert.match(await page.textContent('.response'), /\d\u00a0ms/)
  })
}, { DOCS_URL: 'http://localhost:1' }) // where nothing listens

describe('the texts of the demo app', () => {
  const read = (...names) => readFileSync(join(APP, ...names), 'utf8')
  const unquote = text => text.replace(/\\'/g, "'")
  const catalogue = JSON.parse(read('locales', 'zh.json'))
  const english = JSON.parse(read('locales', 'en.json'))

  const used = new Set(['lang'])
  for (const name of readdirSync(join(APP, 'views'))) {
    for (const [, text] of read('views', name).matchAll(/__n?\('((?:[^'\\]|\\.)*)'/g)) used.add(unquote(text))
  }
  // texts that templates get as variables: labels of the navigation and the themes, problems, error pages
  for (const [, text] of read('views', 'layout.html').matchAll(/'\/\w*': '(\w+)'/g)) used.add(text)
  for (const text of Object.values(require('../../examples/app/views').template.options.globals.themes)) used.add(text)
  for (const text of Object.values(require('../../examples/app/pages').SAY)) used.add(text)
  for (const texts of Object.values(require('../../examples/app/errors').WORDS)) texts.forEach(text => used.add(text))

  it('should be Chinese in every place, and no translation left over', () => {
    assert.deepEqual([...used].filter(text => !(text in catalogue)), [])
    assert.deepEqual(Object.keys(catalogue).filter(text => !used.has(text)), [])
    assert.deepEqual(Object.keys(english).filter(text => !used.has(text)), [])
  })

  it('should keep the placeholders', () => {
    const placeholders = text => text.match(/%[sd]/g) || []
    for (const [text, translated] of Object.entries(catalogue)) {
      for (const form of typeof translated === 'string' ? [translated] : Object.values(translated)) {
        assert.deepEqual(placeholders(form), placeholders(text), text)
      }
    }
  })

  it('should use every middleware of the set', () => {
    const code = readdirSync(APP).filter(name => name.endsWith('.js')).map(name => read(name)).join('\n')
    const missing = Object.keys(require('kone/middleware'))
      .filter(name => !new RegExp(`mw\\.${name}\\b|kone/middleware/${name}'`).test(code))
    assert.deepEqual(missing, ['views']) // the same engine as template
  })

  it('should load nothing from another host', () => {
    for (const folder of ['views', 'assets']) {
      for (const name of readdirSync(join(APP, folder))) {
        assert.doesNotMatch(read(folder, name).replace('http://www.w3.org/2000/svg', ''), /(?:src|href|url|import)[=(\s]*["']?(?:https?:)?\/\//, name)
      }
    }
  })
})
