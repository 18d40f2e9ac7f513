'use strict'

const fs = require('node:fs')
const path = require('node:path')
const errorLine = require('../cluster/error-line')
const withParents = require('../cluster/parents')
const { version: koneVersion } = require('../package.json')
const { koneFor } = require('./as-koa/replacement')
const facts = require('./doctor.json')
const { print, printJSON } = require('./print')

const PAGE = '(kone/docs/api/command.md)'
const TRY = '(kone/docs/api/try.md)'

/** Packages that use Koa, by their names; others are found by what they depend on. */
const KOA = /(?:^|[@/-])koa\d?(?:$|[/-])/

// How middleware reach node's objects. A destructuring may be of a context or not: the place is printed.
const READS = /\b(?:ctx|context|this)\.re[qs]\b(?!\w)|\{[^{}]*\bre[qs]\b[^{}]*\} *= *(?:ctx|context|this)\b/

/**
 * `kone doctor`: shows what kone brings to the Koa app in this folder. Reads package.json, the lock, and the sources of
 * packages that are installed; runs and changes nothing.
 *
 * @param {undefined} file the command takes none
 * @param {{ json?: boolean }} values of the flags
 */
module.exports = function doctor (file, { json = false }) {
  const found = examine(process.cwd())
  if (json) printJSON(found)
  else print(lines(found))
}

/**
 * @param {string} folder
 * @return {object} `{ koa, isDirect, isKone, kone, prefix, nearest }`: versions, whether package.json itself names koa,
 *   whether kone is installed in its place, the name by which the project gets kone's set, and the gain of the measured
 *   app that is nearest to this one; and lists of packages, `{ tested, otherVersion, untested, reads, fallsBack,
 *   replaceable, notInstalled }`
 * @throws {Error} if the folder has no package.json, no koa is in it, in the lock and installed, or only other folders
 *   of its workspace have it
 */
function examine (folder) {
  const manifest = read(folder, 'package.json')
  if (manifest === null) throw new Error(`there is no package.json in ${folder}: start it in the folder of an app ${PAGE}`)
  const lock = lockOf(folder)
  const { dependencies, devDependencies, optionalDependencies } = manifest
  const isBundled = devDependencies?.koa !== undefined // a build writes the dependencies into the app
  const wanted = { ...isBundled && devDependencies, ...optionalDependencies, ...dependencies }
  const packages = Object.entries(wanted).map(([name, range]) => packageOf(folder, lock, name, range))
  const koa = koaOf(folder, packages, lock)
  const known = packages.filter(({ name, tested, usesKoa }) => name !== 'koa' && (tested.length > 0 || usesKoa))
  const members = koa?.isDirect || known.length > 0 ? [] : membersOf(folder, lock)
  if (members.length > 0) throw new Error(`koa is a dependency of ${members.join(', ')}: start it there ${PAGE}`)
  if (koa === null) throw new Error(`neither package.json nor a package-lock.json in ${folder} has koa ${PAGE}`)

  const sameMajor = ({ version, tested }) => tested.findLast(one => majorOf(one.version) === majorOf(version))
  const list = (accept, more = () => {}) => known.filter(accept).map(one => {
    return { name: one.name, version: one.version, ...more(one) }
  })
  return {
    ...koa,
    kone: koneVersion,
    prefix: Object.hasOwn(wanted, 'kone') ? 'kone' : 'koa', // of an alias the package has no other name
    nearest: nearestTo(wanted),
    tested: list(sameMajor, one => {
      const { version, gain } = sameMajor(one)
      return { tested: version, gain }
    }),
    otherVersion: list(one => one.tested.length > 0 && !sameMajor(one), ({ tested }) => {
      return { tested: tested.map(({ version }) => version) }
    }),
    untested: list(({ tested }) => tested.length === 0),
    reads: list(({ reads }) => reads, ({ reads }) => ({ reads })),
    fallsBack: list(({ tested }) => tested.some(({ fallsBack }) => fallsBack)),
    replaceable: list(({ published }) => replacementOf(published), ({ published }) => replacementOf(published)),
    notInstalled: list(({ usesKoa, place }) => usesKoa && place === undefined)
  }
}

