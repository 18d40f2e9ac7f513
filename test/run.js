'use strict'

/**
 * Installs what is missing or older than its lock, runs the linter and the tests, and prints how long each part took.
 * `make test` installs the checkout's packages alone: what needs more runs in `make test-all`.
 *
 *    node test/run.js                     make test: on the Node at hand, with bluebird what bluebird can change
 *    node test/run.js --all               make test-all: with all that takes minutes; much of it on the newest Node too, the
 *                                         quick tests on Node 22, those in servers that other code creates on Node 24
 *    node test/run.js --quick             make quick: lib and the set, no linter
 *    node test/run.js test/context        files or folders
 */

const { execFile, spawnSync } = require('node:child_process')
const { chmodSync, existsSync, mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { promisify } = require('node:util')
const commandLine = require('../tools/command-line')
const { installAll } = require('./helpers/area')
const nodeOf = require('./helpers/node-of')
const { PACKAGES, which } = require('./helpers/programs')
const plan = require('./plan')

const ROOT = join(__dirname, '..')
const NEWEST = '26'

process.chdir(ROOT)
const { values: { all, quick }, positionals } =
  commandLine('test', { all: { type: 'boolean' }, quick: { type: 'boolean' } }, 'CONTRIBUTING.md', existsSync)
main()

async function main () {
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
  const here = `Node ${process.versions.node}`
  if (positionals.length > 0) return [{ title: here, files: plan.filesOf(positionals) }]
  const quickFiles = plan.without(plan.filesOf(plan.QUICK), plan.NOT_QUICK)
  if (quick) return [{ title: here, files: quickFiles }]
  const every = plan.filesOf(['test'])
  const files = all ? every : plan.without(every, plan.LONG)
  const native = { title: here, files: plan.inOrder(files) }
  const bluebird = {
    title: `${here} with bluebird`,
    files: plan.without(plan.filesOf(plan.BLUEBIRD), plan.NOT_BLUEBIRD),
    env: { KONE_PROMISE: 'bluebird' }
  }
  if (!all) return [native, bluebird]
  // What can be tried at random is tried once, on the Node at hand.
  native.env = { KONE_TESTS: process.env.KONE_TESTS || 'all' }
  const elsewhere = (title, node) => ({
    title: `${title} in servers that other code creates`,
    files: plan.without(plan.filesOf(plan.CREATED_ELSEWHERE), plan.NOT_ELSEWHERE),
    env: { KONE_FRONT: 'callback' },
    node
  })
  if (process.platform !== 'linux' || process.versions.node.startsWith(`${NEWEST}.`)) return [native, bluebird, elsewhere(here)]
  return [
    { title: `Node ${NEWEST}`, files: plan.inOrder(plan.without(every, plan.ANY_NODE)), node: nodeOf(NEWEST) },
    native,
    bluebird,
    { title: 'Node 22', files: quickFiles, node: nodeOf('22') },
    elsewhere('Node 24', nodeOf('24'))
  ]
}

// A folder for the temporary files of the tests, removed when all have passed. nginx reads it as another user.
function temporary () {
  const folder = mkdtempSync(join(tmpdir(), 'kone-tests-'))
  chmodSync(folder, 0o1777)
  return folder
}

function run ({ title, files, env, concurrency = '', node = process.execPath }) {
  console.log(`\n# ${title}: ${files.length} files\n`)
  const { status, signal } = spawnSync(node, [join(__dirname, 'pass.js'), ...files], {
    stdio: 'inherit',
    env: { KONE_TEST_CONCURRENCY: concurrency, ...process.env, ...env }
  })
  if (status !== 0) {
    console.error(`\n${title}: ${signal || `exit code ${status}`}`)
    process.exit(1)
  }
}

// Before the tests, so that their summary is what is read last; beside each other, because each has one thread.
async function lint () {
  const linters = [
    ['eslint', 'eslint/bin/eslint.js', '--cache', '--cache-location', join('node_modules', '.cache', 'eslint', '/'), '.'],
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
  const missing = Object.keys(PACKAGES).filter(program => !which(program)).map(program => PACKAGES[program])
  if (missing.length === 0 || process.getuid?.() !== 0 || !which('apt-get')) return
  console.log(`# installing ${missing.join(' ')}`)
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  const apt = args => promisify(execFile)('apt-get', args, options).catch(err => console.error(err.stderr))
  await apt(['update', '-qq'])
  await apt(['install', '-y', '-qq', '--no-install-recommends', ...missing])
}
