'use strict'

/**
 * Installs what is missing or older than its lock, runs the linter and the tests, and prints how long each part took.
 * `make test` installs the checkout's packages alone: what needs more runs in `make test-all`. Both run on the newest
 * Node, which npm has; where it cannot be installed, on the Node at hand, which fails in CI on Linux.
 *
 *    node test/run.js                     make test: with bluebird half of what bluebird can change, and a part of the files on
 *                                         the Node at hand if that is another one
 *    node test/run.js --all               make test-all: with all that takes minutes; a quarter of what depends on Node on the
 *                                         oldest one too, an eighth of the quick tests on Node 22, half of those in servers
 *                                         that other code creates on Node 24
 *    KONE_SEED=whole node test/run.js --all   these parts whole, and of each file: fifteen minutes more
 *    node test/run.js --here              make test on the Node at hand alone
 *    node test/run.js --all --list        prints what would run
 *    node test/run.js --quick             make quick: lib and the set, on the Node at hand, no linter
 *    node test/run.js test/context        files or folders, on the Node at hand
 */

const { execFile, execFileSync, spawnSync } = require('node:child_process')
const { chmodSync, existsSync, mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { delimiter, dirname, join } = require('node:path')
const { promisify } = require('node:util')
const commandLine = require('../tools/command-line')
const { installAll } = require('./helpers/area')
const nodeOf = require('./helpers/node-of')
const programs = require('./helpers/programs')
const plan = require('./plan')

const ROOT = join(__dirname, '..')
const OLDEST = '20'
const NEWEST = process.env.KONE_NEWEST || '26' // another for test/plan.test.js
const AT_HAND = process.versions.node
const [SOME, EIGHTH, QUARTER, THIRD, HALF] = [1 / 25, 1 / 8, 1 / 4, 1 / 3, 1 / 2]

process.chdir(ROOT)
const seed = process.env.KONE_SEED || headCommit()
const FLAGS = { all: { type: 'boolean' }, here: { type: 'boolean' }, list: { type: 'boolean' }, quick: { type: 'boolean' } }
const { values: { all, here, list, quick }, positionals } = commandLine('test', FLAGS, 'CONTRIBUTING.md', existsSync)
main()

async function main () {
  if (list) return passes().flatMap(plan.parts).forEach(announce)
  const isWhole = !quick && positionals.length === 0
  if (isWhole) await timed('installed', () => Promise.all([installAll(all ? ['..', '../benchmarks', 'packages'] : ['..']), installPrograms()]))
  await timed('tested', async () => {
    if (isWhole) await lint()
    const folder = process.env.TMPDIR = temporary()
    for (const pass of passes().flatMap(plan.parts)) run(pass)
    rmSync(folder, { recursive: true, force: true })
  })
}

async function timed (done, work) {
  const began = performance.now()
  process.once('exit', print)
  await work()
  process.off('exit', print)
  print()

  function print () {
    console.log(`# ${done} in ${Math.round((performance.now() - began) / 1000)} s`)
  }
}

function passes () {
  const atHand = { title: `Node ${AT_HAND}`, node: process.execPath }
  if (positionals.length > 0) return [{ ...atHand, files: plan.filesOf(positionals) }]
  if (quick) return [{ ...atHand, files: plan.quick() }]
  const every = plan.filesOf(['test'])
  const newest = here || parseInt(AT_HAND) >= NEWEST ? atHand : on(NEWEST) ?? atHand
  const whole = {
    ...newest,
    files: plan.inOrder(all ? every : plan.but(every, 'long')),
    env: { KONE_SEED: seed, ...all && { KONE_TESTS: process.env.KONE_TESTS || 'all' } } // what can be tried at random is tried once
  }
  const bluebird = { ...newest, title: `${newest.title} with bluebird`, files: plan.sample(plan.bluebird(), seed, HALF), env: { KONE_PROMISE: 'bluebird' } }
  const part = (at, files, share, env) => at && {
    ...at,
    title: `${at.title}, a part of the files`,
    files: plan.inOrder(plan.sample(plan.but(files, 'once'), seed, share)),
    env: { KONE_SEED: seed, ...env }
  }
  if (!all) {
    if (newest === atHand) return [whole, bluebird]
    return [whole, bluebird, part(atHand, plan.but(every, 'long', 'measure'), SOME)]
  }
  return [
    whole,
    bluebird,
    part(on(OLDEST), every, QUARTER),
    part(on('22'), plan.quick(), EIGHTH),
    part(on('24'), plan.createdElsewhere(), HALF, { KONE_FRONT: 'callback' })
  ].filter(pass => pass !== undefined)
}

/** A major version of Node, at hand or from npm: `{ title, node }`. Where npm has none, a line says so; CI fails on Linux. */
function on (major) {
  if (AT_HAND.startsWith(`${major}.`)) return { title: `Node ${AT_HAND}`, node: process.execPath }
  try {
    const node = nodeOf(major)
    return { title: `Node ${execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim()}`, node }
  } catch (err) {
    if (process.env.CI === 'true' && process.platform === 'linux') throw err
    console.log(`\n# Node ${major} cannot be installed, so that its tests run on Node ${AT_HAND} or not at all: ${err.message.split('\n')[0]}`)
  }
}

function headCommit () {
  const { stdout } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' })
  return stdout?.trim() || '0' // not a repository
}

// A folder for the temporary files of the tests, removed when all have passed. nginx reads it as another user.
function temporary () {
  const folder = mkdtempSync(join(tmpdir(), 'kone-tests-'))
  chmodSync(folder, 0o1777)
  return folder
}

function announce ({ title, files, env = {} }) {
  const settings = ['KONE_TESTS', 'KONE_SEED'].filter(name => env[name]).map(name => `, ${name}=${env[name]}`)
  console.log(`\n# ${title}: ${files.length} files${settings.join('')}\n`)
}

function run (pass) {
  const { title, files, env, concurrency = '', node } = pass
  announce(pass)
  // What a test starts by name is that Node, too.
  const PATH = node === process.execPath ? process.env.PATH : dirname(node) + delimiter + process.env.PATH
  const { status, signal } = spawnSync(node, [join(__dirname, 'pass.js'), ...files], {
    stdio: 'inherit',
    env: { KONE_TEST_CONCURRENCY: concurrency, ...process.env, PATH, ...env }
  })
  if (status !== 0) {
    console.error(`\n${title}: ${signal || `exit code ${status}`}`)
    process.exit(1)
  }
}

/** What eslint reads: all if its rules may be others, otherwise what has changed and a third; `make lint` reads all. */
function sources () {
  const git = (...args) => spawnSync('git', args, { encoding: 'utf8' }).stdout?.split('\n').filter(Boolean) ?? []
  const added = git('ls-files', '--others', '--exclude-standard')
  const changed = new Set([...plan.changed(), ...added])
  if (changed.size === added.length || [...changed].some(file => /^(?:eslint\.config|package-lock|tools\/eslint\/)/.test(file))) return ['.']
  const files = [...git('ls-files'), ...added].filter(file => /\.(?:[cm]?js|m?ts|md)$/.test(file) && existsSync(file))
  const third = new Set(plan.sample(files, seed, THIRD))
  return files.filter(file => changed.has(file) || third.has(file))
}

// Before the tests, so that their summary is what is read last; beside each other, because each has one thread.
async function lint () {
  const linters = [
    ['eslint', 'eslint/bin/eslint.js', '--no-warn-ignored', '--cache', '--cache-location', join('node_modules', '.cache', 'eslint', '/'), ...sources()],
    ['tsc', 'typescript/bin/tsc', '-p', join('tools', 'types')],
    ['knip', 'knip/bin/knip.js', '--no-progress']
  ]
  const ended = await Promise.all(linters.map(async ([title, program, ...options]) => {
    const found = await promisify(execFile)(process.execPath, [join(ROOT, 'node_modules', program), ...options]).catch(err => err)
    console.log(`# ${title}\n${found.stdout}${found.stderr}`.trimEnd())
    return found
  }))
  if (ended.some(found => found instanceof Error)) process.exit(1)
}

// As root with apt-get (containers, CI); elsewhere the tests say what they miss.
async function installPrograms () {
  const { LONG, PACKAGES, which } = programs
  const needed = Object.keys(PACKAGES).filter(program => all || !LONG.includes(program))
  const missing = needed.filter(program => !which(program)).map(program => PACKAGES[program])
  if (missing.length === 0 || process.getuid?.() !== 0 || !which('apt-get')) return
  console.log(`# installing ${missing.join(' ')}`)
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  const apt = args => promisify(execFile)('apt-get', args, options).catch(err => console.error(err.stderr))
  await apt(['update', '-qq'])
  await apt(['install', '-y', '-qq', '--no-install-recommends', ...missing])
}
