'use strict'

/**
 * Real applications, unmodified, with koa and with kone in koa's place: their responses are compared and the CPU time
 * per request is measured, in the rounds of the lab. Writes test/compat/results.json, and README.md of it.
 *
 *    node test/compat/real/run.js                all of them
 *    node test/compat/real/run.js rest strapi    some; the others keep their results
 *    … --no-load                                 responses only; nothing is written
 *    … --rounds=16                               more of them than 8
 *    … --node=26                                 the Node that runs the servers, as in the lab
 *    KONE_FRONT=callback …                       in servers that other code creates, with app.callback()
 *
 * Installed below KONE_CACHE (~/.cache/kone): kone from the tarball of `npm pack`, as "koa" and
 * by `overrides`, so that every package there gets it.
 */

const { execFileSync } = require('node:child_process')
const crypto = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { isDeepStrictEqual, parseArgs } = require('node:util')

const { faultOf, nodeBinary, nodeVersion } = require('../../../benchmarks/lib/run/options')
const Server = require('../../../benchmarks/lib/servers/server')
const Client = require('./client')
const { cost, loader } = require('./cost')
const results = require('./results')
const { table } = require('./table')

const ROOT = path.join(__dirname, '../../..')
const CACHE = path.join(process.env.KONE_CACHE || path.join(os.homedir(), '.cache/kone'), 'compat')
const APPS = path.join(__dirname, 'apps')
const START = 120_000 // ms: Strapi builds its tables
const ROUNDS = 8

if (require.main === module) main(process.argv.slice(2))

async function main (args) {
  const options = await parse(args)
  const tarball = pack()
  const load = options.load ? loader(options) : null
  const rows = []
  for (const app of options.apps) {
    rows.push(await compare(app, tarball, { ...options, load }))
    if (load) results.write(all(), rows)
  }
  console.log(`\n${table(rows)}`)
  load?.stop()
  process.exitCode = rows.every(row => row.same) ? 0 : 1
}

// A mistake ends it with one line, before anything is installed.
async function parse (args) {
  try {
    const { values, positionals: names } = parseArgs({
      args,
      allowPositionals: true,
      options: { 'no-load': { type: 'boolean' }, rounds: { type: 'string' }, node: { type: 'string' } }
    })
    const rounds = Number(values.rounds ?? ROUNDS)
    if (!Number.isInteger(rounds) || rounds < 3) throw new TypeError(`--rounds must be a whole number of at least 3, not ${values.rounds}`)
    const known = all().map(({ name }) => name)
    const unknown = names.filter(name => !known.includes(name))
    if (unknown.length > 0) throw new TypeError(`no such app: ${unknown.join(', ')}; expected ${known.join(', ')}`)
    const node = await nodeBinary(values.node ?? process.execPath)
    nodeVersion(node)
    const apps = all().filter(({ name }) => names.length === 0 || names.includes(name))
    return { apps, rounds, node, load: !values['no-load'] }
  } catch (err) {
    console.error(`compat: ${faultOf(err)} (test/compat/README.md)`)
    process.exit(2)
  }
}

function all () {
  return fs.readdirSync(APPS).filter(file => file.endsWith('.js'))
    .map(file => ({ name: path.parse(file).name, ...require(path.join(APPS, file)) }))
    .sort((a, b) => (a.order || 0) - (b.order || 0))
}

// → as results.js has them
async function compare (app, tarball, { node, load }) {
  const row = { name: app.name, title: app.title, order: app.order, same: false }
  const sides = {}
  try {
    for (const side of ['koa', 'kone']) {
      const folder = install(app, side, { tarball, node })
      if (side === 'koa') Object.assign(row, versions(folder, app))
      if (side === 'koa') examine(folder, app)
      sides[side] = await start(side, app, folder, { node, pin: load?.pin })
      sides[side].responses = await ask(app, sides[side])
    }
    const { koa, kone } = sides
    row.responses = koa.responses.length
    const differs = koa.responses.findIndex((response, i) => !isDeepStrictEqual(response, kone.responses[i]))
    row.same = differs < 0 && row.responses === kone.responses.length
    if (!row.same) {
      row.differs = differs < 0 ? row.responses : differs
      console.log(app.name, koa.responses[row.differs], kone.responses[row.differs])
    }
    if (load && row.same) row.cost = await cost(app, [koa, kone], load)
  } catch (err) {
    row.error = err.message.split('\n')[0]
    console.log(app.name, err)
  }
  for (const server of Object.values(sides)) await server.stop()
  console.log(`${row.error ? 'FAILS' : row.same ? 'same' : 'DIFFERS'}  ${app.name}`)
  return row
}

