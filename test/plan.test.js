'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { existsSync, readFileSync, readdirSync } = require('node:fs')
const { basename, join, relative } = require('node:path')
const { describe, it } = require('node:test')
const folder = require('./helpers/folder')
const { CLASSES, ONCE, but, classesOf, filesOf, inOrder, parts, sample, ...plan } = require('./plan')

const ROOT = join(__dirname, '..')
const read = file => readFileSync(join(ROOT, file), 'utf8')

/** Files below a folder, without packages and the past. */
const filesBelow = folder => readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap(entry => {
  const path = join(folder, entry.name)
  if (/^(?:\.git|node_modules|results|CHANGELOG.md)$/.test(entry.name)) return []
  return entry.isDirectory() ? filesBelow(path) : path
})

/** The modules of lib that read the option: whoever adds one adds its tests to BLUEBIRD. */
const SEE_PROMISE = ['lib/application.js', 'lib/bluebird.js', 'lib/engines/host.js']

describe('the plan of the tests', () => {
  it('should name what exists', () => {
    const lists = [plan.FIRST, plan.BLUEBIRD, plan.CREATED_ELSEWHERE, plan.NOT_ELSEWHERE, plan.QUICK, ONCE.map(name => `test/${name}`)]
    assert.deepEqual(lists.flat().filter(path => !existsSync(join(ROOT, path))), [])
  })

  it('should have the classes of a file in its name, in their order, and not what its folder says', () => {
    const files = filesOf(['test'])
    for (const file of files) {
      const named = basename(file).split('.').slice(1, -2)
      const classes = classesOf(file)
      const isOnceByFolder = classes.includes('once') && !named.includes('once')
      const written = isOnceByFolder ? classes.slice(1) : classes
      assert.deepEqual(named.slice(named.length - written.length), written, file)
      if (classesOf(file.replace('.once.', '.')).includes('once')) assert(!named.includes('once'), file)
      assert(!(classes.includes('slow') && classes.length > 1), file)
    }
    for (const name of CLASSES) assert(files.some(file => classesOf(file).includes(name)), name)
  })

  it('should have the files that pages name', () => { // those of comments: lint.test.js
    const tests = filesOf(['test']).map(file => `/${file}`)
    const gone = filesBelow('.').filter(file => file.endsWith('.md')).flatMap(file => {
      const named = [...read(file).matchAll(/[\w./-]+\.test\.js\b/g)].map(([name]) => name.replace(/^(?:\.\.?\/)+/, ''))
      // of any class, and of the projects of others
      return named.filter(name => !/^(?:x(?:\.\w+)*|app)\.test\.js$/.test(name) && !tests.some(test => test.endsWith(`/${name}`)))
        .map(name => `${file}: ${name}`)
    })
    assert.deepEqual(gone, [])
  })

  it('should have every file once, the longest first', () => {
    const files = filesOf(['test'])
    assert.deepEqual(inOrder(files).sort(), files)
    assert.equal(inOrder(files)[0], plan.FIRST[0])
    assert.deepEqual(but(files, 'once').filter(file => file.startsWith('test/cluster/')), [])
  })

  it('should know the modules in which the option Promise is read, whose tests run with bluebird, too', () => {
    const modules = ['lib', 'middleware', 'cluster', 'command'].flatMap(folder => readdirSync(join(ROOT, folder), { recursive: true })
      .filter(name => name.endsWith('.js')).map(name => join(folder, name)))
    // app.Promise, options.Promise, { Promise, … }
    const seeing = modules.filter(file => /\.Promise\b|\{[^}\n]*\bPromise\b[,: }]/.test(read(file).replace(/^ *(?:\*|\/\/).*$/gm, '')))
    assert.deepEqual(seeing.sort(), SEE_PROMISE)
  })

  it('should run each file of a pass once, what measures behind the others', () => {
    const files = filesOf(['test'])
    const [waiting, measuring] = parts({ title: 'all', files, env: { A: '1' } })
    assert.deepEqual([...waiting.files, ...measuring.files].sort(), files)
    assert.deepEqual(but(waiting.files, 'measure'), waiting.files)
    assert.deepEqual(but(measuring.files, 'measure'), [])
    assert.deepEqual(measuring.env, waiting.env)
    for (const files of [measuring.files, ['test/plan.test.js']]) assert.deepEqual(parts({ files }), { files })
  })

  it('should sample a share of the files by a seed, and miss none over many seeds', () => {
    const files = filesOf(['test'])
    for (const share of [1 / 10, 1 / 3]) {
      const samples = Array.from('abcdefghijklmnopqrstuvwxyz', seed => sample(files, seed, share))
      assert.deepEqual(sample(files, 'a', share), samples[0])
      assert.notDeepEqual(samples[0], samples[1])
      for (const { length } of samples) assert(length > files.length * share / 2 && length < files.length * share * 2, `${length} of ${files.length}`)
      if (share > 1 / 4) assert.deepEqual([...new Set(samples.flat())].sort(), files)
    }
  })
})

describe('a run of the tests', () => {
  const NODE = /^# Node (\d+)\.[^:]*: (\d+) files(?:, KONE_\w+=\w+)*$/gm
  const listed = (args, env) => spawnSync(process.execPath, [join(__dirname, 'run.js'), '--list', ...args], {
    encoding: 'utf8', env: { ...process.env, KONE_TESTS: undefined, ...env }
  })

  it('should be on the Node at hand where that is asked for, and for files', () => {
    for (const args of [['--here'], ['--quick'], ['test/plan.test.js']]) {
      const { stdout } = listed(args, { PATH: '' })
      for (const [, major] of stdout.matchAll(NODE)) assert.equal(major, process.versions.node.split('.')[0], args.join())
    }
  })

  it('should be whole on Node 20 and 22 too where that is asked for', () => {
    const [part, whole] = ['a', 'whole'].map(KONE_SEED => listed(['--all'], { KONE_SEED }).stdout)
    for (const major of ['20', '22']) {
      const count = lines => [...lines.matchAll(NODE)].reduce((sum, [, at, files]) => sum + (at === major && Number(files)), 0)
      assert(count(whole) > 2 * count(part), major)
      assert(count(part) > 0, major)
    }
  })

  it('should be on the Node at hand, with a line that says so, where npm cannot fetch the newest; an error in CI', () => {
    const env = { KONE_NEWEST: '99', PATH: '', KONE_CACHE: folder(), CI: undefined }
    const { status, stdout } = listed([], env)
    assert.equal(status, 0)
    assert.match(stdout, /^# Node 99 cannot be installed, so that its tests run on Node /m)
    assert.equal([...stdout.matchAll(NODE)].length, 3)
    assert.equal(listed([], { ...env, CI: 'true' }).status, process.platform === 'linux' ? 1 : 0)
  })

  it('should leave nothing in the folder for temporary files, but for what a test left that failed', () => {
    const leaves = "const fs = require('node:fs'); fs.mkdtempSync(require('node:path').join(require('node:os').tmpdir(), 'left-'))\n"
    const files = folder({ 'passes.test.js': leaves, 'fails.test.js': `${leaves}throw new Error('it fails')` })
    for (const [name, code, count] of [['passes.test.js', 0, 0], ['fails.test.js', 1, 1]]) {
      const TMPDIR = folder()
      const args = [join(__dirname, 'run.js'), relative(ROOT, join(files, name))]
      const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, NODE_TEST_CONTEXT: undefined, TMPDIR } })
      assert.equal(status, code, stdout)
      assert.equal(readdirSync(TMPDIR).length, count)
    }
  })
})
