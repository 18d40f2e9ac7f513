'use strict'

const { describe, it, before, after } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const root = path.join(__dirname, '..')
const create = path.join(root, 'create/index.js')
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'create-kone-'))
const { version } = require('kone/package.json')

after(() => fs.rmSync(folder, { recursive: true, force: true }))

describe('npm create kone', () => {
  describe('makes a project that passes its own test', { concurrency: 2 }, () => {
    // the package as it would be published, in place of the registry's
    let tarball
    before(async () => {
      const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root })
      tarball = path.join(folder, JSON.parse(stdout)[0].filename)
    })

    it('in JavaScript, bare or not', () => proves('js', []))
    it('in TypeScript, bare or not', () => proves('ts', ['--ts']))

    async function proves (name, options) {
      const site = await project(name, options)
      const installed = await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: site })
      assert.equal(installed.code, 0, installed.stderr)
      await passes(site)

      const bare = await project(`${name}-bare`, [...options, '--bare'])
      const needs = ({ dependencies, devDependencies }) => ({ dependencies, devDependencies })
      assert.deepEqual(needs(manifest(name)), needs(manifest(`${name}-bare`)))
      fs.cpSync(path.join(site, 'node_modules'), path.join(bare, 'node_modules'), { recursive: true })
      await passes(bare)
    }

    async function project (name, options) {
      const made = await run(process.execPath, [create, name, ...options], {
        cwd: folder,
        env: { ...process.env, KONE_SPEC: `file:${tarball}` }
      })
      assert.equal(made.code, 0, made.stderr)
      assert.match(made.stdout, new RegExp(`cd ${name}\\n {2}npm install\\n {2}npm test`))
      return path.join(folder, name)
    }

    async function passes (cwd) {
      const { code, stdout, stderr } = await run('npm', ['test'], { cwd, env: clean })
      assert.equal(code, 0, stdout + stderr)
      assert.match(stdout, /(#|ℹ) fail 0/)
      assert.doesNotMatch(stdout, /(#|ℹ) pass 0/)
    }
  })

  it('should write what it is asked for', async () => {
    await make('plain', '--bare')
    assert.deepEqual(list('plain'), ['.gitignore', 'README.md', 'app.js', 'app.test.js', 'package.json', 'server.js'])
    const { name, dependencies, scripts, devDependencies } = manifest('plain')
    assert.equal(name, 'plain')
    assert.deepEqual(dependencies, { kone: `^${version}` })
    assert.deepEqual(Object.keys(scripts), ['start', 'dev', 'test'])
    assert.equal(devDependencies, undefined)

    await make('deep/typed', '--ts', '--bare')
    assert.deepEqual(list('deep/typed/src'), ['app.test.ts', 'app.ts', 'server.ts'])
    assert.equal(manifest('deep/typed').name, 'typed')
    assert.ok(manifest('deep/typed').devDependencies.typescript)

    await make('site')
    assert.ok(list('site').includes('views/index.html'))
  })

  it('should take an empty folder, and one with nothing but a repository', async () => {
    fs.mkdirSync(path.join(folder, 'empty'))
    await make('empty', '--bare')
    fs.mkdirSync(path.join(folder, 'cloned/.git'), { recursive: true })
    fs.writeFileSync(path.join(folder, 'cloned/.git/HEAD'), '')
    const { code, stdout } = await run(process.execPath, [create, '.', '--bare'], { cwd: path.join(folder, 'cloned') })
    assert.equal(code, 0)
    assert.doesNotMatch(stdout, /cd /)
    assert.equal(manifest('cloned').name, 'cloned')
  })

  it('should tell its usage and its version, which is that of kone', async () => {
    assert.match((await make('--help')).stdout, /^usage: npm create kone <folder>/)
    assert.equal((await make('--version')).stdout, `${version}\n`)
  })

  describe('refuses in one line', () => {
    const refuse = (title, args, expected) => it(title, async () => {
      const before = fs.readdirSync(folder).sort()
      const { code, stdout, stderr } = await run(process.execPath, [create, ...args], { cwd: folder })
      assert.equal(code, 1)
      assert.equal(stdout, '')
      assert.match(stderr, expected)
      assert.match(stderr, /^create-kone: [^\n]+\n$/)
      assert.deepEqual(fs.readdirSync(folder).sort(), before)
    })

    before(() => {
      fs.mkdirSync(path.join(folder, 'full'))
      fs.writeFileSync(path.join(folder, 'full/precious'), 'x')
      fs.writeFileSync(path.join(folder, 'file'), 'x')
    })

    refuse('no folder where nobody can be asked', [], /name a folder/)
    refuse('two folders', ['a', 'b'], /one folder only/)
    refuse('an unknown option', ['a', '--typescript'], /unknown option --typescript/)
    refuse('an unknown letter', ['a', '-t'], /unknown option -t/)
    refuse('a value for a switch', ['a', '--ts=5'], /--ts/)
    refuse('a folder with something in it', ['full'], /full exists and is not empty/)
    refuse('a file', ['file'], /file exists and is no folder/)
    refuse('a folder in a file', ['file/a'], /file/)
    refuse('upper case', ['App'], /"App" is no package name/)
    refuse('blanks', ['my app'], /"my app" is no package name/)
    refuse('a leading dot', ['.app'], /".app" is no package name/)
    refuse('control characters', ['a\nb'], /"a\\nb" is no package name/)
    refuse('a name too long', ['a'.repeat(215)], /is no package name/)
    refuse('a name npm keeps for itself', ['node_modules'], /is no package name/)

    it('and leaves what is there alone', () => {
      assert.deepEqual(list('full'), ['precious'])
    })
  })

  it('should be published with all of its files and no dependency', async () => {
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json'], { cwd: path.join(root, 'create') })
    const packed = JSON.parse(stdout)[0].files.map(file => file.path)
    const there = list('.', path.join(root, 'create')).filter(file => file !== 'package.json')
    assert.deepEqual(packed.filter(file => file !== 'package.json').sort(), there)
    const { dependencies, peerDependencies } = require('../create/package.json')
    assert.deepEqual([dependencies, peerDependencies], [undefined, undefined])
  })
})

// the runner's own variables would make the inner `node --test` report to it
const { NODE_TEST_CONTEXT, NODE_OPTIONS, ...clean } = process.env

async function make (...args) {
  const { KONE_SPEC, ...env } = process.env
  const made = await run(process.execPath, [create, ...args], { cwd: folder, env })
  assert.equal(made.code, 0, made.stderr)
  return made
}

function run (file, args, options) {
  return new Promise(resolve => {
    const child = execFile(file, args, { maxBuffer: 1e8, ...options }, (err, stdout, stderr) => {
      resolve({ code: err ? err.code : 0, stdout, stderr })
    })
    child.stdin.end()
  })
}

function list (name, from = folder) {
  const at = path.join(from, name)
  return fs.readdirSync(at, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.relative(at, path.join(entry.parentPath ?? entry.path, entry.name)))
    .sort()
}

function manifest (name) {
  return JSON.parse(fs.readFileSync(path.join(folder, name, 'package.json')))
}
