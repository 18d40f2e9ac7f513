'use strict'

const http = require('node:http')
const { pathToFileURL } = require('node:url')

/**
 * Load an app's file: CommonJS, an ES module, or TypeScript where node or a hook strips types.
 *
 * @param {string} file absolute path
 * @return {Promise<*>} what it exports; the default export of an ES module
 */
async function load (file) {
  const exported = await read(require.resolve(file))
  const isModule = exported?.__esModule || exported?.[Symbol.toStringTag] === 'Module'
  return isModule ? exported.default : exported
}

async function read (path) {
  if (/\.m?ts$/.test(path)) return import(pathToFileURL(path)) // hooks of command/esbuild.mjs are for import()
  try {
    return require(path)
  } catch (err) {
    if (err?.code !== 'ERR_REQUIRE_ESM' && err?.code !== 'ERR_REQUIRE_ASYNC_MODULE') throw err
    return import(pathToFileURL(path))
  }
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

module.exports = { load, listenOn }
