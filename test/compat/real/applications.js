'use strict'

/*
 * Real applications, unmodified, with koa and with kone in koa's place. `make compat` compares their responses, and the lab
 * dropin also measures them: the apps are in ./apps, and each is installed below KONE_CACHE (~/.cache/kone), once with koa,
 * and once with kone from the tarball of `npm pack`, as "koa" and by `overrides`, so that every package there gets it.
 */

const { execFileSync, spawnSync } = require('node:child_process')
const crypto = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { isDeepStrictEqual } = require('node:util')

const { CACHE } = require('../../../benchmarks/lib/servers/binaries')
const { root } = require('../../../benchmarks/lib/servers/kone')
const Client = require('./client')

const APPS = path.join(__dirname, 'apps')
const INSTALLED = path.join(CACHE, 'compat')
const START = 120_000 // ms: Strapi builds its tables
const KOA = { 2: '2.16.4', 3: '3.3.0' } // by major version

/**
 * All of them, by name.
 *
 * @return {object[]} `{ name, title, koa, group, packages, addons?, isFramework?, responses, load?, mask?, serve, behind?, ask }`
 *   koa: its major version; group: apps of one group share an install; packages: by name the version, the first is what the
 *   app is of; responses: how many `ask(client)` compares; load: the request that is measured, `{ line, status?, headers?,
 *   json?, form?, body? }`; serve(port?): starts it; behind(): starts the server whose port it gets. In place of serve and
 *   ask `suite`: the program of a package, and its arguments, that runs the first package's own tests
 */
exports.all = () => fs.readdirSync(APPS).filter(file => file.endsWith('.js'))
  .map(file => ({ name: path.parse(file).name, koa: 2, group: 'small', ...require(path.join(APPS, file)) }))

const folderOf = ({ group }, side) => path.join(INSTALLED, `${group}-${side}`)
const stampOf = folder => path.join(folder, 'installed.json')

/** Whether an app has been installed here, with any state of kone. */
exports.isInstalled = app => ['koa', 'kone'].every(side => fs.existsSync(stampOf(folderOf(app, side))))

/**
 * Install an app where what is there is not the same. The files of all apps stand beside its node_modules.
 *
 * @param {object} app as `all` gives it
 * @param {'koa' | 'kone'} side
 * @param {{ node: string }} how node: the binary that addons are compiled for
 * @return {string} the folder
 * @throws {Error} npm's reason
 */
exports.install = function (app, side, { node }) {
  const { group, koa, addons = [] } = app
  const folder = folderOf(app, side)
  const wanted = exports.all().filter(one => one.group === group).map(({ packages }) => packages)
  const manifest = JSON.stringify({
    name: 'app',
    private: true,
    dependencies: Object.assign({}, ...wanted, { koa: side === 'koa' ? KOA[koa] : `file:${tarballOf(koa)}` }),
    overrides: { koa: '$koa' }
  }, null, 2)
  const stamp = stampOf(folder)
  if (!fs.existsSync(stamp) || fs.readFileSync(stamp, 'utf8') !== manifest) {
    console.error(`install ${path.basename(folder)}`)
    fs.rmSync(stamp, { force: true })
    fs.mkdirSync(folder, { recursive: true })
    fs.writeFileSync(path.join(folder, 'package.json'), manifest)
    npm(['install', '--prefer-offline', '--no-audit', '--no-fund', '--legacy-peer-deps', '--ignore-scripts'], folder)
    fs.writeFileSync(stamp, manifest)
  }
  for (const addon of addons) build(addon, folder, node)
  fs.cpSync(APPS, folder, { recursive: true, preserveTimestamps: true })
  return folder
}

/**
 * An app as a contender of the lab, or what is behind it.
 *
 * @param {object} app
 * @param {string} folder where it is installed
 * @param {{ part?: 'serve' | 'behind', port?: number }} [how] port: of what is behind it
 * @return {object} `{ file, args, within }`
 */
exports.contender = ({ name }, folder, { part = 'serve', port } = {}) => ({
  file: path.join(__dirname, 'child.js'),
  args: [path.join(folder, `${name}.js`), part, ...port ? [String(port)] : []],
  within: START
})

/**
 * Compares responses with Koa's: the server that is named koa comes first.
 *
 *    const check = comparison(app)
 *    await check(koa)
 *    await check(kone) // throws: response 3, GET /users: its status is 500, not 200
 *
 * @param {object} app
 * @return {(server: { name: string, port: number }) => Promise<void>}
 */