// `kone doctor` names what of an app is tested, at the versions that are installed.
function examine (folder, { packages }) {
  const command = path.join(ROOT, 'command/index.js')
  const { tested, notInstalled } = JSON.parse(execFileSync(process.execPath, [command, 'doctor', '--json'], { cwd: folder, encoding: 'utf8' }))
  const names = tested.map(({ name }) => name)
  const wanted = Object.keys(packages).filter((name, i) => i === 0 || name.includes('koa'))
  const missing = wanted.filter(name => !names.includes(name))
  if (missing.length > 0 || notInstalled.length > 0) throw new Error(`kone doctor lacks ${missing.join(', ') || 'installed packages'}`)
}

// Code that has not changed has the same name and is not installed anew; documents do not count.
function pack () {
  fs.mkdirSync(CACHE, { recursive: true })
  const [{ filename, files }] = JSON.parse(npm(['pack', '--json', '--ignore-scripts', '--pack-destination', CACHE], ROOT))
  const hash = crypto.createHash('sha256')
  for (const { path: file } of files.filter(({ path }) => !/\.md$|^docs\b/.test(path))) {
    hash.update(file).update(fs.readFileSync(path.join(ROOT, file)))
  }
  const tarball = path.join(CACHE, `kone-${hash.digest('hex').slice(0, 12)}.tgz`)
  fs.renameSync(path.join(CACHE, filename), tarball)
  return tarball
}

// Apps with the same `group` share one install.
function install ({ name, group = 'small', koa = '^2.16.4', packages, addons = [] }, side, { tarball, node }) {
  const folder = path.join(CACHE, `${group}-${side}`)
  const wanted = group === 'small' ? small() : packages
  const manifest = JSON.stringify({
    name: 'app',
    private: true,
    dependencies: { ...wanted, koa: side === 'koa' ? koa : `file:${tarball}` },
    overrides: { koa: '$koa' }
  }, null, 2)
  const stamp = path.join(folder, 'installed.json')

  if (!fs.existsSync(stamp) || fs.readFileSync(stamp, 'utf8') !== manifest) {
    console.log(`install ${path.basename(folder)}`)
    fs.rmSync(stamp, { force: true })
    fs.mkdirSync(folder, { recursive: true })
    fs.writeFileSync(path.join(folder, 'package.json'), manifest)
    npm(['install', '--prefer-offline', '--no-audit', '--no-fund', '--legacy-peer-deps', '--ignore-scripts'], folder)
    fs.writeFileSync(stamp, manifest)
  }
  for (const addon of addons) build(addon, folder, node)
  // The app stands beside its node_modules, not beside the checkout's.
  for (const file of [path.join(APPS, `${name}.js`), path.join(APPS, name), path.join(__dirname, 'child.js')]) {
    if (!fs.existsSync(file)) continue
    fs.cpSync(file, path.join(folder, path.basename(file)), { recursive: true, preserveTimestamps: true })
  }
  return folder
}

// Compiled once for a version of Node, and then taken for both sides.
function build ({ name, file }, folder, node) {
  const own = path.join(folder, 'node_modules', name, file)
  const { version } = JSON.parse(fs.readFileSync(path.join(folder, 'node_modules', name, 'package.json'), 'utf8'))
  const abi = execFileSync(node, ['-p', 'process.versions.modules'], { encoding: 'utf8' }).trim()
  const kept = path.join(CACHE, 'addons', `${name}-${version}-${abi}.node`)
  if (!fs.existsSync(kept)) {
    console.log(`compile ${name}`)
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

function small () {
  const apps = fs.readdirSync(APPS).filter(file => file.endsWith('.js')).map(file => require(path.join(APPS, file)))
  return Object.assign({}, ...apps.filter(app => !app.group).map(app => app.packages))
}

function npm (args, cwd, env) {
  const command = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  return execFileSync(command, args, { cwd, encoding: 'utf8', env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
}

function versions (folder, { packages }) {
  const version = name => {
    const file = path.join(folder, 'node_modules', name, 'package.json')
    return JSON.parse(fs.readFileSync(file, 'utf8')).version
  }
  return { koa: version('koa'), packages: Object.keys(packages).map(name => `${name} ${version(name)}`) }
}

// The app's own folder is where its packages are, and where Egg and Strapi look for their configuration.
function start (side, { name }, folder, { node, pin }) {
  const contender = { name: side, file: path.join(folder, 'child.js'), args: [name] }
  return Server.start(contender, { node, pin, within: START })
}

async function ask (app, { port }) {
  const client = new Client(port, app.mask)
  await app.ask(client)
  client.close()
  return client.responses
}
