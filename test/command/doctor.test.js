'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const facts = require('../../command/doctor.json')
const lock = require('../../package-lock.json')
const { ROOT, project, scratch } = require('./project')

/** A project of packages that the checkout has: their real sources, and entries of its lock. */
function app (packages, { manifest = {}, locked = true, installed = true } = {}) {
  const made = project(fs.mkdtempSync(path.join(folder, 'app-')))
  const dependencies = Object.fromEntries(packages.map(name => [name, `^${lock.packages[`node_modules/${name}`].version}`]))
  made.write('package.json', JSON.stringify({ dependencies, ...manifest }))
  const entries = packages.map(name => [`node_modules/${name}`, lock.packages[`node_modules/${name}`]])
  if (locked) made.write('package-lock.json', JSON.stringify({ packages: Object.fromEntries(entries) }))
  for (const name of installed ? packages : []) {
    const target = path.join(made.folder, 'node_modules', name)
    fs.mkdirSync(path.dirname(target), { recursive: true })
    fs.symlinkSync(path.join(ROOT, 'node_modules', name), target, 'junction')
  }
  return made
}

const folder = scratch()
const ALL = ['koa', 'koa-bodyparser', 'koa-static', '@koa/multer', '@koa/router', 'koa-log4', 'redis']
const named = list => list.map(({ name }) => name)
const versionOf = name => lock.packages[`node_modules/${name}`].version

async function examined (made) {
  const { code, out, err } = await made.kone('doctor', '--json')
  assert.deepEqual([code, err], [0, []])
  return JSON.parse(out.join('\n'))
}

/** What is printed where the results have other figures. */
function printed ({ folder }, figures) {
  const [json, doctor] = ['command/doctor.json', 'command/doctor'].map(name => JSON.stringify(path.join(ROOT, name)))
  const script = `Object.assign(require(${json}), ${JSON.stringify(figures)}); require(${doctor})(undefined, {})`
  return execFileSync(process.execPath, ['-e', script], { cwd: folder, encoding: 'utf8' }).split('\n')
}