exports.comparison = function (app) {
  const compare = comparing(app)
  return async function check ({ name, port }) {
    const client = new Client(port, app.mask)
    try {
      await app.ask(client)
    } finally {
      client.close()
    }
    compare(name, client.responses)
  }
}

/**
 * The same for a package's own tests, which are in its tarball: each is a response, and has on kone the outcome that it has on
 * Koa.
 *
 *    const check = suite(app, { node })
 *    check('koa', folder)
 *    check('kone', other)
 *
 * @param {object} app
 * @param {{ node: string }} how
 * @return {(side: 'koa' | 'kone', folder: string) => void}
 */
exports.suite = function (app, { node }) {
  const compare = comparing(app)
  return function check (side, folder) {
    const [name] = Object.keys(app.packages)
    const [program, ...args] = app.suite
    const [own, results] = [path.join(folder, 'own', name), path.join(folder, `${app.name}.json`)]
    fs.rmSync(own, { recursive: true, force: true })
    fs.cpSync(path.join(folder, 'node_modules', name), own, { recursive: true }) // jest runs no tests of node_modules
    fs.rmSync(results, { force: true })
    const command = [path.join(folder, 'node_modules', program), '--json', '--outputFile', results, ...args]
    spawnSync(node, command, { cwd: own, stdio: 'ignore' })
    const { testResults } = JSON.parse(fs.readFileSync(results, 'utf8'))
    const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
      .map(({ fullName, status }) => ({ line: fullName, status }))
    compare(side, tests.sort((a, b) => a.line < b.line ? -1 : 1))
  }
}

function comparing (app) {
  let expected
  return (side, responses) => {
    if (responses.length !== app.responses) throw new Error(`${responses.length} responses were compared, not ${app.responses}`)
    if (side === 'koa') expected = responses
    const at = responses.findIndex((response, i) => expected && !isDeepStrictEqual(response, expected[i]))
    if (at >= 0) throw new Error(`response ${at + 1}, ${differenceOf(responses[at], expected[at])}`)
  }
}

function differenceOf (response, expected) {
  const names = new Set([...Object.keys(response), ...Object.keys(expected)])
  const name = [...names].find(name => !isDeepStrictEqual(response[name], expected[name]))
  const shown = value => JSON.stringify(value)
  return `${expected.line ?? 'messages'}: its ${name} is ${shown(response[name])}, not ${shown(expected[name])}`
}

const tarballs = {} // packed by this process, by Koa's major version

// The same content has the same name, and is not installed anew.
function tarballOf (koa) {
  if (tarballs[koa]) return tarballs[koa]
  fs.mkdirSync(INSTALLED, { recursive: true })
  const folder = fs.mkdtempSync(path.join(INSTALLED, 'pack-'))
  try {
    const file = require(path.join(root, 'tools/pack'))({ to: folder, koa: String(koa) })
    const hash = crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex').slice(0, 12)
    tarballs[koa] = path.join(INSTALLED, `kone${koa}-${hash}.tgz`)
    fs.renameSync(file, tarballs[koa])
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
  return tarballs[koa]
}

// Compiled once for a version of Node, and then taken for both sides.
function build ({ name, file }, folder, node) {
  const own = path.join(folder, 'node_modules', name, file)
  const { version } = JSON.parse(fs.readFileSync(path.join(folder, 'node_modules', name, 'package.json'), 'utf8'))
  const abi = execFileSync(node, ['-p', 'process.versions.modules'], { encoding: 'utf8' }).trim()
  const kept = path.join(INSTALLED, 'addons', `${name}-${version}-${abi}.node`)
  if (!fs.existsSync(kept)) {
    console.error(`compile ${name}`)
    const headers = path.join(path.dirname(node), '..')
    npm(['rebuild', name], folder, {
      PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}`,
      ...fs.existsSync(path.join(headers, 'include/node')) && { npm_config_nodedir: headers }
    })
    execFileSync(node, ['-e', `require(${JSON.stringify(own)})`], { stdio: 'pipe' }) // of another Node, it is not kept
    fs.mkdirSync(path.dirname(kept), { recursive: true })
    fs.copyFileSync(own, kept)
  }
  fs.mkdirSync(path.dirname(own), { recursive: true })
  fs.copyFileSync(kept, own)
}

function npm (args, cwd, env) {
  const command = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  try {
    execFileSync(command, args, { cwd, encoding: 'utf8', env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  } catch ({ stderr, message }) {
    const said = stderr.split('\n').find(line => /^npm error (?!code |A complete log|$)/.test(line))
    throw new Error(`npm ${args[0]}: ${(said ?? message).replace(/^npm error /, '')}`)
  }
}
