'use strict'

const { readFileSync } = require('fs')
const { isAbsolute, join, sep } = require('path')
const { fileURLToPath } = require('url')

const warned = new Set()

/** Kone's folder; null in a bundle that is an ES module, as ncc makes one. */
const ROOT = typeof __dirname === 'string' ? join(__dirname, '../..') : null
const FOLDERS = ROOT === null ? [] : ['lib', 'middleware', 'command', 'cluster'].map(name => join(ROOT, name, sep))

/**
 * Where a call was made. Places in a source that a source map names, if node was started with `--enable-source-maps`.
 *
 * @param {NodeJS.CallSite} site V8's
 * @return {{ file: string, row: number, column: number } | null} null in node's own modules and in eval
 */
function placeOf (site) {
  const name = site.getFileName()
  if (typeof name !== 'string' || name.startsWith('node:')) return null
  return mapped(name, site.getLineNumber(), site.getColumnNumber())
}

function mapped (name, line, column) {
  /** @type {any} */
  const found = process.sourceMapsEnabled ? require('module').findSourceMap(name)?.findOrigin(line, column) : undefined
  const isMapped = typeof found?.fileName === 'string'
  const file = pathOf(isMapped ? found.fileName : name)
  if (file === null) return null
  return isMapped ? { file, row: found.lineNumber, column: found.columnNumber } : { file, row: line, column }
}

/** @return {string|null} null for a URL of another host */
function pathOf (name) {
  try {
    return name.startsWith('file:') ? fileURLToPath(name) : name
  } catch {
    return null
  }
}

/** @return {{ stack?: string }} the calls that led here; V8 makes the text when it is read */
function trace () {
  const traced = {}
  Error.captureStackTrace(traced, trace)
  return traced
}

/**
 * The innermost call that is the app's: not kone's, not of a package.
 *
 * @param {{ stack?: string }} traced
 * @return {{ file: string, row: number, column: number } | null}
 */
function placeIn ({ stack }) {
  for (const line of String(stack).split('\n')) {
    const [, call] = /^ +at (?:async )?(.+)$/.exec(line) ?? []
    const [, name, row, column] = /^(.+):(\d+):(\d+)$/.exec(call?.endsWith(')') ? call.slice(call.indexOf(' (') + 2, -1) : call) ?? []
    if (name === undefined || name.startsWith('node:')) continue
    const file = pathOf(name)
    if (file !== null && isAbsolute(file) && isOfApp(file)) return { file, row: Number(row), column: Number(column) }
  }
  return null
}

function isOfApp (file) {
  return !FOLDERS.some(folder => file.startsWith(folder)) && !file.includes(`${sep}node_modules${sep}`)
}

/**
 * Where a function begins. V8 tells it only to its inspector.
 *
 * @param {Function} fn
 * @return {{ file: string, row: number } | null} null where there is no inspector, and for functions of node
 */
function placeOfFunction (fn) {
  const key = Symbol.for('kone.function')
  let session
  try {
    const { Session } = require('inspector')
    session = new Session()
    session.connect()
    const files = new Map()
    session.on('Debugger.scriptParsed', ({ params }) => files.set(params.scriptId, params.url))
    globalThis[key] = fn
    const { result } = ask(session, 'Runtime.evaluate', { expression: "globalThis[Symbol.for('kone.function')]" })
    const { internalProperties } = ask(session, 'Runtime.getProperties', { objectId: result.objectId })
    const { scriptId, lineNumber } = internalProperties.find(({ name }) => name === '[[FunctionLocation]]').value.value
    ask(session, 'Debugger.enable')
    const file = files.get(scriptId)
    return !file || file.startsWith('node:') ? null : mapped(file, lineNumber + 1, 0)
  } catch {
    return null
  } finally {
    delete globalThis[key]
    session?.disconnect()
  }
}

// Within one thread the inspector calls back before post() returns.
/** @return {any} */
function ask (session, method, params) {
  let reply
  session.post(method, params, (err, result) => {
    if (err) throw err
    reply = result
  })
  return reply
}

/**
 * For users of Express: an app of Koa has no routes.
 *
 *    hintOfExpress(err)   // app.get is not a function: ': routes belong to a router, router.get(…) and …'
 *
 * @param {Error} err
 * @return {string} what to add to its message
 */
function hintOfExpress (err) {
  const [, name, verb] = /^(\w+)(?:\.use\(\.\.\.\))*\.(all|delete|get|head|options|patch|post|put) is not a function$/.exec(err.message) ?? []
  const isApp = name === 'app' || (verb !== undefined && appsIn(placeIn(err)).includes(name))
  return isApp ? `: routes belong to a router, router.${verb}(…) and app.use(router.routes())` : ''
}

/** The variables of a file that are apps: `const server = new Kone()`. */
function appsIn (place) {
  try {
    return Array.from(readFileSync(place.file, 'utf8').matchAll(/\b(\w+) = new Ko(?:a|ne)\b/g), ([, name]) => name)
  } catch {
    return [] // no place, or no such file
  }
}

/**
 * Warn of a mistake, once for each place.
 *
 * @param {string} text
 * @param {{ file: string, row: number } | null} [place] of the app; by default where it called kone. null: do not warn.
 */
function warnOnce (text, place = placeIn(trace())) {
  if (place === null) return
  const message = `${text} (${place.file}:${place.row})`
  if (warned.has(message)) return
  warned.add(message)
  process.emitWarning(message, {
    code: 'KONE_WARN_MISTAKE',
    detail: 'Only in development, for the first requests: see kone/docs/guide/troubleshooting.md. app.silent = true turns this off.'
  })
}

module.exports = { ROOT, hintOfExpress, isOfApp, pathOf, placeIn, placeOf, placeOfFunction, trace, warnOnce }
