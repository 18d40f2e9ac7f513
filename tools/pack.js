'use strict'

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { parseArgs } = require('node:util')

const ROOT = path.join(__dirname, '..')

/** Koa's version of which `kone@3` has the API: `koa@npm:kone@3` has to satisfy `^3`. */
const KOA3 = '3.3.0'

/** File → what is replaced in it → by what: the entries of the package are Koa 3's. */
const EDITS = {
  'lib/bluebird.js': { "'./application'": "'./koa3'" },
  'lib/index.d.ts': {
    'origin: string': 'origin: string | null',
    'redirect (url: string, alt?: string): void': 'redirect (url: string): void',
    'set (fields: { [field: string]: string | number | string[] }): void': 'set (fields: { [field: string]: any }): void',
    'set (field: string, value: string | number | string[]): void': 'set (field: string, value: any): void',
    'is (types: string[]): string | false | null\n    get (field: string): string\n    inspect': 'is (types: string[]): string | false | null\n    get (field: string): any\n    inspect',
    'throw (message: string, code?: number, properties?: {}): never\n': 'throw (message: string, properties?: object): never\n',
    'throw (...properties: Array<number | string | {}>): never': 'throw (status: number, ...properties: Array<string | object>): never\n    throw (err: Error, properties?: object): never'
  }
}

/** What Koa 3 has in another version than Koa 2, and an app shares with it. */
const DEPENDENCIES = { 'http-errors': '^2.0.1', statuses: '^2.0.2' }

/** Files that only the tarball of Koa 3 has: what `require('koa/lib/context')` gives. */
const PROTOTYPES = ['context', 'request', 'response']

/**
 * Make the tarball of a release line.
 *
 *    pack({ to: '/tmp' })             // '/tmp/kone-2.17.0.tgz'
 *    pack({ to: '/tmp', koa: '3' })   // '/tmp/kone-3.3.0.tgz', with Koa 3's API
 *
 * @param {{ to: string, koa?: '2' | '3' }} options
 * @return {string} its path
 * @throws {Error} for another line, or if a file has no longer what is to be replaced
 */
module.exports = function pack ({ to, koa = '2' }) {
  if (koa !== '2' && koa !== '3') throw new Error(`pack: KOA must be 2 or 3, not ${koa}`)
  if (koa === '2') return npmPack(ROOT, to)

  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-pack-'))
  try {
    execFileSync('tar', ['xzf', npmPack(ROOT, folder), '-C', folder])
    edit(path.join(folder, 'package'))
    return npmPack(path.join(folder, 'package'), to)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

Object.assign(module.exports, { KOA3, DEPENDENCIES, edit })

function npmPack (folder, to) {
  const printed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', to], { cwd: folder, encoding: 'utf8' })
  return path.join(to, JSON.parse(printed)[0].filename)
}

/**
 * Turn a copy of the package into kone@3.
 *
 * @param {string} folder
 */
function edit (folder) {
  const file = name => path.join(folder, name)

  for (const [name, edits] of Object.entries(EDITS)) {
    let text = fs.readFileSync(file(name), 'utf8')
    for (const [from, to] of Object.entries(edits)) {
      if (!text.includes(from)) throw new Error(`pack: ${name} no longer has ${from}`)
      text = text.replace(from, to)
    }
    fs.writeFileSync(file(name), text)
  }

  fs.mkdirSync(file('lib/koa3'))
  for (const name of PROTOTYPES) {
    fs.writeFileSync(file(`lib/koa3/${name}.js`), `const Koa = require('../koa3.js')\n\nmodule.exports = Object.getPrototypeOf(new Koa().${name})\n`)
  }

  const manifest = JSON.parse(fs.readFileSync(file('package.json'), 'utf8'))
  const { exports } = manifest
  Object.assign(manifest, { version: KOA3, main: 'lib/koa3.js' })
  Object.assign(manifest.dependencies, DEPENDENCIES)
  for (const name of ['./lib/application', './lib/application.js']) exports[name] = './lib/koa3.js'
  for (const name of PROTOTYPES) exports[`./lib/${name}`] = exports[`./lib/${name}.js`] = `./lib/koa3/${name}.js`
  exports['.'].default = './lib/koa3.js'
  fs.writeFileSync(file('package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

if (require.main === module) {
  try {
    const options = { koa: { type: 'string' }, 'pack-destination': { type: 'string', default: process.cwd() } }
    const { values: { koa, 'pack-destination': to } } = parseArgs({ options })
    console.log(module.exports({ to, koa }))
  } catch (err) {
    console.error(err.message)
    process.exitCode = 1
  }
}