/** The gain of the framework that an app is of, or else that of an API of packages. */
function nearestTo (wanted) {
  const framework = facts.frameworks.find(name => Object.hasOwn(wanted, name))
  return framework ? facts.packages[framework].find(({ gain }) => gain)?.gain ?? null : facts.api
}

/** Of package.json, or else of the packages that it names. */
function koaOf (folder, packages, lock) {
  const own = packages.find(({ name }) => name === 'koa')
  const deep = Object.keys(lock.packages ?? {}).find(place => place.endsWith('/node_modules/koa'))
  const locked = [entryOf(folder, lock, 'koa'), lock.packages?.[deep]].find(entry => entry?.version)
  const { version, published } = own ?? identityOf('koa', locked ?? koaBeside(packages))
  return version === undefined ? null : { koa: version, isDirect: own !== undefined, isKone: published === 'kone' }
}

/** The koa that installed packages load: pnpm links it beside them alone. */
function koaBeside (packages) {
  const users = packages.filter(({ usesKoa, place }) => usesKoa && place !== undefined)
  return users.map(({ place }) => installedIn(fs.realpathSync(place), 'koa')?.manifest).find(Boolean)
}

/** The folders of a workspace whose package.json names koa. */
function membersOf (folder, lock) {
  const isMember = ([place, { dependencies, devDependencies }]) =>
    !/^$|(?:^|\/)node_modules\//.test(place) && (dependencies?.koa ?? devDependencies?.koa)
  return lock.folder === folder ? Object.entries(lock.packages ?? {}).filter(isMember).map(([place]) => place) : []
}

const ALIAS = /^npm:(@?[^@]+)(?:@(.+))?$/

function packageOf (folder, lock, name, range) {
  const installed = installedIn(folder, name)
  const entry = entryOf(folder, lock, name)
  const { published, version } = identityOf(name, { ...installed?.manifest, ...entry }, range)
  const needs = [entry, installed?.manifest].flatMap(one => [one?.dependencies, one?.requires, one?.peerDependencies])
  const named = [name, published, ...needs.flatMap(all => Object.keys(all ?? {}))]
  const usesKoa = !name.startsWith('@types/') && named.some(one => KOA.test(one))
  return {
    name,
    published,
    version,
    tested: Object.hasOwn(facts.packages, published) ? facts.packages[published] : [],
    usesKoa,
    place: installed?.place,
    reads: installed !== undefined && usesKoa ? placeThatReads(installed.place) : null
  }
}

/** The name and the version of a package: those of another one, if the project's name for it is an alias. */
function identityOf (name, found, range) {
  const version = found?.version ?? range
  const [, target, wanted] = ALIAS.exec(version) ?? []
  return { published: found?.name ?? target ?? ALIAS.exec(range)?.[1] ?? name, version: wanted ?? version }
}

/** What a lock has of a package. */
function entryOf (folder, lock, name) {
  const keys = placesOf(folder, name).map(place => slashed(path.relative(lock.folder, place)))
  const locked = keys.map(key => lock.packages?.[key]).find(Boolean)
  if (locked?.link) return lock.packages[locked.resolved] ?? {}
  return locked ?? lock.dependencies?.[name] ?? {} // version 1 of npm's locks
}

/** The lock of a folder, or of the workspace that it belongs to, and where it is. */
function lockOf (folder) {
  for (const root of withParents(folder)) {
    const lock = read(root, 'package-lock.json') ?? read(root, 'npm-shrinkwrap.json')
    const isOwn = root === folder || lock?.packages?.[slashed(path.relative(root, folder))]
    if (lock !== null && isOwn) return { ...lock, folder: root }
  }
  return { folder }
}

function installedIn (folder, name) {
  const found = placesOf(folder, name).map(place => ({ place, manifest: read(place, 'package.json') }))
  return found.find(({ manifest }) => manifest !== null)
}

/** Where node looks for a package: in a workspace it is often above the folder. */
function placesOf (folder, name) {
  return withParents(folder).map(one => path.join(one, 'node_modules', name))
}

const slashed = file => file.replaceAll(path.sep, '/')

