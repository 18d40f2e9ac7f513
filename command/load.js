'use strict'

const { channel } = require('node:diagnostics_channel')
const { pathToFileURL } = require('node:url')

/**
 * Load an app's file, CommonJS or an ES module.
 *
 * @param {String} file absolute path
 * @param {Function} [made] `(app, options)`, called for every Kone app that is made
 * @return {Promise<*>} what it exports
 */
module.exports = async function load (file, made) {
  channel('kone:application').subscribe(({ app, options }) => made(app, options))
  const exported = await read(file)
  const isModule = exported?.__esModule || exported?.[Symbol.toStringTag] === 'Module'
  return isModule ? exported.default : exported
}

async function read (file) {
  if (/\.m?ts$/.test(file)) return import(pathToFileURL(file)) // hooks of esbuild.mjs are for import()
  try {
    return require(file)
  } catch (err) {
    if (err?.code !== 'ERR_REQUIRE_ESM' && err?.code !== 'ERR_REQUIRE_ASYNC_MODULE') throw err
    return import(pathToFileURL(file))
  }
}
