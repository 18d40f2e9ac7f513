'use strict'

const assert = require('node:assert/strict')
const original = require('koa-static')
const Koa2 = require('koa')
const serve = require('kone/middleware/static')
const folder = require('../helpers/folder')
const frameworks = require('../helpers/frameworks')

const NAMES = [
  'plain.txt', 'two words.txt', 'fünke.txt', '日本語.html', 'a+b.txt', 'a&b=c.txt', 'at@home.css', '100%.txt', 'per%20cent.txt',
  'hash#tag.txt', 'what?.txt', "it's.txt", 'q"uote.txt', '(paren).txt', '[bracket].txt', '{brace}.txt', 'semi;colon.txt',
  'comma,.txt', 'dollar$.txt', 'bang!.txt', 'star*.txt', 'tilde~.txt', '-dash-.txt', 'under_score.txt', 'dots..txt',
  'trailing.', 'UPPER.TXT', 'no-extension', 'weird.xyz123', 'x.tar.gz', 'a|b.txt', 'less<more>.txt', 'back`tick.txt', 'caret^.txt',
  'emoji😀.txt', 'é-composed.txt', 'e\u0301-decomposed.txt', 'colon:.txt', 'equals=.txt', ' leading space.txt', 'a b/c d.txt',
  'ünder/ü.txt', 'deep/er/and/deeper.json', '.dot', '.git/config', 'dir.txt/inner.txt', 'withindex/index.html', 'empty.js',
  ...(process.platform === 'win32' ? [] : ['back\\slash.txt', 'new\nline.txt', 'tab\t.txt', '\x7fdel.txt'])
]
const root = folder({
  ...Object.fromEntries(NAMES.map(name => [name, name === 'empty.js' ? '' : `content of ${name}`])),
  'page.html': 'page',
  'zipped.css': 'plain',
  'zipped.css.gz': 'gz',
  'zipped.css.br': 'br'
})

frameworks('static beside koa-static', ({ it, Koa, ask }) => {
  const twins = options => {
    const ours = new Koa().use(serve(root, options))
    const theirs = new Koa2()
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
        assert.equal((await same(apps, `GET /${target}`)).status, /(^|\/)\./.test(name) ? 404 : 200, name)
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
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) await same(apps, `${method} /plain.txt`)
    }
  })
})