const SOURCE = /\.[cm]?js$/
const NO_SOURCE = /(?:^|[/\\])(?:node_modules|tests?|__tests__|examples?|bench\w*)[/\\]|\.test\./

/** The first place of a package's own code that reads node's req or res, such as `lib/index.js:12`. */
function placeThatReads (folder) {
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.relative(folder, path.join(entry.parentPath ?? entry.path, entry.name))
    if (!entry.isFile() || !SOURCE.test(file) || NO_SOURCE.test(file)) continue
    const lines = fs.readFileSync(path.join(folder, file), 'utf8').split('\n')
    const row = lines.findIndex(line => READS.test(line) && !/^ *(?:\*|\/\/)/.test(line))
    if (row !== -1) return `${slashed(file)}:${row + 1}`
  }
  return null
}

/** JSON of a file, or null without one. */
function read (folder, name) {
  const file = path.join(folder, name)
  if (!fs.existsSync(file)) return null
  try {
    const value = JSON.parse(fs.readFileSync(file, 'utf8').replace(/^\uFEFF/, '')) // npm takes a byte order mark, too
    if (value !== null && typeof value === 'object') return value
    throw new TypeError('it holds no object')
  } catch (err) {
    throw new Error(`cannot read ${file}: ${errorLine(err)} ${PAGE}`)
  }
}

const replacementOf = name => Object.hasOwn(facts.set, name) ? facts.set[name] : null

const majorOf = version => /(?:0\.)?\d+/.exec(version)?.[0]

function lines (found) {
  const sections = [
    ["Run unchanged; kone's tests have this major version:", found.tested,
      ({ tested, gain }) => `tested at ${tested}${gain ? `; ${gain.app}: ${share(gain)}` : ''}`],
    ['Run unchanged at other versions than yours:', found.otherVersion, ({ tested }) => `tested at ${tested.join(', ')}`],
    ["Use Koa, and kone's tests do not have them:", found.untested],
    ["Read node's req or res, which kone makes for these requests, so that less is saved:", found.reads, ({ reads }) => reads],
    ['Make kone fall back to node:http:', found.fallsBack],
    ["kone's own set replaces:", found.replaceable,
      ({ middleware, gain }) => `${found.prefix}/middleware/${middleware}${gain ? `: ${share(gain)}` : ''}`],
    ['Not installed, so that their sources were not read:', found.notInstalled]
  ]
  const fitting = koneFor(majorOf(found.koa))
  const isOther = fitting !== null && fitting !== koneFor(koneVersion)
  return [
    titleOf(found),
    ...isOther ? [`${fitting} has Koa ${majorOf(found.koa)}'s API (kone/MIGRATION.md).`] : [],
    ...sections.filter(([, list]) => list.length > 0).flatMap(([title, list, note]) => ['', title, ...rows(list, note)]),
    '',
    ...facts.measured.length > 0
      ? [`Figures are kone's CPU time per request ÷ Koa's, with the lowest and highest round: ${facts.measured.join('; ')}.`]
      : [],
    ...found.replaceable.some(({ gain }) => gain) ? ["Those of the set are its middleware ÷ the package's, both on kone."] : [],
    ...found.nearest ? [`The measured app that is nearest to this one, by the alias alone: ${nearestOf(found)}`] : [],
    ...found.isKone || isOther ? [] : [`To compare this app's own responses, and to measure it: npx kone try <file>, or npx kone try -- npm start ${TRY}`]
  ]
}

const nearestOf = ({ nearest }) => `${nearest.app}, ${share(nearest)}.`

function titleOf ({ koa, isDirect, isKone }) {
  if (isKone) return `kone ${koa} stands in Koa's place.`
  return isDirect
    ? `koa ${koa}. In its place: npm install koa@npm:kone (kone/MIGRATION.md)`
    : `koa ${koa} of other packages. In its place: an override of koa (kone/MIGRATION.md)`
}

function rows (list, note = () => '') {
  const width = Math.max(...list.map(({ name, version }) => `${name} ${version}`.length))
  return list.map(one => `  ${`${one.name} ${one.version}`.padEnd(width)}  ${note(one)}`.trimEnd())
}

const share = ({ ratio, min, max }) => `${ratio.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`
