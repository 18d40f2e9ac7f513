'use strict'

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const commandLine = require('./command-line')

const ROOT = path.join(__dirname, '..')

// RFC 2606: no host ever has a name that ends so. The checkout has such names until its owner has chosen.
const PLACEHOLDER = /\.invalid\b/

/** Measurements and their charts, which the tarball has not. */
const REPORTS = 'docs/reports/'

/** The checkout's pages, while `npm pack` packs their copies. */
const KEPT = path.join(ROOT, 'node_modules/.cache/kone-pack')

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
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-pack-'))
  const copy = path.join(folder, 'package')
  try {
    const packed = npmPack(ROOT, '--pack-destination', folder)
    execFileSync('tar', ['xzf', path.join(folder, packed.filename), '-C', folder])
    for (const [page, text] of pages(copy, packed)) fs.writeFileSync(path.join(copy, page), text)
    if (koa === '3') edit(copy)
    return path.join(to, npmPack(copy, '--pack-destination', path.resolve(to)).filename)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

Object.assign(module.exports, { KOA3, DEPENDENCIES, PLACEHOLDER, edit })

function npmPack (folder, ...options) {
  return JSON.parse(execFileSync('npm', ['pack', '--json', '--ignore-scripts', ...options], { cwd: folder, encoding: 'utf8' }))[0]
}

/** Of a folder whose `files` are packed: the pages that are others in the tarball, with their text there. */
function pages (folder, { files }) {
  const addresses = addressesOf(JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')))
  return files.map(({ path }) => path).filter(page => page.endsWith('.md')).flatMap(page => {
    const text = fs.readFileSync(path.join(folder, page), 'utf8')
    const packed = withoutReports(text, page, addresses)
    return packed === text ? [] : [[page, packed]]
  })
}

/** Of the release in its repository: of a page, and of a picture. @return {{ page: string, picture: string } | null} */
function addressesOf ({ repository: { url }, version }) {
  const repository = url.replace(/^git\+|\.git$/g, '')
  if (PLACEHOLDER.test(url)) return null
  return { page: `${repository}/blob/v${version}/`, picture: `${repository}/raw/v${version}/` }
}

/** Links and pictures that lead to the reports have an address. Without one there is no picture, and no link. */
function withoutReports (text, page, addresses) {
  const base = pathToFileURL(`/${page}`)
  const report = target => {
    const found = new URL(target, base)
    return found.protocol === 'file:' && found.pathname.startsWith(`/${REPORTS}`) ? found.pathname.slice(1) + found.hash : null
  }
  return text
    .replace(/<picture>[^]*?<\/picture>\n/g, picture => {
      const found = picture.replace(/ (src|srcset)="([^"]+)"/g, (all, name, target) =>
        report(target) === null ? all : addresses ? ` ${name}="${addresses.picture}${report(target)}"` : '')
      return found === picture || addresses ? found : ''
    })
    .replace(/\[([^\]]*)\]\(([^()\s]+)\)/g, (all, words, target) =>
      report(target) === null ? all : addresses ? `[${words}](${addresses.page}${report(target)})` : words)
}

/** `npm pack` and `npm publish` pack this folder: it has the pages of the tarball meanwhile. */
function before () {
  after() // of an earlier one, which was interrupted
  for (const [page, text] of pages(ROOT, npmPack(ROOT, '--dry-run'))) {
    fs.mkdirSync(path.dirname(path.join(KEPT, page)), { recursive: true })
    fs.copyFileSync(path.join(ROOT, page), path.join(KEPT, page))
    fs.writeFileSync(path.join(ROOT, page), text)
  }
}

function after () {
  if (!fs.existsSync(KEPT)) return
  const addresses = addressesOf(JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8')))
  for (const entry of fs.readdirSync(KEPT, { recursive: true })) {
    const page = entry.replaceAll(path.sep, '/')
    if (!page.endsWith('.md')) continue
    const text = fs.readFileSync(path.join(KEPT, page), 'utf8')
    const current = fs.readFileSync(path.join(ROOT, page), 'utf8') // `git checkout` may have brought it back
    if (current !== text && current !== withoutReports(text, page, addresses)) {
      throw new Error(`pack: ${page} was changed while it was packed: its text before that is in ${KEPT}`)
    }
    fs.copyFileSync(path.join(KEPT, page), path.join(ROOT, page))
    fs.rmSync(path.join(KEPT, page))
  }
  fs.rmSync(KEPT, { recursive: true })
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

if (require.main === module) main()

function main () {
  const { values: { koa, 'pack-destination': to = process.cwd() }, positionals: [step] } = commandLine('pack', {
    koa: { type: 'string', value: '2|3' },
    'pack-destination': { type: 'string', value: 'folder' }
  }, 'CONTRIBUTING.md', ['before', 'after'])
  try {
    if (step === undefined) console.log(module.exports({ to, koa }))
    else ({ before, after })[step]()
  } catch (err) {
    console.error(err.message)
    process.exitCode = 1
  }
}
