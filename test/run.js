'use strict'

/**
 * Runs the linter and every test: with native promises and again with bluebird; in CI also on the newest Node.
 *
 *    node test/run.js                     all of it
 *    node test/run.js test/context        files or folders, once
 */

const { spawnSync } = require('node:child_process')
const { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } = require('node:fs')
const { availableParallelism, homedir } = require('node:os')
const { join, relative } = require('node:path')
const { PACKAGES, which } = require('./helpers/programs')

const ROOT = join(__dirname, '..')
const NEWEST = '26'
// What does not depend on the kind of promise or on the Node under test runs once.
const ONCE = new RegExp('^test/(?:security/(?:regexp|linear)|e2e|agents|cluster|command|deploy|types|benchmarks|examples|create|docs|' +
  'fetch/runtimes|package|prose|published|readme|runners|runs-unchanged|site|workflows|release|compat/(?:install|real))\\b')
// What compares bytes, memory or time of the front, which has no promises, runs with native ones only.
const NATIVE = new RegExp('^test/http1/(?:fuzz|siege|output\\.model|sockets|earlier|encodings|fields|pieces|corpus|tls|timers|handles|linear|' +
  'slow-clients|(?:kept-|pipeline-)?memory)\\b')

process.chdir(ROOT)
const named = process.argv.slice(2)
const files = (named.length > 0 ? named : ['test']).flatMap(find).sort()

if (named.length === 0) {
  lint()
  installPrograms()
}

const runs = [{ title: 'native promises', files }]
if (named.length === 0) {
  const again = files.filter(file => !ONCE.test(file))
  runs.push({ title: 'bluebird', files: again.filter(file => !NATIVE.test(file)), env: { KONE_PROMISE: 'bluebird' } })
  if (process.env.CI === 'true' && process.platform === 'linux') {
    runs.unshift({ title: `Node ${NEWEST}, native promises`, files: again, node: newestNode() })
  }
}

for (const { title, files, env, node = process.execPath } of runs) {
  console.log(`\n# ${title}: ${files.length} files, ${version(node)}\n`)
  const { status, signal } = spawnSync(node, ['--test', '--test-reporter=spec', '--test-timeout=480000', concurrency(), ...files], {
    stdio: 'inherit',
    env: { ...process.env, ...env }
  })
  if (status !== 0) {
    console.error(`\n${title}: ${signal || `exit code ${status}`}`)
    process.exit(1)
  }
}

function find (path) {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true })
    .map(name => relative(ROOT, join(ROOT, path, name)))
    .filter(name => name.endsWith('.test.js') && !name.includes('node_modules'))
}

// Before the tests, so that their summary is what is read last.
function lint () {
  console.log('# eslint')
  const eslint = join(ROOT, 'node_modules', 'eslint', 'bin', 'eslint.js')
  const options = ['--cache', '--cache-location', join('node_modules', '.cache', 'eslint', '/')]
  const { status } = spawnSync(process.execPath, [eslint, ...options, '.'], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}

// Node leaves a core free, but these tests mostly wait.
function concurrency () {
  return `--test-concurrency=${process.env.KONE_TEST_CONCURRENCY || availableParallelism()}`
}

function version (node) {
  return spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()
}

// As root with apt-get (containers, CI); elsewhere the tests say what they miss.
function installPrograms () {
  const missing = Object.keys(PACKAGES).filter(program => !which(program)).map(program => PACKAGES[program])
  if (missing.length === 0 || process.getuid?.() !== 0 || !which('apt-get')) return
  console.log(`# installing ${missing.join(' ')}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('apt-get', ['update', '-qq'], { stdio: 'inherit', env })
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env
  })
}

// A real binary of another version, kept outside the checkout.
function newestNode () {
  const folder = join(process.env.KONE_CACHE || join(homedir(), '.cache', 'kone'), `node-${NEWEST}`)
  const name = `node-linux-${process.arch}`
  const node = join(folder, 'node_modules', name, 'bin', 'node')
  if (!existsSync(node)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    const npm = spawnSync('npm', ['install', '--no-audit', '--no-fund', `${name}@${NEWEST}`], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit']
    })
    if (npm.status !== 0) throw new Error(`npm install ${name}@${NEWEST} failed`)
  }
  return node
}
