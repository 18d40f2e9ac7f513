'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after } = require('node:test')
const conditional = require('koa-conditional-get')
const original = require('koa-static')
const Koa2 = require('koa')
const serve = require('kone/middleware/static')
const frameworks = require('../helpers/frameworks')

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-tree-'))
after(() => fs.rmSync(root, { recursive: true }))

const NAMES = [
  'plain.txt', 'two words.txt', 'fünke.txt', '日本語.html', 'a+b.txt', 'a&b=c.txt', 'at@home.css', '100%.txt', 'per%20cent.txt',
  'hash#tag.txt', 'what?.txt', "it's.txt", 'q"uote.txt', '(paren).txt', '[bracket].txt', '{brace}.txt', 'semi;colon.txt',
  'comma,.txt', 'dollar$.txt', 'bang!.txt', 'star*.txt', 'tilde~.txt', '-dash-.txt', 'under_score.txt', 'dots..txt',
  'trailing.', 'UPPER.TXT', 'no-extension', 'weird.xyz123', 'x.tar.gz', 'a|b.txt', 'less<more>.txt', 'back`tick.txt', 'caret^.txt',
  'emoji😀.txt', 'é-composed.txt', 'e\u0301-decomposed.txt', 'colon:.txt', 'equals=.txt', ' leading space.txt', 'a b/c d.txt',
  'ünder/ü.txt', 'deep/er/and/deeper.json', '.dot', '.git/config', 'dir.txt/inner.txt', 'withindex/index.html', 'empty.js',
  ...(process.platform === 'win32' ? [] : ['back\\slash.txt', 'new\nline.txt', 'tab\t.txt', '\x7fdel.txt'])
]
for (const name of NAMES) {
  fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
  fs.writeFileSync(path.join(root, name), name === 'empty.js' ? '' : `content of ${name}`)
}
fs.writeFileSync(path.join(root, 'page.html'), 'page')
fs.writeFileSync(path.join(root, 'zipped.css'), 'plain')
fs.writeFileSync(path.join(root, 'zipped.css.gz'), 'gz')
fs.writeFileSync(path.join(root, 'zipped.css.br'), 'br')

frameworks('static beside koa-static', ({ it, Koa, ask }) => {
  const twins = options => {
    const ours = new Koa()
    ours.use(serve(root, options))
    const theirs = new Koa2()
    theirs.use(conditional())
    theirs.use(original(root, options))
    return { ours, theirs }
  }
  const same = async ({ ours, theirs }, line, headers) => {
    const [one, other] = [await ask(ours, line, { headers }), await ask(theirs, line, { headers })]
    const what = `${line} ${JSON.stringify(headers)}`
    assert.equal(one.status, other.status, what)
    assert(one.body.equals(other.body), what)
    for (const field of ['content-type', 'content-length', 'content-encoding', 'last-modified', 'cache-control']) {
      assert.equal(one.headers[field], other.headers[field], `${what} ${field}`)
    }
    return one
  }

  it('should find a file by its name, in both of the usual encodings', async () => {
    const apps = twins()
    for (const name of NAMES) {
      const component = name.split('/').map(encodeURIComponent).join('/')
      const whole = encodeURI(name).replace(/[?#]/g, encodeURIComponent)
      for (const target of new Set([component, whole])) {
        const { status } = await same(apps, `GET /${target}`)
        assert.equal(status, /(^|\/)\./.test(name) ? 404 : 200, name)
        await same(apps, `HEAD /${target}`)
      }
    }
  })

  it('should take the options', async () => {
    for (const options of [
      { maxage: 123456 }, { maxAge: 5000, immutable: true }, { hidden: true }, { index: false }, { index: 'plain.txt' },
      { extensions: ['html', '.txt'] }, { gzip: false }, { br: false, brotli: false }, { format: false }, { defer: true }
    ]) {
      const apps = twins(options)
      for (const target of [
        '/', '/plain.txt', '/page', '/plain', '/withindex', '/withindex/', '/.dot', '/.git/config', '/dir.txt', '/dir.txt/',
        '/no-extension', '/none', '/none/', '/deep', '/deep/er/'
      ]) await same(apps, `GET ${target}`)
      await same(apps, 'GET /zipped.css', { 'Accept-Encoding': 'gzip' })
      await same(apps, 'GET /zipped.css', { 'Accept-Encoding': 'gzip, br' })
      await same(apps, 'GET /zipped.css', { 'Accept-Encoding': 'identity' })
      await same(apps, 'POST /plain.txt')
    }
  })

  it('should treat If-Modified-Since as koa-conditional-get does behind it', async () => {
    const apps = twins()
    const date = fs.statSync(path.join(root, 'plain.txt')).mtimeMs
    for (const ms of [-1e6, 0, 1e6]) {
      await same(apps, 'GET /plain.txt', { 'If-Modified-Since': new Date(date + ms).toUTCString() })
    }
    await same(apps, 'GET /plain.txt', { 'If-Modified-Since': 'junk' })
  })
})
