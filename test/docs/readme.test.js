'use strict'

const { before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { promisify } = require('node:util')
const { version } = require('kone/package.json')
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
    const [, command] = README.match(/`make pack` writes the tarball for `(npm install [^`]+)`/)
    await run(`${command} --prefer-offline --no-audit --no-fund`, { cwd: folder, shell: true, timeout: 300000 })
  })

  it('should have the packages and the size of an installation, beside those of Koa', async () => {
    const koa = path.join(folder, 'koa')
    fs.mkdirSync(koa)
    fs.writeFileSync(path.join(koa, 'package.json'), '{ "private": true }')
    const { version } = require('koa/package.json')
    await run('npm', ['install', `koa@${version}`, '--prefer-offline', '--no-audit', '--no-fund'], { cwd: koa, timeout: 300000 })
    const [, ...stated] = /brings (\d+) packages, ([\d.]+) MB, .* is (\d+) packages, ([\d.]+) MB/s.exec(README).map(Number)
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

  for (const [kind, file] of [['ES modules', 'app.mjs'], ['CommonJS', 'app.cjs']]) {
    it(`should have an app that runs when it is pasted: ${kind}`, async () => {
      const { code } = blocks(README).find(block => block.code.includes(`// ${kind}`))
      // The free port is printed in the same line, because a copy of the block prints nothing.
      const pasted = code.replace('app.listen(3000)',
        "const server = app.listen(0, () => console.log('http://localhost:' + server.address().port))")
      fs.writeFileSync(path.join(folder, file), pasted)
      const child = await start([path.join(folder, file)], process.env, folder)
      try {
        const response = await fetch(child.url)
        assert.deepEqual([response.status, await response.text()], [200, 'Hello World'])
      } finally {
        await child.stop()
      }
    })
  }
})

describe('README.md', () => {
  it('should name the tarball of this version', () => {
    assert.ok(README.includes(`npm install ./kone-${version}.tgz`))
  })

  it('should name every middleware of the set', () => {
    const [, list] = README.match(/## The set\n\n.*\n\n([\s\S]*?)\n\n/)
    assert.deepEqual(names().filter(name => !new RegExp(`\\b${name}\\b`).test(list)), [])
  })
})
