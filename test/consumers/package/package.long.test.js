'use strict'

const assert = require('node:assert/strict')
const { execFile, execFileSync } = require('node:child_process')
const { cpSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join, posix, sep } = require('node:path')
const { before, describe, it } = require('node:test')
const { promisify } = require('node:util')
const { onFreePort } = require('../../helpers/ports')
const { start } = require('../../helpers/child')
const temporary = require('../../helpers/folder')

const run = promisify(execFile)
const ROOT = join(__dirname, '../../..')
const semver = require('semver')
const manifest = require('kone/package.json')
const { names } = require('../../../tools/middleware-index')
const pack = require('../../../tools/pack')

describe('the package', () => {
  const folder = temporary()
  let files, tarball

  before(async () => {
    tarball = pack({ to: folder })
    files = filesOf(tarball)
    writeFileSync(join(folder, 'package.json'), '{ "private": true }')
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], { cwd: folder, timeout: 300000 })
  })

  function filesOf (tarball) {
    return execFileSync('tar', ['tzf', tarball], { encoding: 'utf8' }).trim().split('\n').map(path => path.replace('package/', '')).sort()
  }

  it('should hold lib, middleware, the command, docs without the reports, and the documents, nothing else', () => {
    const documents = ['CHANGELOG.md', 'LICENSE', 'MIGRATION.md', 'README.md', 'SECURITY.md', 'package.json']
    const expected = /^(?:cluster|command|lib|middleware)\/|^docs\/(?:README|index|api\/.+|guide\/.+)\.md$|^docs\/drawings\/\w+\.svg$/
    assert.deepEqual(files.filter(path => !expected.test(path) && !documents.includes(path)), [])
    assert(files.includes('lib/application.js') && files.includes('middleware/router/index.js'))
    assert(statSync(tarball).size < 585_000, `${statSync(tarball).size} bytes`)
  })

  it('should be packed alike by npm, which leaves the checkout as it was', async () => {
    const read = (...names) => readFileSync(join(...names), 'utf8')
    const unpacked = async (...names) => {
      const at = mkdtempSync(join(folder, 'unpacked-'))
      await run('tar', ['xzf', join(...names), '-C', at])
      return join(at, 'package')
    }
    const checkout = join(folder, 'checkout')
    for (const path of [...files, 'tools', 'docs/reports']) cpSync(join(ROOT, path), join(checkout, path), { recursive: true })
    const chart = '<picture>\n<source srcset="docs/reports/charts/a-dark.svg">\n<img src="docs/reports/charts/a.svg" alt="A">\n</picture>\n'
    const readme = `${read(ROOT, 'README.md')}\n[All](docs/reports/README.md#all)\n\n${chart}`
    writeFileSync(join(checkout, 'README.md'), readme)
    const npmPack = async () => unpacked(checkout, (await run('npm', ['pack'], { cwd: checkout })).stdout.trim().split('\n').at(-1))

    const packed = await npmPack()
    assert.equal(read(packed, 'README.md'), `${read(await unpacked(tarball), 'README.md')}\nAll\n\n`)
    for (const path of files.filter(path => path !== 'README.md')) {
      assert.equal(read(checkout, path), read(ROOT, path), path)
      assert.doesNotMatch(read(packed, path), /(?:\]\(|")(?:\.\.?\/|docs\/)*reports\//, path)
    }
    assert.equal(read(checkout, 'README.md'), readme)

    // once there is a repository
    await run('npm', ['pkg', 'set', 'repository.url=git+https://github.com/a/kone.git'], { cwd: checkout })
    const at = kind => `https://github.com/a/kone/${kind}/v${manifest.version}/docs/reports`
    const released = chart.replaceAll('docs/reports', at('raw'))
    assert(read(await npmPack(), 'README.md').endsWith(`\n[All](${at('blob')}/README.md#all)\n\n${released}`))

    // interrupted
    const step = name => run(process.execPath, ['tools/pack.js', name], { cwd: checkout })
    for (const name of ['before', 'before', 'after']) await step(name)
    assert.equal(read(checkout, 'README.md'), readme)
    await step('before')
    writeFileSync(join(checkout, 'README.md'), readme) // by `git checkout`
    await step('after')
    await step('before')
    writeFileSync(join(checkout, 'README.md'), 'mine')
    await assert.rejects(step('after'), /pack: README\.md was changed while it was packed: its text before that is in /)
    assert.equal(read(checkout, 'README.md'), 'mine')
    assert.equal(read(checkout, 'node_modules/.cache/kone-pack/README.md'), readme)
  })

  it('should have a target in it for every link of its pages', () => {
    let links = 0
    for (const page of files.filter(path => path.endsWith('.md'))) {
      const text = readFileSync(join(folder, 'node_modules/kone', page), 'utf8').replace(/^ *```[\s\S]*?^ *```$/gm, '')
      for (const [, link, image] of text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]+)[^)\s]*\)|<(?:img|source) [^>]*src(?:set)?="(?!https?:)([^"]+)"/g)) {
        const target = link ?? image
        links++
        assert(files.includes(posix.join(posix.dirname(page), target)), `${page}: ${target}`)
      }
    }
    assert(links > 50)
  })

  /** The paths of the packages that are installed in a folder. */
  async function list (cwd) {
    const { stdout } = await run('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd })
    return stdout.trim().split('\n').slice(1)
  }

  it('should install as many packages as the comparison with Koa says', async () => {
    const koa = join(folder, 'koa')
    mkdirSync(koa)
    writeFileSync(join(koa, 'package.json'), '{ "private": true }')
    const version = require('koa/package.json').version
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', `koa@${version}`], { cwd: koa, timeout: 120000 })
    const page = readFileSync(join(ROOT, 'docs/api/koa.md'), 'utf8')
    const [, theirs, ours] = /\| packages installed \| (\d+) without any middleware \| (\d+) with the whole set \|/.exec(page)
    assert.deepEqual([(await list(koa)).length, (await list(folder)).length], [Number(theirs), Number(ours)])
  })

  it('should install at most 60 packages, none of them AGPL', async () => {
    const installed = await list(folder)
    assert(installed.length <= 60, `${installed.length} packages`)
    for (const path of installed) {
      assert.doesNotMatch(String(JSON.parse(readFileSync(join(path, 'package.json'))).license), /AGPL/, path)
    }
  })

  it('should need no Node later than 20, in any of its packages', async () => {
    for (const path of await list(folder)) {
      const { name, version, engines } = JSON.parse(readFileSync(join(path, 'package.json')))
      assert(semver.satisfies('20.0.0', engines?.node ?? '*'), `${name} ${version} needs Node ${engines?.node}`)
    }
  })

  it('should need none of the packages that its own code replaces', async () => {
    const names = (await list(folder)).map(path => path.split(`node_modules${sep}`).pop())
    for (const name of ['delegates', 'koa-compose', 'koa-convert', 'is-generator-function', 'http-assert', 'koa', 'pm2']) {
      assert(!names.includes(name), name)
    }
  })

  it('should load every public path', () => {
    const from = createRequire(join(folder, 'index.js'))
    for (const path of ['', '/bluebird', '/compose', '/middleware', '/package.json', '/lib/application',
      '/lib/context', '/lib/request', '/lib/response', '/lib/application.js']) {
      assert(from(`kone${path}`), path)
    }
    for (const path of ['/lib/respond', '/lib/core/errors.js', '/lib/engines/drain', '/lib/front/input/parser', '/middleware/_shared/redis']) {
      assert.throws(() => from(`kone${path}`), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' }, path)
    }
    const middleware = from('kone/middleware')
    for (const name of Object.keys(middleware)) {
      assert.equal(from(`kone/middleware/${name}`), middleware[name], name)
    }
    assert.deepEqual(Object.keys(middleware), names())
  })

  it('should serve an app in a cluster by its command, without a checkout', async () => {
    const command = join(folder, 'node_modules/.bin/kone')
    assert.equal((await run(command, ['--version'], { cwd: folder })).stdout.trim(), manifest.version)
    writeFileSync(join(folder, 'app.js'), "module.exports = (req, res) => res.end('hi')")
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined, TMPDIR: folder }
    const child = await onFreePort(port => {
      env.PORT = String(port)
      return start([command, 'start', 'app.js', '--instances', '1', '--cluster', 'node'], env, folder)
    })
    assert.equal(await (await fetch(child.url)).text(), 'hi')
    await run(command, ['stop'], { cwd: folder, env })
    assert.equal(await child.stop(), 0)
  })
})

describe('the names that an ES module imports', () => {
  it('should be those of helmet and of the router', async () => {
    const helmet = await import('kone/middleware/helmet')
    for (const name of Object.keys(helmet.default)) assert.equal(helmet[name], helmet.default[name], name)
    const router = await import('kone/middleware/router')
    assert.equal(router.url('/users/:id', { id: 1 }), '/users/1')
  })
})
