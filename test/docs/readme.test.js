'use strict'

const { before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { promisify } = require('node:util')
const { version } = require('kone/package.json')
const { commonJS } = require('../../docs/.vitepress/program')
const { names } = require('../../tools/middleware-index')
const { blocks } = require('../helpers/blocks')
const { start } = require('../helpers/child')
const temporary = require('../helpers/folder')
const share = require('../helpers/share')

const run = promisify(execFile)
const ROOT = path.join(__dirname, '../..')
const README = fs.readFileSync(path.join(ROOT, 'README.md'), 'utf8')

describe('README.md as it is installed', { skip: share('in make test-all: it installs packages', false) }, () => {
  const folder = temporary()

  before(async () => {
    fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true }')
    await run('make', ['pack', `ARGS=--pack-destination ${folder}`], { cwd: ROOT })
    await run(`npm install ./kone-${version}.tgz --prefer-offline --no-audit --no-fund`, { cwd: folder, shell: true, timeout: 300000 })
  })

  it('should have the packages and the size of an installation, beside those of Koa', async () => {
    const koa = path.join(folder, 'koa')
    fs.mkdirSync(koa)
    fs.writeFileSync(path.join(koa, 'package.json'), '{ "private": true }')
    const { version } = require('koa/package.json')
    await run('npm', ['install', `koa@${version}`, '--prefer-offline', '--no-audit', '--no-fund'], { cwd: koa, timeout: 300000 })
    const [, ...stated] = /brings (\d+) packages, ([\d.]+) MB, .*? is (\d+) packages, ([\d.]+) MB/s.exec(README).map(Number)
    const measured = [folder, koa].flatMap(sizeOf)
    for (const [i, value] of stated.entries()) {
      assert.ok(Math.abs(value - measured[i]) <= (i % 2 ? 0.5 : 0), `${stated} is ${measured}`)
    }
  })

  // Packages, and MB of their files.
  function sizeOf (folder) {
    const modules = path.join(folder, 'node_modules')
    const { packages } = JSON.parse(fs.readFileSync(path.join(modules, '.package-lock.json'), 'utf8'))
    const files = fs.readdirSync(modules, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
    const size = entry => fs.statSync(path.join(entry.parentPath ?? entry.path, entry.name)).size
    return [Object.keys(packages).length, files.reduce((sum, entry) => sum + size(entry), 0) / 1e6]
  }

  it('should have an app that runs when it is pasted, as an ES module and in CommonJS', async () => {
    await run('npm install zod --prefer-offline --no-audit --no-fund', { cwd: folder, shell: true, timeout: 300000 })
    const { code } = blocks(README).find(({ language }) => language === 'js')
    for (const [file, text] of [['app.mjs', code], ['app.cjs', commonJS(code)]]) {
      // The free port is printed in the same line, because a copy of the block prints nothing.
      fs.writeFileSync(path.join(folder, file), text.replace('app.listen(3000)',
        "const server = app.listen(0, () => console.log('http://localhost:' + server.address().port))"))
      const child = await start([path.join(folder, file)], process.env, folder)
      try {
        const send = body => fetch(`${child.url}/notes/today`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
        assert.deepEqual(await (await send({ text: 'milk' })).json(), { list: 'today', saved: 'milk' })
        assert.equal((await send({ text: '' })).status, 400)
      } finally {
        await child.stop()
      }
    }
  })
})

describe('README.md', () => {
  it('should say what it is, how to have it, how much, where it loses, why and how to try it, in this order and in few words', () => {
    const parts = ['A web framework for Node', 'Not on npm yet', 'make pack', ' try server.js ', '| CPU time per request |', '[Where it loses]',
      '- **Unmodified**', '- **Less CPU**', '- **Safer**', '- **Complete**', '- **No lost request**', 'Is it true of your app?', '```js']
    const found = parts.map(part => README.indexOf(part))
    assert.ok(found[0] >= 0)
    assert.deepEqual(found, found.toSorted((a, b) => a - b))
    const words = README.slice(0, found.at(-1)).replace(/<!--.*?-->|\]\(.*?\)/g, '').split(/\s+/).length
    assert.ok(words < 420, `${words} words before the program`)
  })

  it('should install as docs/README.md does, whose lines a test runs', () => {
    const commands = file => blocks(fs.readFileSync(path.join(ROOT, file), 'utf8')).find(({ code }) => code.includes('make pack')).code
      .split('\n').map(line => line.replace(/ +#.*/, '')).filter(Boolean).sort()
    assert.deepEqual(commands('README.md'), commands('docs/README.md'))
  })

  it('should count the faults of Koa 2 as MIGRATION.md does, whose table has as many rows as it says', () => {
    const migration = fs.readFileSync(path.join(ROOT, 'MIGRATION.md'), 'utf8')
    const [, rows, faults, table] = /### What is different\n[^]*?These (\d+) cases.* the first (\d+) are faults[^]*?\n\| --- .*\n((?:\|.*\n)+)/.exec(migration)
    assert.deepEqual([rows, faults], [String(table.trim().split('\n').length), /\[(\d+) faults of Koa 2\]/.exec(README)[1]])
  })

  it('should have the program, the reasons and the way to try it that the first page of the site has', () => {
    const home = fs.readFileSync(path.join(ROOT, 'docs/index.md'), 'utf8').replaceAll('](../', '](')
    const shared = README.replaceAll('](docs/', '](').match(/^- \*\*Unmodified[^]*?It installs nothing in your app\.$|^```js[^]*?^```$/gm)
    assert.equal(shared.length, 2)
    for (const part of shared) assert.ok(home.includes(part), part)
  })

  it('should name every middleware of the set', () => {
    const [, list] = README.match(/## The middleware\n\n.*\n\n([\s\S]*?)\n\n/)
    assert.deepEqual(names().filter(name => !new RegExp(`\\b${name}\\b`).test(list)), [])
  })
})