describe('kone doctor', () => {
  it('should tell what is tested, what is not, what reads req, and what the set replaces', async () => {
    const found = await examined(app(ALL))
    assert.equal(found.koa, versionOf('koa'))
    assert.deepEqual(named(found.tested), ['koa-bodyparser', 'koa-static', '@koa/multer', '@koa/router'])
    for (const { name, version, tested } of found.tested) assert.deepEqual([version, tested], [versionOf(name), versionOf(name)])
    assert.deepEqual(named(found.untested), ['koa-log4'])
    assert.deepEqual(named(found.replaceable), ['koa-bodyparser', 'koa-static', '@koa/multer', '@koa/router', 'koa-log4'])
    assert.deepEqual(found.replaceable[1].gain, facts.set['koa-static'].gain)
    assert(named(found.reads).includes('@koa/multer'))
    assert(!named(found.reads).includes('@koa/router'))
    const [file, row] = found.reads.find(({ name }) => name === '@koa/multer').reads.split(':')
    assert.match(fs.readFileSync(path.join(ROOT, 'node_modules/@koa/multer', file), 'utf8').split('\n')[row - 1], /\breq\b/)
    assert.deepEqual([found.fallsBack, found.notInstalled, found.otherVersion], [[], [], []])
  })

  it('should leave out what runs nothing: types', async () => {
    const found = await examined(app(['koa', '@types/koa', '@types/koa-compose', 'koa-log4']))
    assert.deepEqual([named(found.untested), found.notInstalled], [['koa-log4'], []])
  })

  it('should print it for people, with what the figures are of', async () => {
    const { code, out } = await app(ALL).kone('doctor')
    assert.equal(code, 0)
    assert(out[0].startsWith(`koa ${versionOf('koa')}. In its place: npm install koa@npm:kone`), out[0])
    for (const text of facts.measured) assert(out.some(line => line.startsWith('Figures are ') && line.includes(text)), text)
    assert.match(out.at(-1), /: npx kone try <file>, or npx kone try -- npm start \(kone\/docs\/api\/try\.md\)$/)
  })

  it('should have the figure of an app of this framework, or of an API, and of the set beside its packages', () => {
    const gain = (ratio, app) => ({ app, ratio, min: ratio - 0.1, max: ratio + 0.1 })
    const packages = { egg: [{ version: '3.34.0', gain: gain(0.8, 'Egg 3') }], '@midwayjs/koa': [{ version: '3.20.24' }] }
    const measured = { api: gain(0.6, 'API'), packages, frameworks: Object.keys(packages), set: { 'koa-static': { middleware: 'static', gain: gain(0.5) } } }
    const isNearest = line => line.startsWith('The measured app that is nearest')
    for (const [dependencies, facts, set, nearest] of [
      [{}, measured, 'koa/middleware/static: 0.50 (0.40–0.60)', ': API, 0.60 (0.50–0.70).'],
      [{ egg: '^3.0.0', kone: '2' }, measured, 'kone/middleware/static: 0.50 (0.40–0.60)', ': Egg 3, 0.80 (0.70–0.90).'],
      [{ '@midwayjs/koa': '^3.0.0' }, measured, 'koa/middleware/static: 0.50 (0.40–0.60)', undefined],
      [{}, { ...measured, api: null, set: { 'koa-static': { middleware: 'static' } } }, 'koa/middleware/static', undefined]
    ]) {
      const made = app([], { manifest: { dependencies: { koa: '2', 'koa-static': '^5.0.0', ...dependencies } }, locked: false })
      const out = printed(made, facts)
      assert(out.some(line => line.includes('koa-static') && line.endsWith(set)), out.join('\n'))
      assert.equal(out.some(line => line.startsWith('Those of the set are ')), set.includes(':'))
      assert.equal(out.find(isNearest)?.replace(/^.* alone(?=:)/, ''), nearest)
    }
  })

  it('should see kone in the place of koa', async () => {
    const made = app([], { manifest: { dependencies: { koa: 'npm:kone@^2.17.0' } }, locked: false })
    fs.symlinkSync(ROOT, path.join(made.folder, 'node_modules/koa'), 'junction')
    const { out } = await made.kone('doctor')
    assert.equal(out[0], `kone ${require('kone/package.json').version} stands in Koa's place.`)
    made.write('set.js', "console.log(typeof require('koa/middleware/static'))")
    assert.equal(execFileSync(process.execPath, ['set.js'], { cwd: made.folder, encoding: 'utf8' }), 'function\n')
  })

  it('should read the lock without node_modules, and node_modules without a lock', async () => {
    const locked = await examined(app(ALL, { installed: false }))
    assert.equal(locked.tested[0].version, versionOf('koa-bodyparser'))
    assert.deepEqual([named(locked.notInstalled), locked.reads], [named([...locked.tested, ...locked.untested]), []])
    const installed = await examined(app(ALL, { locked: false }))
    assert.deepEqual(named(installed.tested), named(locked.tested))
    const neither = await examined(app(ALL, { locked: false, installed: false }))
    assert.equal(neither.tested[0].version, `^${versionOf('koa-bodyparser')}`)
  })

  it('should find what a workspace has above this folder', async () => {
    for (const [where, left] of [['the lock', 'node_modules'], ['node_modules', 'package-lock.json'], ['both', '']]) {
      const root = app(ALL)
      const made = project(path.join(root.folder, 'packages/api'))
      fs.renameSync(path.join(root.folder, 'package.json'), path.join(made.folder, 'package.json'))
      const lock = JSON.parse(fs.readFileSync(path.join(root.folder, 'package-lock.json')))
      root.write('package-lock.json', JSON.stringify({ packages: { ...lock.packages, 'packages/api': {} } }))
      if (left) fs.rmSync(path.join(root.folder, left), { recursive: true })
      assert.deepEqual(await examined(made), await examined(app(ALL, { locked: where !== 'node_modules', installed: where !== 'the lock' })), where)
    }
  })

  it('should not take the lock of another project above it for its own', async () => {
    const root = app(ALL, { installed: false })
    const made = project(path.join(root.folder, 'api'))
    made.write('package.json', JSON.stringify({ dependencies: { koa: '^1.0.0' } }))
    assert.equal((await examined(made)).koa, '^1.0.0')
  })

  it('should tell other major versions from those that are tested, and Koa 3 from Koa 2', async () => {
    const made = app([], { manifest: { dependencies: { koa: '^3.0.0', 'koa-static': '^1.0.0' } } })
    assert.deepEqual(named((await examined(made)).otherVersion), ['koa-static'])
    assert.match((await made.kone('doctor')).out[1], /kone@3/)
    const [manifest, doctor] = ['package.json', 'command/doctor'].map(name => JSON.stringify(path.join(ROOT, name)))
    const script = `require(${manifest}).version = '3.0.0'; require(${doctor})(undefined, {})`
    const lines = execFileSync(process.execPath, ['-e', script], { cwd: app(['koa']).folder, encoding: 'utf8' }).trimEnd().split('\n')
    assert.equal(lines[1], "kone@2 has Koa 2's API (kone/MIGRATION.md).")
    assert.doesNotMatch(lines.at(-1), /kone try/)
  })

  it('should find the koa of other packages', async () => {
    const made = app([], { manifest: { dependencies: { egg: '^3.0.0' } }, locked: false })
    made.write('package-lock.json', JSON.stringify({ packages: { 'node_modules/egg/node_modules/koa': { version: '2.16.4' }, 'node_modules/egg': { version: '3.34.0' } } }))
    const { koa, isDirect, tested } = await examined(made)
    assert.deepEqual([koa, isDirect, named(tested)], ['2.16.4', false, ['egg']])
  })

  it('should not take a package with koa in its name for koa', async () => {
    const entries = {
      'node_modules/@feathersjs/koa': { version: '5.0.50', dependencies: { koa: '^2.16.1' } },
      'node_modules/@types/koa': { version: '3.0.0' },
      'node_modules/a/node_modules/koa': { version: '1.7.1' },
      'node_modules/koa': { version: '2.16.4' }
    }
    const made = app([], { manifest: { dependencies: { '@feathersjs/koa': '^5.0.0' } }, locked: false })
    made.write('package-lock.json', JSON.stringify({ packages: entries }))
    const { koa, isDirect, tested } = await examined(made)
    assert.deepEqual([koa, isDirect, named(tested)], ['2.16.4', false, ['@feathersjs/koa']])
  })

  it('should find the koa of other packages in a lock of npm 6, and without a lock of npm', async () => {
    const manifest = { dependencies: { egg: '^3.0.0' } }
    const old = app([], { manifest, locked: false })
    old.write('package-lock.json', JSON.stringify({ dependencies: { egg: { version: '3.34.0', requires: { koa: '^2.7.0' } }, koa: { version: '2.16.4' } } }))
    const packages = (made, modules) => {
      for (const [name, version] of [['egg', '3.34.0'], ['koa', '2.16.4']]) {
        fs.mkdirSync(path.join(made.folder, modules, name), { recursive: true })
        made.write(path.join(modules, name, 'package.json'), JSON.stringify({ name, version, dependencies: { koa: '^2.7.0' } }))
      }
      return made
    }
    const yarn = packages(app([], { manifest, locked: false }), 'node_modules')
    const pnpm = packages(app([], { manifest, locked: false }), 'node_modules/.pnpm/egg@3.34.0/node_modules')
    fs.symlinkSync(path.join(pnpm.folder, 'node_modules/.pnpm/egg@3.34.0/node_modules/egg'), path.join(pnpm.folder, 'node_modules/egg'), 'junction')
    for (const made of [old, yarn, pnpm]) {
      const { koa, isDirect, tested } = await examined(made)
      assert.deepEqual([koa, isDirect, named(tested)], ['2.16.4', false, ['egg']])
    }
  })

  it('should know the package of an alias, also kone, by the lock or the range', async () => {
    const dependencies = { koa: 'npm:kone@^2.17.0', files: 'npm:koa-static@^5.0.0' }
    const entries = { 'node_modules/koa': { name: 'kone', version: '2.17.0' }, 'node_modules/files': { name: 'koa-static', version: '5.0.0' } }
    const old = { dependencies: { koa: { version: 'npm:kone@2.17.0' }, files: { version: 'npm:koa-static@5.0.0' } } } // npm 6
    for (const [lock, ...versions] of [[{ packages: entries }, '2.17.0', '5.0.0'], [old, '2.17.0', '5.0.0'], [{}, '^2.17.0', '^5.0.0']]) {
      const made = app([], { manifest: { dependencies }, locked: false })
      made.write('package-lock.json', JSON.stringify(lock))
      const { koa, isKone, tested, replaceable } = await examined(made)
      assert.deepEqual([koa, isKone, tested[0].name, tested[0].version, replaceable[0].middleware], [versions[0], true, 'files', versions[1], 'static'])
    }
  })

  it('should list packages of the name koa2, of a bundled app, and of the workspace', async () => {
    const made = app([], { manifest: { devDependencies: { koa: '^2.0.0', 'koa2-cors': '^2.0.6', '@me/shared': '*' } }, locked: false })
    made.write('package-lock.json', JSON.stringify({
      packages: { 'node_modules/@me/shared': { resolved: 'shared', link: true }, shared: { version: '1.0.0', dependencies: { koa: '^2.0.0' } } }
    }))
    const { koa, isDirect, untested } = await examined(made)
    assert.deepEqual([koa, isDirect, named(untested)], ['^2.0.0', true, ['koa2-cors', '@me/shared']])
  })

  it('should read files that begin with a byte order mark', async () => {
    const made = app([], { locked: false })
    made.write('package.json', '\uFEFF{"dependencies":{"koa":"^2.0.0"}}')
    assert.equal((await examined(made)).koa, '^2.0.0')
  })

  it('should take any name for a package', async () => {
    const names = { koa: '2', constructor: '1', __proto__x: '1', 'koa-constructor': '1' }
    const found = await examined(app([], { manifest: { dependencies: names }, locked: false }))
    assert.deepEqual([named(found.untested), found.replaceable, found.tested], [['koa-constructor'], [], []])
  })

  it('should write nothing', async () => {
    const made = app(ALL)
    const files = () => fs.readdirSync(made.folder)
    const before = files()
    await made.kone('doctor')
    assert.deepEqual(files(), before)
  })

  describe('refuses in one line', () => {
    for (const [title, files, expected] of [
      ['no package.json', {}, /there is no package\.json in/],
      ['a package.json that is broken', { 'package.json': '{' }, /cannot read .*package\.json: /],
      ['one that is no object', { 'package.json': '1' }, /cannot read .*package\.json: it holds no object/],
      ['a lock that is broken', { 'package.json': '{"dependencies":{"koa":"2"}}', 'package-lock.json': '{' }, /cannot read .*package-lock\.json: /],
      ['types of koa alone', {
        'package.json': '{"dependencies":{"express":"5"}}',
        'package-lock.json': '{"packages":{"node_modules/@types/koa":{"version":"2.15.0"}}}'
      }, /neither package\.json nor a package-lock\.json in .* has koa/],
      ['a workspace whose folders have the apps', {
        'package.json': '{"workspaces":["packages/*"]}',
        'package-lock.json': '{"packages":{"":{},"node_modules/koa":{"version":"2.16.4"},"packages/api":{"dependencies":{"koa":"2"}}}}'
      }, /koa is a dependency of packages\/api: start it there/],
      ['no koa', { 'package.json': '{"dependencies":{"express":"5"}}' }, /neither package\.json nor a package-lock\.json in .* has koa/]
    ]) {
      it(title, async () => {
        const made = project(fs.mkdtempSync(path.join(folder, 'bad-')))
        for (const [name, text] of Object.entries(files)) made.write(name, text)
        const { code, out, err } = await made.kone('doctor')
        assert.deepEqual([code, out, err.length], [1, [], 1])
        assert.match(err[0], expected)
        assert.match(err[0], /\(kone\/docs\/api\/command\.md\)$/)
      })
    }
  })

  it('should keep compiled code below node_modules, where this Node can', async () => {
    const made = app(ALL)
    await made.kone('doctor')
    const isKept = fs.existsSync(path.join(made.folder, 'node_modules/.cache/kone'))
    assert.equal(isKept, require('node:module').enableCompileCache !== undefined)
  })
})
