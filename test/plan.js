'use strict'

/*
 * Which test files run when. What a file's name says behind its first dots counts, and the folder that it is in:
 *
 *    x.test.js               in make test, and with others on the older versions of Node
 *    x.once.test.js          on the newest Node alone: what does not depend on the Node under test, or takes its own; and what
 *                            compares two programs on one Node, where another file states on each Node what they do
 *    x.slow.test.js          not in make quick, as what is once, long or measures
 *    x.long.test.js          in make test-all alone: what takes minutes, most of it in programs of others
 *    x.measure.test.js       behind the others, one file per core: what measures CPU or memory against a bound, and repeats
 *                            what others disturb; the others wait longer than they compute
 *    x.once.long.test.js     both, in this order
 *
 * test/plan.test.js checks names and lists.
 */

const { spawnSync } = require('node:child_process')
const { createHash } = require('node:crypto')
const { existsSync, readFileSync, readdirSync, statSync } = require('node:fs')
const { availableParallelism } = require('node:os')
const { dirname, join } = require('node:path')

const ROOT = join(__dirname, '..')

const CLASSES = ['once', 'slow', 'long', 'measure']

/** Folders, here and below, whose files are once, and so are those of test itself. */
const ONCE = ['agents', 'benchmarks', 'cluster', 'command', 'consumers', 'deploy', 'docs', 'e2e', 'mutants', 'types']

/** Started first, because a long file that starts last is waited for. */
const FIRST = [
  'test/cluster/reload.test.js', 'test/cluster/commands.long.test.js', 'test/command', 'test/deploy', 'test/e2e', 'test/types',
  'test/security/linear.once.long.measure.test.js', 'test/engines/http1/linear.measure.test.js',
  'test/engines/http1/siege.measure.test.js', 'test/engines/http1/readers.test.js', 'test/packages/packages.test.js',
  'test/security/decoders.test.js'
]

/**
 * Twice, the second time with bluebird, if it takes its class from helpers. An app uses its option Promise for what
 * callback(), close() and inject() return, and for currentContext: all other code sees native promises only, so other files
 * would repeat the first time.
 */
const BLUEBIRD = ['test/application', 'test/context']

/** Again in `make test-all`, with servers that other code creates (`KONE_FRONT=callback`): what makes them by helpers/kone.js. */
const CREATED_ELSEWHERE = ['test/compat/packages.test.js', 'test/engines/http1']

/** Of these, what creates its servers itself, too, or takes long to test code that does not know who created the server. */
const NOT_ELSEWHERE = [
  'chunks', 'contexts', 'created-elsewhere.long', 'file-buffers', 'framing', 'fuzz', 'harness', 'kept-memory', 'memory', 'readers',
  'sink'
].map(name => `test/engines/http1/${name}.test.js`)

/** While writing: lib and the set. */
const QUICK = ['test/application', 'test/compose', 'test/context', 'test/middleware', 'test/request', 'test/response']

const read = file => readFileSync(join(ROOT, file), 'utf8')

/**
 * What its name and its folder say of a file.
 *
 *    classesOf('test/cluster/commands.long.test.js') // ['once', 'long']
 */
function classesOf (file) {
  const named = file.split('.').slice(1, -2)
  const isOnce = /^test\/[^/]+$/.test(file) || ONCE.some(folder => file.startsWith(`test/${folder}/`))
  return CLASSES.filter(name => named.includes(name) || (name === 'once' && isOnce))
}

/** The files that are of none of these classes. */
function but (files, ...names) {
  return files.filter(file => !classesOf(file).some(name => names.includes(name)))
}

/**
 * The test files of files and folders.
 *
 * @param {string[]} paths
 * @return {string[]} from the root, sorted
 */
function filesOf (paths) {
  const files = paths.flatMap(path => {
    if (!statSync(join(ROOT, path)).isDirectory()) return path
    return readdirSync(join(ROOT, path), { recursive: true })
      .filter(name => name.endsWith('.test.js') && !name.includes('node_modules'))
      .map(name => join(path, name))
  })
  return [...new Set(files)].sort()
}

const quick = () => but(filesOf(QUICK), ...CLASSES)

const bluebird = () => filesOf(BLUEBIRD).filter(file => /helpers\/(?:context|engines|kone|rows)'/.test(read(file)))

function createdElsewhere () {
  const files = but(filesOf(CREATED_ELSEWHERE), 'measure').filter(file => !NOT_ELSEWHERE.includes(file))
  return files.filter(file => reached(file).has('test/helpers/kone.js'))
}

/** A file of test and all that it names, directly or not. */
function reached (file, found = new Set()) {
  if (found.has(file)) return found
  found.add(file)
  for (const [, name] of read(file).matchAll(/'([./\w-]+)'/g)) {
    const path = join(dirname(file), name.replace(/(?:\.js)?$/, '.js'))
    if (path.startsWith('test/') && existsSync(join(ROOT, path))) reached(path, found)
  }
  return found
}

/** The longest first. */
function inOrder (files) {
  const first = new Set(FIRST.flatMap(path => filesOf([path])).filter(file => files.includes(file)))
  return [...first, ...files.filter(file => !first.has(file))]
}

/**
 * A part of the files, the same for the same seed.
 *
 * @param {string[]} files
 * @param {string} seed 'whole' for all of them
 * @param {number} share of 1
 */
function sample (files, seed, share) {
  return files.filter(file => seed === 'whole' || createHash('sha256').update(`${seed} ${file}`).digest().readUInt32BE() < share * 2 ** 32)
}

/**
 * The files that the last commits changed, or nobody has committed yet; none in a clone without a past.
 *
 * @return {string[]} from the root
 */
function changed () {
  const { stdout } = spawnSync('git', ['diff', '--name-only', 'HEAD~20'], { cwd: ROOT, encoding: 'utf8' })
  return stdout?.split('\n').filter(Boolean) ?? []
}

/** A pass of test/run.js as one or two: what waits, then what measures, if there is much of it. */
function parts (pass) {
  const waiting = but(pass.files, 'measure')
  if (waiting.length === 0 || waiting.length === pass.files.length) return pass
  return [
    { ...pass, files: waiting },
    {
      ...pass,
      title: `${pass.title}, what measures`,
      files: pass.files.filter(file => !waiting.includes(file)),
      concurrency: String(availableParallelism())
    }
  ]
}

module.exports = {
  BLUEBIRD,
  CLASSES,
  CREATED_ELSEWHERE,
  FIRST,
  NOT_ELSEWHERE,
  ONCE,
  QUICK,
  bluebird,
  but,
  changed,
  classesOf,
  createdElsewhere,
  filesOf,
  inOrder,
  parts,
  quick,
  sample
}
