'use strict'

/**
 * Real applications, unmodified, with koa and with kone in koa's place: their responses are compared and the CPU time
 * per request is measured, in the rounds of the lab. Writes test/compat/README.md.
 *
 *    node test/compat/real/run.js                all of them
 *    node test/compat/real/run.js rest strapi    some; README.md keeps the rows of the others
 *    … --no-load                                 responses only; README.md stays as it is
 *    … --rounds=16                               more of them than 8
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

const generators = {
  autocannon: require('../../../benchmarks/lib/load/autocannon'),
  wrk: require('../../../benchmarks/lib/load/wrk')
}
const { pins } = require('../../../benchmarks/lib/run/machine')
const { doubt, measure, remarks } = require('../../../benchmarks/lib/run/measure')
const { rounds } = require('../../../benchmarks/lib/run/rounds')
const { median, pairedRatio } = require('../../../benchmarks/lib/run/stats')
const Server = require('../../../benchmarks/lib/servers/server')
const Client = require('./client')
const table = require('./table')

const ROOT = path.join(__dirname, '../../..')
const CACHE = path.join(process.env.KONE_CACHE || path.join(os.homedir(), '.cache/kone'), 'compat')
const APPS = path.join(__dirname, 'apps')
const RESULTS = path.join(CACHE, 'results.json')
const START = 120_000 // ms: Strapi builds its tables
const LOAD = { connections: 8, seconds: 2 }
const WARM = 3 // seconds

if (require.main === module) main(process.argv.slice(2))

async function main (args) {
  const { values, positionals: names } = parseArgs({
    args,
    allowPositionals: true,
    options: { 'no-load': { type: 'boolean', default: false }, rounds: { type: 'string', default: '8' } }
  })
  const load = values['no-load'] ? null : loader(Number(values.rounds))
  const all = fs.readdirSync(APPS).filter(file => file.endsWith('.js')).map(file => path.parse(file).name)
  const unknown = names.filter(name => !all.includes(name))
  if (unknown.length > 0) {
    console.error(`no such app: ${unknown.join(' ')} (there are ${all.join(' ')})`)
    process.exit(1)
  }

  const apps = (names.length > 0 ? names : all)
    .map(name => ({ name, ...require(path.join(APPS, name)) }))
    .sort((a, b) => (a.order || 0) - (b.order || 0))
  const tarball = pack()
  const rows = []
  for (const app of apps) {
    rows.push({ name: app.name, order: app.order, ...await compare(app, tarball, load) })
    if (load) write(rows, all, load)
  }
  console.log(`\n${table.table(rows)}`)
  load?.stop()
  process.exitCode = rows.every(row => row.same) ? 0 : 1
}

// wrk where it is installed, and as many rounds as were asked for.
function loader (count) {
  if (!Number.isInteger(count) || count < 3) throw new TypeError('--rounds must be a whole number of at least 3')
  const generator = generators.wrk.missing() ? 'autocannon' : 'wrk'
  const pinned = pins()
  return { count, generator, pin: pinned?.server, ...generators[generator]({ pin: pinned?.load }) }
}

// With the rows of the apps that ran before and not now.
function write (rows, all, load) {
  const before = fs.existsSync(RESULTS) ? JSON.parse(fs.readFileSync(RESULTS, 'utf8')) : []
  const every = all.map(name => [...rows, ...before].find(row => row.name === name) || unasked(name))
  every.sort((a, b) => (a.order || 0) - (b.order || 0) || (a.name < b.name ? -1 : 1))
  fs.writeFileSync(RESULTS, JSON.stringify(every))
  fs.writeFileSync(path.join(__dirname, '../README.md'), table.page(every, load))
}

function unasked (name) {
  const { title, order } = require(path.join(APPS, name))
  return { name, title, order }
}

// → `{ title, koa, versions, asked, same, differs, cpu: { koa, kone, ratio } }`, CPU in µs per request
async function compare (app, tarball, load) {
  const row = { title: app.title, same: false }
  const sides = {}
  try {
    for (const side of ['koa', 'kone']) {
      const folder = install(app, side, tarball)
      const got = versions(folder, app)
      if (side === 'koa') Object.assign(row, { koa: got.koa, versions: got.packages })
      sides[side] = await start(side, app, folder, load?.pin)
      sides[side].answers = await ask(app, sides[side])
    }
    const { koa, kone } = sides
    row.asked = koa.answers.length
    row.differs = koa.answers.findIndex((answer, i) => !isDeepStrictEqual(answer, kone.answers[i]))
    row.same = row.differs < 0 && row.asked === kone.answers.length
    if (!row.same) console.log(app.name, koa.answers[row.differs], kone.answers[row.differs])
    if (load) row.cpu = await cost(app, [koa, kone], load)
  } catch (err) {
    row.error = err.message.split('\n')[0]
    console.log(app.name, err)
  }
  for (const server of Object.values(sides)) await server.stop()
  console.log(`${row.same ? 'same' : 'DIFFERS'}  ${app.name}`)
  return row
}

// The same bytes have the same name: a younger kone is installed anew, the same one is not.
function pack () {
  fs.mkdirSync(CACHE, { recursive: true })
  const json = npm(['pack', '--json', '--pack-destination', CACHE], ROOT)
  const file = path.join(CACHE, JSON.parse(json)[0].filename)
  const hash = crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex').slice(0, 12)
  const tarball = path.join(CACHE, `kone-${hash}.tgz`)
  fs.renameSync(file, tarball)
  return tarball
}

// Apps with the same `group` share one install.
function install ({ name, group = 'small', koa = '^2.16.4', packages, addons = {} }, side, tarball) {
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
  for (const [addon, file] of Object.entries(addons)) build(addon, file, folder)
  // The app stands beside its node_modules, not beside the checkout's.
  for (const file of [path.join(APPS, `${name}.js`), path.join(APPS, name), path.join(__dirname, 'child.js')]) {
    if (!fs.existsSync(file)) continue
    fs.cpSync(file, path.join(folder, path.basename(file)), { recursive: true, preserveTimestamps: true })
  }
  return folder
}

// Compiled once: the other side's is as good.
function build (addon, file, folder) {
  const other = folder.replace(/koa$|kone$/, side => side === 'koa' ? 'kone' : 'koa')
  const [own, others] = [folder, other].map(folder => path.join(folder, 'node_modules', addon, file))
  if (fs.existsSync(own)) return
  if (!fs.existsSync(others)) return npm(['rebuild', addon], folder)
  fs.mkdirSync(path.dirname(own), { recursive: true })
  fs.copyFileSync(others, own)
}

function small () {
  const apps = fs.readdirSync(APPS).filter(file => file.endsWith('.js')).map(file => require(path.join(APPS, file)))
  return Object.assign({}, ...apps.filter(app => !app.group).map(app => app.packages))
}

function npm (args, cwd) {
  const command = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

function versions (folder, { packages }) {
  const version = name => {
    const file = path.join(folder, 'node_modules', name, 'package.json')
    return JSON.parse(fs.readFileSync(file, 'utf8')).version
  }
  return { koa: version('koa'), packages: Object.keys(packages).map(name => `${name} ${version(name)}`) }
}

// The app's own folder is where its packages are, and where Egg and Strapi look for their configuration.
function start (side, { name }, folder, pin) {
  const contender = { name: side, file: path.join(folder, 'child.js'), args: [name] }
  return Server.start(contender, { node: process.execPath, pin, within: START })
}

async function ask (app, { port }) {
  const client = new Client(port, app.mask)
  await app.ask(client)
  client.close()
  return client.answers
}

// In the rounds of the lab: both sides in each, in changing order, and again what cannot be believed.
async function cost ({ name, load: { line, status = 200, ...options } }, servers, load) {
  const request = Client.request(line, options)
  for (const { port } of servers) await expectStatus(status, port, line, options)

  const cells = servers.map(server => ({ workload: name, server, load: { ...request, ...LOAD, generator: load.generator } }))
  for (const { server } of cells) await load.run({ ...request, ...LOAD, seconds: WARM, port: server.port })
  await rounds(cells, { count: load.count, visit: cell => measure(cell, load), doubt })
  for (const { server, rejected, samples } of cells) {
    if (rejected) throw new Error(`${server.name}: ${rejected}`)
    for (const remark of remarks(samples)) console.log(`${name}, ${server.name}: ${remark}`)
  }
  const [koa, kone] = cells.map(({ samples }) => samples.map(({ cpu }) => cpu))
  return { koa: median(koa), kone: median(kone), ratio: pairedRatio(kone, koa) }
}

// Load generators look at no more than whether a status is an error.
async function expectStatus (status, port, line, options) {
  const client = new Client(port)
  const response = await client.send(line, options)
  client.close()
  if (response.status !== status) throw new Error(`${line}: ${response.status} ${response.body.slice(0, 200)}`)
}
