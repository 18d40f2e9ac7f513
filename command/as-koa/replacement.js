'use strict'

const { existsSync, readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { fileURLToPath, pathToFileURL } = require('node:url')
const { getEnvironmentData, setEnvironmentData, threadId } = require('node:worker_threads')

const ROOT = path.join(__dirname, '../..')
const kone = require('../../package.json')

/** Koa's files that a program can load; the last one is what `import` finds. */
const FILES = /^(.+)[\\/](?:(package\.json|lib[\\/](?:application|context|request|response)\.js)|dist[\\/]koa\.mjs)$/

/** Key of what all threads of the process share: the folder of the Koa that was replaced first, behind its length. */
const FIRST = 'kone/as-koa'
const LONGEST = 4096 // bytes

const majorOf = version => Number.parseInt(version, 10)

/** @return {string|null} the kone that has the API of this version of Koa */
const koneFor = version => [2, 3].includes(majorOf(version)) ? `kone@${majorOf(version)}` : null

/** Which file of kone stands for which file of Koa. */
class Replacement {
  /** @param {SharedArrayBuffer} [shared] by other threads: Node 20 resolves imports in one of its own */
  constructor (shared = getEnvironmentData(FIRST) ?? new SharedArrayBuffer(4 + LONGEST)) {
    this.shared = shared
    this.koas = new Map()  // folder → version of the Koa in it that is replaced, or null
    this.leftAlone = null  // the version of a Koa that was found and has another major version
    setEnvironmentData(FIRST, shared)
  }

  /** @return {string|null} the folder of the Koa that was replaced first */
  get first () {
    const length = Atomics.load(new Int32Array(this.shared, 0, 1), 0)
    return length > 0 ? Buffer.from(this.shared, 4, length).toString() : null
  }

  /**
   * @param {string} file that was found
   * @return {string|null} kone's file that replaces it, or null
   */
  of (file) {
    const [, folder, inside] = FILES.exec(file) ?? []
    const version = folder === undefined ? null : this.replacedIn(folder)
    if (version === null) return null
    if (inside === 'package.json') return path.join(ROOT, inside)
    this.begin(folder, version)
    const name = inside === undefined ? '.' : `./${inside.replaceAll('\\', '/')}`
    const target = kone.exports[name]
    return path.join(ROOT, target.default ?? target)
  }

  /**
   * @param {{ url: string }} found what an import was resolved to
   * @return {object} the same, or kone's file in its place
   */
  ofImport (found) {
    const file = found.url.startsWith('file:') ? this.of(fileURLToPath(found.url)) : null
    if (file === null) return found
    return { ...found, url: pathToFileURL(file).href, format: file.endsWith('.json') ? 'json' : 'commonjs' }
  }

  /** Is it a file of a Koa that is replaced? */
  has (file) {
    const [, folder] = FILES.exec(file) ?? []
    return folder !== undefined && this.replacedIn(folder) !== null
  }

  /** Was a Koa found, replaced or not? */
  get hasFound () { return this.first !== null || this.leftAlone !== null }

  /**
   * Koa shares packages with its app: an app may change `statuses`, or ask `err instanceof HttpError`.
   *
   * @param {string} request as kone's own code requires a package
   * @param {string} [from] the file that requires it
   * @return {string|null} the file of the replaced Koa's package, if kone accepts its version
   */
  ofDependency (request, from) {
    const { first } = this
    if (first === null || from === undefined || !from.startsWith(ROOT + path.sep)) return null
    const range = kone.dependencies[request]
    if (range === undefined || from.startsWith(path.join(ROOT, 'node_modules', path.sep))) return null
    const koa = createRequire(path.join(first, 'package.json'))
    if (!(request in manifestOf(first).dependencies)) return null
    try {
      const file = koa.resolve(request)
      return isIn(range, versionOf(file)) ? file : null
    } catch {
      return null // Koa's own packages are not installed
    }
  }

  /** @return {string|null} the version of the Koa in this folder; null if it is not Koa, or of another major version */
  replacedIn (folder) {
    if (!this.koas.has(folder)) {
      const { name, version } = manifestOf(folder)
      const isKoa = name === 'koa' && typeof version === 'string'
      const isSame = isKoa && majorOf(version) === majorOf(kone.version)
      if (isKoa && !isSame) this.leaveAlone(folder, version)
      this.koas.set(folder, isSame ? version : null)
    }
    return this.koas.get(folder)
  }

  /** @return {string|null} the version of a Koa that is replaced */
  get version () {
    return [...this.koas.values()].find(Boolean) ?? (this.first === null ? null : manifestOf(this.first).version)
  }

  leaveAlone (folder, version) {
    this.leftAlone ??= version
    if (process.env.KONE_AS_KOA === 'quiet') return
    const fitting = koneFor(version)
    const use = fitting === null ? '' : `: use ${fitting}`
    say(`koa ${version} in ${path.relative(process.cwd(), folder) || '.'} is left alone by kone ${kone.version}${use} (kone/as-koa)`)
  }

  /** Once per process. */
  begin (folder, version) {
    const length = new Int32Array(this.shared, 0, 1)
    if (Atomics.compareExchange(length, 0, 0, -1) !== 0) return
    Atomics.store(length, 0, Buffer.from(this.shared, 4).write(folder))
    if (process.env.KONE_AS_KOA !== 'quiet') say(`koa ${version} is kone ${kone.version} (kone/as-koa)`)
  }
}

function say (text) {
  // console of a worker thread writes when the main thread is idle
  if (threadId === 0) process.stderr.write(`${text}\n`)
  else require('node:fs').writeSync(2, `${text}\n`)
}

function manifestOf (folder) {
  try {
    return JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
  } catch {
    return {}
  }
}

/** The version of the package that a file belongs to. */
function versionOf (file) {
  for (let folder = path.dirname(file); folder !== path.dirname(folder); folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, 'package.json'))) return manifestOf(folder).version
  }
}

/** @param {string} range `1.2.3`, or `^1.2.3` of a major version from 1 on, as kone's package.json has them */
function isIn (range, version) {
  const numbers = text => /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text).slice(1).map(number => Number(number ?? 0))
  const least = numbers(range)
  const found = numbers(version)
  const differs = least.findIndex((number, i) => number !== found[i])
  if (differs === -1) return true
  const first = least[0] > 0 ? 1 : 2 // the numbers before this one must be the same
  return range.startsWith('^') && differs >= first && found[differs] > least[differs]
}

module.exports = { Replacement, isIn, koneFor }
