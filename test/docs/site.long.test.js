'use strict'

/**
 * The documentation site: built once, served by kone, and read in Chromium as a reader does.
 */

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { after, before, describe, it } = require('node:test')
const { promisify } = require('node:util')
const { install } = require('../helpers/area')
const { start } = require('../helpers/child')
const { onFreePort } = require('../helpers/ports')
const { missing } = require('../helpers/programs')
const share = require('../helpers/share')
const until = require('../helpers/until')
const { changed } = require('../plan')
const { launch } = require('../e2e/demo')

const run = promisify(execFile)
const ROOT = path.join(__dirname, '../..')
const AXE = require.resolve('axe-core/axe.min.js')
const SHOTS = process.env.KONE_SCREENSHOTS // a folder, to look at what the test saw
const TABS = 3
const KONE_HOMEPAGE = 'https://kone.example'
// Tables that the column of a page cuts off.
const cutTables = which => `[...document.querySelectorAll('.vp-doc .table${which}')].filter(table => table.scrollWidth > table.clientWidth)
  .map(table => location.pathname + ': ' + table.scrollWidth + ' px: ' + table.innerText.slice(0, 40))`
// Programs without an element for each coloured word: half of what axe would go through, for its rule of colours alone.
const UNCOLOURED = 'document.querySelectorAll("pre code").forEach(code => { code.textContent = code.textContent })'
const HYDRATED = 'document.querySelector("#app")?.__vue_app__'

