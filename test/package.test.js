'use strict'

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } = require('node:fs')
const { builtinModules, createRequire } = require('node:module')
const { tmpdir } = require('node:os')
const { join, relative, resolve, sep } = require('node:path')
const { after, before, describe, it } = require('node:test')
const { promisify } = require('node:util')
const { freePort } = require('./cluster/instance')
const { start } = require('./helpers/child')

const run = promisify(execFile)
const ROOT = join(__dirname, '..')
const semver = require('semver')
const manifest = require('kone/package.json')
const { names } = require('../tools/middleware-index')

describe('the package', () => {
  let folder, packed

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kone-package-'))
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: ROOT })
    packed = JSON.parse(stdout)[0]
    writeFileSync(join(folder, 'package.json'), '{ "private": true }')
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', `./${packed.filename}`], {
      cwd: folder,
      timeout: 120000
    })
  })

  after(() => rmSync(folder, { recursive: true, force: true }))

  it('should hold lib, middleware, the command and the documents, nothing else', () => {
    const documents = ['CHANGELOG.md', 'LICENSE', 'MIGRATION.md', 'README.md', 'SECURITY.md', 'package.json']
    const strange = packed.files.map(({ path }) => path)
      .filter(path => !/^(?:cluster|command|lib|middleware)\//.test(path) && !documents.includes(path))
    assert.deepEqual(strange, [])
    assert(packed.files.some(({ path }) => path === 'lib/application.js'))
    assert(packed.files.some(({ path }) => path === 'middleware/router/index.js'))
  })

  it('should install at most 60 packages, none of them AGPL', async () => {
    const { stdout } = await run('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: folder })
    const installed = stdout.trim().split('\n').slice(1)
    assert(installed.length <= 60, `${installed.length} packages`)
    for (const path of installed) {
      assert.doesNotMatch(String(JSON.parse(readFileSync(join(path, 'package.json'))).license), /AGPL/, path)
    }
  })

  it('should need no Node later than 20, in any of its packages', async () => {
    const { stdout } = await run('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: folder })
    for (const path of stdout.trim().split('\n').slice(1)) {
      const { name, version, engines } = JSON.parse(readFileSync(join(path, 'package.json')))
      assert(semver.satisfies('20.0.0', engines?.node ?? '*'), `${name} ${version} needs Node ${engines?.node}`)
    }
  })

  it('should need none of the packages that its own code replaces', async () => {
    const { stdout } = await run('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: folder })
    const names = stdout.trim().split('\n').map(path => path.split(`node_modules${sep}`).pop())
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
    for (const path of ['/lib/respond', '/lib/errors.js', '/lib/http1/parser', '/middleware/_shared/redis']) {
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
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined, PORT: String(await freePort()), TMPDIR: folder }
    const child = await start([command, 'start', 'app.js', '--instances', '1', '--cluster', 'node'], env, folder)
    assert.equal(await (await fetch(child.url)).text(), 'hi')
    await run(command, ['stop'], { cwd: folder, env })
    assert.equal(await child.stop(), 0)
  })

  it('should be a 2.x release from 2.17.0 on', () => {
    const [, minor] = /^2\.(\d+)\.\d+$/.exec(manifest.version)
    assert(Number(minor) >= 17)
  })
})

describe('imports', () => {
  const files = folder => readdirSync(join(ROOT, folder), { recursive: true })
    .filter(name => name.endsWith('.js')).map(name => join(folder, name).split(sep).join('/'))

  // file → what it requires of the checkout, and of packages
  function requires (file) {
    const code = readFileSync(join(ROOT, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    const names = [...code.matchAll(/\brequire\('([^']+)'\)/g)].map(([, name]) => name)
    const ours = names.filter(name => name.startsWith('.'))
      .map(name => createRequire(resolve(ROOT, file)).resolve(name))
      .map(path => relative(ROOT, path).split(sep).join('/'))
    return { ours, packages: names.filter(name => !name.startsWith('.')) }
  }

  it('should point one way in lib', () => {
    const above = { 'lib/application.js': ['lib/bluebird.js'] }
    for (const file of files('lib')) {
      for (const ours of requires(file).ours) {
        assert(ours.startsWith('lib/'), `${file} requires ${ours}`)
        if (ours === 'lib/application.js') assert(above[ours].includes(file), `${file} requires ${ours}`)
      }
    }
  })

  it('should leave Koa out of lib/http1', () => {
    for (const file of files('lib/http1')) {
      for (const ours of requires(file).ours) {
        assert(ours.startsWith('lib/http1/'), `${file} requires ${ours}`)
      }
    }
  })

  it('should be none in compose, final, parser and writer', () => {
    for (const file of ['lib/compose.js', 'lib/final.js', 'lib/http1/read/partial.js', 'lib/http1/response/writer.js']) {
      const { ours, packages } = requires(file)
      assert.deepEqual(ours, [], file)
      assert.deepEqual(packages.filter(name => !builtinModules.includes(name.replace('node:', ''))), [], file)
    }
  })

  it('should never lead from middleware to lib', () => {
    for (const file of files('middleware')) {
      for (const ours of requires(file).ours) {
        assert(ours.startsWith('middleware/'), `${file} requires ${ours}`)
      }
    }
  })

  it('should be declared: every package that is required is a dependency', () => {
    for (const file of [...files('lib'), ...files('middleware')]) {
      for (const name of requires(file).packages) {
        if (name.startsWith('node:')) continue
        const isOptional = manifest.peerDependenciesMeta?.[name]?.optional
        assert(name in manifest.dependencies || isOptional, `${file} requires ${name}`)
      }
    }
  })
})
