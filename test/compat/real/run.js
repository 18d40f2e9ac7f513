'use strict'

/**
 * Real applications, unmodified, with koa and with kone in koa's place: the responses are compared
 * and the CPU that a request takes is measured. Writes test/compat/README.md.
 *
 *    node test/compat/real/run.js                all of them
 *    node test/compat/real/run.js rest strapi    some; README.md keeps the rows of the others
 *    … --no-load                                 answers only; README.md stays as it is
 *
 * Installed below KONE_CACHE (~/.cache/kone): kone from the tarball of `npm pack`, as "koa" and
 * by `overrides`, so that every package there gets it.
 */

const { execFileSync, fork } = require('node:child_process')
const crypto = require('node:crypto')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { isDeepStrictEqual } = require('node:util')

const { median, pairedRatio } = require('../../../benchmarks/lib/run/stats')
const Client = require('./client')
const table = require('./table')

const ROOT = path.join(__dirname, '../../..')
const CACHE = path.join(process.env.KONE_CACHE || path.join(os.homedir(), '.cache/kone'), 'compat')
const APPS = path.join(__dirname, 'apps')
const RESULTS = path.join(CACHE, 'results.json')
const START_TIMEOUT = 120000
const ROUNDS = 5
const REQUESTS = 2000 // per round, unless an app says otherwise

if (require.main === module) main(process.argv.slice(2))

async function main (args) {
  const load = !args.includes('--no-load')
  const names = args.filter(arg => !arg.startsWith('--'))
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
    if (load) write(rows, all)
  }
  console.log(`\n${table.table(rows)}`)
  process.exitCode = rows.every(row => row.same) ? 0 : 1
}

// With the rows of the apps that were run before and not now.
function write (rows, all) {
  const before = fs.existsSync(RESULTS) ? JSON.parse(fs.readFileSync(RESULTS, 'utf8')) : []
  const every = all.map(name => [...rows, ...before].find(row => row.name === name) || unasked(name))
  every.sort((a, b) => (a.order || 0) - (b.order || 0) || (a.name < b.name ? -1 : 1))
  fs.writeFileSync(RESULTS, JSON.stringify(every))
  fs.writeFileSync(path.join(__dirname, '../README.md'), table.page(every, ROUNDS))
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
      sides[side] = await start(app, folder)
      sides[side].answers = await ask(app, sides[side])
    }
    const { koa, kone } = sides
    row.asked = koa.answers.length
    row.differs = koa.answers.findIndex((answer, i) => !isDeepStrictEqual(answer, kone.answers[i]))
    row.same = row.differs < 0 && row.asked === kone.answers.length
    if (!row.same) console.log(app.name, koa.answers[row.differs], kone.answers[row.differs])
    if (load) row.cpu = await measure(app, koa, kone)
  } catch (err) {
    row.error = err.message.split('\n')[0]
    console.log(app.name, err)
  }
  for (const side of Object.values(sides)) side.child.kill()
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

async function start ({ name }, folder) {
  const child = fork(path.join(folder, 'child.js'), [name], {
    cwd: folder,
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc']
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', text => { said = (said + text).slice(-4000) })
  }
  const timer = setTimeout(() => child.kill(), START_TIMEOUT)
  const first = await Promise.race([once(child, 'message'), once(child, 'exit')])
  clearTimeout(timer)
  if (!first[0]?.port) throw new Error(`${name} does not start in ${folder}: ${said}`)
  return { child, port: first[0].port }
}

async function ask (app, { port }) {
  const client = new Client(port, app.mask)
  await app.ask(client)
  client.close()
  return client.answers
}

// By turns, so that a neighbour's noise falls on both.
async function measure ({ load, requests = REQUESTS }, koa, kone) {
  const samples = { koa: [], kone: [] }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [side, { child, port }] of Object.entries({ koa, kone })) {
      const client = new Client(port)
      const before = await cpu(child)
      await client.load(load, requests)
      const spent = await cpu(child) - before
      client.close()
      if (round > 0) samples[side].push(spent / requests) // the first one warms up
    }
  }
  return { koa: median(samples.koa), kone: median(samples.kone), ratio: pairedRatio(samples.kone, samples.koa) }
}

async function cpu (child) {
  child.send('cpu')
  const [{ user, system }] = await once(child, 'message')
  return user + system
}