describe('the documentation site', { skip: missing('chromium') }, () => {
  let folder, dist, site, browser, pages

  before(async () => {
    const area = install('../docs')
    folder = fs.mkdtempSync(path.join(tmpdir(), 'kone-site-'))
    dist = path.join(folder, 'dist')
    // A link to a page that does not exist fails the build.
    await run(area.bin('vitepress'), ['build', '--outDir', dist], { cwd: area.folder, env: { ...process.env, FORCE_COLOR: '0', KONE_HOMEPAGE } })
    pages = fs.readdirSync(dist, { recursive: true })
      .filter(file => file.endsWith('.html') && file !== '404.html')
      .map(file => `/${file.replace(/(?:(^|\/)index)?\.html$/, '$1')}`)
    fs.copyFileSync(AXE, path.join(dist, 'axe.js'))
    site = await start(['docs/.vitepress/serve.js', dist], { PORT: '0' }, ROOT)
    browser = await launch()
  })

  after(async () => {
    if (browser) await browser.close()
    if (site) await site.stop()
    if (folder) fs.rmSync(folder, { recursive: true, force: true })
  })

  /** A tab of its own visitor; `complaints` is what its pages printed, threw and could not load. */
  async function tab (options = {}) {
    const context = await browser.newContext({ locale: 'en-US', reducedMotion: 'reduce', ...options })
    // This visitor saves data: otherwise each page loads all pages that it links to, beside the test.
    await context.addInitScript('Object.defineProperty(navigator, "connection", { value: { saveData: true } })')
    const page = await context.newPage()
    page.setDefaultTimeout(60000)
    const complaints = []
    page.on('console', message => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(`${page.url()}: ${message.text()}`)
    })
    page.on('pageerror', err => complaints.push(`${page.url()}: ${err.message}`))
    page.on('requestfailed', request => {
      const { errorText } = request.failure()
      if (errorText !== 'net::ERR_ABORTED') complaints.push(`${request.url()}: ${errorText}`) // left for another page
    })
    page.on('response', response => {
      if (response.status() >= 400) complaints.push(`${response.url()}: ${response.status()}`)
    })
    return { page, complaints, close: () => context.close() }
  }

  /** Runs `look(page, path)` for each page, in a few tabs at once; what the pages complained about fails. */
  async function each (paths, options, look) {
    const queue = [...paths]
    const found = await Promise.all(Array.from({ length: TABS }, async () => {
      const { page, complaints, close } = await tab(options)
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        await page.goto(site.url + next, { waitUntil: 'load' })
        await page.waitForFunction(HYDRATED)
        complaints.push(...await look(page, next))
      }
      await close()
      return complaints
    }))
    assert.deepEqual(found.flat(), [])
  }

  it('should notice what a page complains about', async () => {
    await assert.rejects(each(['/'], {}, async page => {
      await page.evaluate('console.error("printed")')
      return []
    }), /printed/)
    await assert.rejects(each(['/nowhere'], {}, async () => []), /nowhere: 404/)
    await assert.rejects(each(['/'], {}, async page => {
      await page.evaluate('document.querySelector("#VPContent").append(Object.assign(new Image(), { src: "/logo.svg" }))')
      return axe(page, '#VPContent')
    }), /image-alt/)
  })

  it('should have a page for every document, and each of them in the sidebar', () => {
    const files = ['CHANGELOG', 'CONTRIBUTING', 'MIGRATION', 'SECURITY'].map(name => `/${name.toLowerCase()}`)
    for (const area of ['api', 'guide', 'reports']) {
      const documents = path.join(ROOT, 'docs', area)
      if (!fs.existsSync(documents)) continue
      const names = fs.readdirSync(documents).filter(file => file.endsWith('.md') && file !== 'README.md')
      files.push(...names.map(name => `/${area}/${name.slice(0, -3)}`))
    }
    const modules = fs.readdirSync(path.join(ROOT, 'middleware'))
    files.push(...modules.filter(name => fs.existsSync(path.join(ROOT, 'middleware', name, 'README.md'))).map(name => `/middleware/${name}`))
    assert.deepEqual(files.filter(file => !pages.includes(file)), [])
    assert(files.length > 50)

    const { links } = read('/reference')
    assert.deepEqual(pages.filter(page => page !== '/' && !links.includes(page)), [])
  })

  it('should lead to what is there, page and anchor', () => {
    const ids = new Map(pages.map(page => [page, read(page).ids]))
    const dead = []
    for (const page of pages) {
      for (const link of read(page).links) {
        const { pathname, hash, origin } = new URL(link, `http://site${page}`)
        if (origin !== 'http://site') continue
        const known = ids.get(pathname) || (fs.existsSync(path.join(dist, pathname)) && [])
        if (!known || (hash && !known.includes(decodeURIComponent(hash.slice(1))))) dead.push(`${page}: ${link}`)
      }
    }
    assert.deepEqual([...new Set(dead)], [])
  })

  it('should print braces in code as they are', () => {
    assert(read('/middleware/i18n').html.includes('<code>{{name}}</code>'))
  })

  it('should name the file to edit', () => {
    assert.match(read('/guide/errors').html, /<code>docs\/guide\/errors\.md<\/code>/)
    assert.match(read('/middleware/cors').html, /<code>middleware\/cors\/README\.md<\/code>/)
  })

  it('should render pages without an error and readable at 360 px: a third, and those that changed', { timeout: 450000 }, () => {
    const third = new Set(share.third(pages))
    const recent = changed().filter(file => file.endsWith('.md'))
    const some = pages.filter(page => third.has(page) || recent.some(file => read(page).html.includes(`<code>${file}</code>`)))
    return each(some, {}, async (page, path) => {
      await page.setViewportSize({ width: 360, height: 740 })
      await shoot(page, path, 'phone')
      const width = await page.evaluate('document.documentElement.scrollWidth')
      const findings = [...width > 360 ? [`${path} is ${width} px wide`] : [], ...await page.evaluate(cutTables(''))]
      await page.setViewportSize({ width: 1440, height: 900 })
      await shoot(page, path, 'desktop')
      // The internals have long names: these tables may scroll.
      if (!path.startsWith('/internals/')) findings.push(...await page.evaluate(cutTables('')))
      if (!third.has(path)) return findings
      await page.evaluate(UNCOLOURED)
      return [...findings, ...await axe(page, '#VPContent')] // what all pages have in common is looked at below
    })
  })

  for (const colorScheme of ['light', 'dark']) {
    it(`should be accessible with its frame and its colours, ${colorScheme}`, { timeout: 120000 }, () =>
      each(['/', '/guide/concepts', '/guide/testing', '/api/deploy', '/middleware/cors'], { colorScheme }, async (page, path) => {
        assert.equal(await page.evaluate('document.documentElement.classList.contains("dark")'), colorScheme === 'dark')
        await shoot(page, path, colorScheme)
        return axe(page)
      }))
  }

  it('should keep tables and charts readable at 360 px: names are whole, text does not shrink', async () => {
    await each(['/middleware/cors', '/reports/battle'], { viewport: { width: 360, height: 740 } }, async (page, path) => {
      const found = await page.evaluate(`({
        broken: [...document.querySelectorAll('.table td:first-child code:not(:has(wbr))')]
          .filter(code => code.getClientRects().length > 1).map(code => code.textContent),
        charts: [...document.querySelectorAll('.scrolls img')].map(image => image.offsetWidth).filter(width => width > 0),
        unreachable: document.querySelectorAll('.scrolls:not([tabindex="0"])').length
      })`)
      assert.deepEqual(found.broken, [])
      assert.equal(found.unreachable, 0)
      assert.equal(found.charts.length > 0, path === '/reports/battle') // as many as there are results for
      for (const width of found.charts) assert(width >= 640, `${path}: a chart of ${width} px`)
      return []
    })
    // The place of a chart is known before it is loaded.
    assert.match(read('/reports/battle').html, /<div class="scrolls"[^>]*><img (?=[^>]*width="\d+")(?=[^>]*height="\d+")/)
  })

  it('should list its pages for search engines and models, and describe each for those that link to it', () => {
    const text = name => fs.readFileSync(path.join(dist, name), 'utf8')
    const listed = [...text('sitemap.xml').matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url]) => new URL(url))
    assert.deepEqual(listed.map(({ pathname }) => pathname).sort(), [...pages].sort())
    assert.ok(listed.every(({ origin }) => origin === KONE_HOMEPAGE))
    const links = [...text('llms.txt').matchAll(/^- \[.+\]\((.+?)\)/gm)].map(([, url]) => new URL(url).pathname)
    assert.deepEqual(pages.filter(page => page !== '/' && !links.includes(page)), [])
    assert.deepEqual(links.filter(link => !pages.includes(link)), [])
    for (const page of pages) {
      const of = name => new RegExp(`<meta property="og:${name}" content="([^"]*)"`).exec(read(page).html)?.[1]
      assert.equal(of('url'), `${KONE_HOMEPAGE}${page}`)
      for (const name of ['title', 'description', 'type', 'site_name']) assert.ok(of(name), `${page}: og:${name}`)
    }
  })

  it('should begin with the sentence of README.md, clip neither commands nor table, and have all on a screen', async () => {
    const [, sentence] = /^\*\*(.*)\.\*\*$/m.exec(fs.readFileSync(path.join(ROOT, 'README.md'), 'utf8'))
    for (const viewport of [{ width: 1440, height: 900 }, { width: 390, height: 844 }]) {
      const { page, close } = await tab({ viewport })
      await page.goto(site.url)
      await page.waitForFunction(HYDRATED)
      await shoot(page, '/', `home-${viewport.width}`)
      const { hero, rows, lowest, clipped } = await page.evaluate(`({
        hero: ['.text', '.tagline'].map(name => document.querySelector('.VPHomeHero ' + name).textContent).join(': '),
        rows: document.querySelectorAll('.VPHome .table tr').length,
        lowest: Math.max(...['.table + p', 'ul + p'].map(part => document.querySelector('.screen ' + part).getBoundingClientRect().bottom),
          document.querySelector('.screen .vp-code-group').getBoundingClientRect().top),
        clipped: [document.documentElement, ...document.querySelectorAll('.VPHome pre, .VPHome .table')]
          .filter(one => one.scrollWidth > one.clientWidth).map(one => one.innerText.slice(0, 60))
      })`)
      await close()
      assert.equal(hero.toLowerCase(), `${sentence}.`.toLowerCase())
      assert.ok(rows > 1)
      assert.deepEqual(clipped, [])
      if (viewport.width > 1000) assert.ok(lowest < viewport.height, `where it loses, the reasons, how to try it, the program: ${lowest} px`)
    }
  })

  it('should say on a page that does not exist where to look', async () => {
    const { page, close } = await tab()
    const response = await page.goto(`${site.url}/nowhere`)
    await page.waitForFunction(HYDRATED)
    assert.equal(response.status(), 404)
    await page.waitForSelector('.NotFound')
    assert.match(await page.innerText('.NotFound'), /^404\s+Page not found\s.*search above/s)
    assert.equal(await page.getAttribute('.NotFound a', 'href'), '/')
    await shoot(page, '/nowhere', 'desktop')
    await close()
  })

  // What a reader types → the page about it.
  it('should find the right page first', async () => {
    const { page, complaints, close } = await tab()
    await page.goto(site.url)
    await page.waitForFunction(HYDRATED)
    await page.click('#local-search button')
    const results = page.locator('.VPLocalSearchBox .result')
    const wrong = []
    for (const [words, expected] of [
      ['graceful shutdown', '/api/deploy'], ['streaming', '/guide/files-and-streams'], ['error handler', '/guide/errors'],
      ['prisma', '/guide/recipes'], ['drizzle', '/guide/recipes'], ['monorepo', '/guide/recipes'], ['background jobs', '/guide/recipes'],
      ['test database', '/guide/recipes'], ['oauth', '/guide/authentication'], ['jwt', '/guide/authentication'],
      ...['KONE_ERR_HOST', 'KONE_ERR_SESSION_STORE', 'KONE_ERR_TIMEOUT', 'KONE_WARN_FALLBACK'].map(code => [code, '/guide/troubleshooting']),
      ['openapi', '/middleware/openapi'], ['rate limit', '/middleware/rateLimit'], ['upload', '/middleware/upload']
    ]) {
      await page.fill('.VPLocalSearchBox input', '')
      await results.first().waitFor({ state: 'detached' })
      await page.fill('.VPLocalSearchBox input', words)
      await results.first().waitFor()
      const found = await results.evaluateAll(links => links.map(link => link.getAttribute('href').replace(/(?:\.html)?(?:#.*)?$/, '')))
      if (found[0] !== expected) wrong.push(`${words}: ${found.slice(0, 3).join(' ')}`)
    }
    await close()
    assert.deepEqual(wrong, [])
    assert.deepEqual(complaints, [])
  })

  it('should find session', async () => {
    const { page, complaints, close } = await tab()
    await page.goto(site.url)
    await page.waitForFunction(HYDRATED)
    await page.click('#local-search button')
    await page.fill('.VPLocalSearchBox input', 'session')
    const first = page.locator('.VPLocalSearchBox .result').first()
    await first.waitFor()
    const found = await page.locator('.VPLocalSearchBox .result').evaluateAll(links => links.map(link => link.getAttribute('href')))
    assert.match(found[0], /^\/middleware\/session(?:\.html)?#session$/, 'the page comes before its sections')
    await shoot(page, '/', 'search')
    await first.click()
    await page.waitForURL(url => url.pathname !== '/')
    assert.match(await page.textContent('main'), /session/i)
    await close()
    assert.deepEqual(complaints, [])
  })

  for (const [where, index, target, expected] of [
    ['/api/context', 2, '/', /^tobi$/], // its `app` is not declared on the page
    ['/api/request', 0, '/tea?color=blue', /^Not Found$/], // the body of a middleware
    ['/guide/errors', 0, '/', /./]
  ]) {
    it(`should copy a program that runs: ${where}, block ${index}`, async () => {
      const { page, close } = await tab({ permissions: ['clipboard-read', 'clipboard-write'] })
      await page.goto(site.url + where)
      await page.waitForFunction(HYDRATED)
      await page.locator('div.language-js > button.copy:visible').nth(index).click()
      const program = await until(() => page.evaluate('navigator.clipboard.readText()'))
      await close()
      const file = path.join(folder, `copied${index}.mjs`)
      fs.mkdirSync(path.join(folder, 'node_modules'), { recursive: true })
      if (!fs.existsSync(path.join(folder, 'node_modules/kone'))) fs.symlinkSync(ROOT, path.join(folder, 'node_modules/kone'))
      assert.match(program, /app\.listen\(3000/)

      const text = await onFreePort(async port => {
        fs.writeFileSync(file, program.replace('listen(3000', `listen(${port}`) +
          `\nconsole.log('http://localhost:${port}')\n`)
        const child = await start([file], {}, folder)
        try {
          const res = await until(() => fetch(child.url + target).catch(() => null))
          return await res.text()
        } finally {
          child.process.kill('SIGKILL')
          await once(child.process, 'exit')
        }
      })
      assert.match(text, expected)
    })
  }

  function read (page) {
    const file = [`${page}.html`, `${page}index.html`, `${page}/index.html`].map(name => path.join(dist, name)).find(fs.existsSync)
    const html = fs.readFileSync(file, 'utf8')
    return {
      html,
      links: [...html.matchAll(/<a [^>]*?href="([^"]+)"/g)].map(([, href]) => href.replaceAll('&amp;', '&')),
      ids: [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    }
  }

  /** What axe finds; colours only on whole pages, because they take most of its time. */
  async function axe (page, part = 'html') {
    await page.addScriptTag({ url: '/axe.js' }) // by its address, because Chromium keeps compiled what it loads
    const rules = { 'color-contrast': { enabled: part === 'html' } }
    const { violations } = await page.evaluate(`axe.run('${part}', ${JSON.stringify({ resultTypes: ['violations'], rules })})`)
    return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${new URL(page.url()).pathname} ${id}: ${nodes[0].html.slice(0, 200)} ${nodes[0].failureSummary}`)
  }

  async function shoot (page, where, kind) {
    if (!SHOTS) return
    const name = `${kind}${where.replaceAll('/', '-').replace(/-$/, '-index')}.png`
    await page.screenshot({ path: path.join(SHOTS, name), fullPage: kind !== 'search' })
  }
})
