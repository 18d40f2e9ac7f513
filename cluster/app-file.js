'use strict'

const { existsSync, readFileSync } = require('node:fs')
const http = require('node:http')
const { dirname, join } = require('node:path')
const { pathToFileURL } = require('node:url')
const withParents = require('./parents')
const { noting } = require('./unparsed')

/**
 * Load an app's file: CommonJS, an ES module, or TypeScript where node or a hook strips types.
 *
 * @param {string} file absolute path
 * @param {{ notes?: boolean }} [options] find the place of a syntax error for errorLine(): V8's debugger is on then
 * @return {Promise<*>} what it exports; the default export of an ES module
 */
async function load (file, { notes = true } = {}) {
  const path = require.resolve(file)
  const exported = await (notes ? noting(() => read(path)) : read(path))
  return defaultOf(exported?.[Symbol.toStringTag] === 'Module' ? exported.default : exported)
}

/** Of what a compiler made of an ES module, which import() gives as its default. */
function defaultOf (exported) {
  return exported?.__esModule ? exported.default : exported
}

async function read (path) {
  return isModule(path) ? import(pathToFileURL(path)) : require(path)
}

/**
 * Node's require() loads ES modules, too, but its errors have no place, and the hooks of command/esbuild.mjs are for
 * import().
 */
function isModule (path) {
  if (/\.m[jt]s$|\.ts$/.test(path)) return true
  return path.endsWith('.js') && (typeOf(dirname(path)) === 'module' || /^(?:import[\s{*'"]|export[\s{*])/m.test(readFileSync(path, 'utf8')))
}

/** The `type` of the nearest package.json. */
function typeOf (folder) {
  const file = withParents(folder).map(one => join(one, 'package.json')).find(existsSync)
  if (file !== undefined) return /"type"\s*:\s*"(\w+)"/.exec(readFileSync(file, 'utf8'))?.[1]
}

/**
 * Let what a file exports listen, if it is an app, an http.Server or a function.
 *
 * @param {number} port
 * @param {*} exported
 * @throws {TypeError} for a function that can respond to no request, such as `app.fetch` or one that makes an app
 */
function listenOn (port, exported) {
  if (typeof exported?.listen === 'function') return exported.listen(port)
  if (typeof exported !== 'function') return
  if (/^(?:bound )?fetch$/.test(exported.name) && !NODES_PARAMETERS.test(sourceOf(exported))) {
    throw new TypeError('it exports app.fetch, which takes a Request, not (req, res): export the app (kone/docs/api/command.md)')
  }
  if (!takesResponse(exported)) {
    throw new TypeError('it exports a function without (req, res): export the app, not what makes it (kone/docs/api/command.md)')
  }
  http.createServer(exported).listen(port)
}

/** `app.fetch` of kone and others takes (request, info), (request, env) or the like. */
const NODES_PARAMETERS = /^[^(]*\(\s*req(?:uest)?\s*,\s*res(?:ponse)?\b/

function sourceOf (fn) {
  return Function.prototype.toString.call(fn)
}

/** Of a function that takes any number of arguments, or is bound, the length says nothing. */
function takesResponse (fn) {
  const source = sourceOf(fn)
  return !/^class\b/.test(source) && (fn.length > 1 || /\.\.\.|\barguments\b|\[native code\]/.test(source))
}

/** Is it something that listenOn() lets listen? */
function canListen (exported) {
  return typeof exported?.listen === 'function' || typeof exported === 'function'
}

module.exports = { canListen, load, listenOn }
