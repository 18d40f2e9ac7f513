'use strict'

const { existsSync, readFileSync } = require('node:fs')
const http = require('node:http')
const { dirname, join } = require('node:path')
const { pathToFileURL } = require('node:url')
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
  return exported?.__esModule || exported?.[Symbol.toStringTag] === 'Module' ? exported.default : exported
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
  const file = join(folder, 'package.json')
  if (existsSync(file)) return /"type"\s*:\s*"(\w+)"/.exec(readFileSync(file, 'utf8'))?.[1]
  return folder === dirname(folder) ? undefined : typeOf(dirname(folder))
}

/**
 * Let what a file exports listen, if it is an app, an http.Server or a function.
 *
 * @param {number} port
 * @param {*} exported
 */
function listenOn (port, exported) {
  if (typeof exported?.listen === 'function') exported.listen(port)
  else if (typeof exported === 'function') http.createServer(exported).listen(port)
}

/** Is it something that listenOn() lets listen? */
function canListen (exported) {
  return typeof exported?.listen === 'function' || typeof exported === 'function'
}

module.exports = { canListen, load, listenOn }
