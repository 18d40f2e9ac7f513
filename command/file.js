'use strict'

const fs = require('node:fs')
const nodeModule = require('node:module')
const path = require('node:path')
const { pathToFileURL } = require('node:url')

const STRIP = '--experimental-strip-types'

/**
 * Check an app's file before anything is started.
 *
 *    checkFile('app.ts') // { path: '/home/ada/app.ts', flags: [] }
 *
 * @param {string} file
 * @param {{ transpile?: boolean }} [options] whether the project's own tsx or esbuild may do what this
 *   Node cannot
 * @return {{ path: string, flags: string[] }} flags that node needs to run it
 * @throws {Error} if there is no such file, or it is TypeScript and nothing here runs that
 */
exports.checkFile = function (file, { transpile = false } = {}) {
  const found = resolve(path.resolve(file))
  if (found === undefined) throw new Error(`there is no file ${file}: name the one that makes the app (kone/docs/api/command.md)`)
  if (!/\.[cm]?ts$/.test(found) || process.features.typescript) return { path: found, flags: [] }
  if (process.allowedNodeEnvironmentFlags.has(STRIP)) return { path: found, flags: [STRIP] }
  const tsx = transpile && resolvedFrom(found, 'tsx')
  if (tsx) return { path: found, flags: ['--import', pathToFileURL(tsx).href] }
  const esbuild = transpile && resolvedFrom(found, 'esbuild')
  if (esbuild) {
    process.env.KONE_ESBUILD = esbuild
    const hooks = pathToFileURL(path.join(__dirname, 'esbuild.mjs')).href
    return { path: found, flags: ['--enable-source-maps', '--import', hooks] }
  }
  const remedy = transpile
    ? 'install esbuild or tsx in the project, use Node 22.18 or later, or compile it'
    : 'compile it, or use Node 22.18 or later'
  throw new Error(`${file} is TypeScript, which Node ${process.versions.node} does not run: ${remedy} (kone/docs/api/command.md)`)
}

function resolvedFrom (file, name) {
  try {
    return nodeModule.createRequire(file).resolve(name)
  } catch {
    return undefined
  }
}

// As require() finds it: also a folder, and a name without its extension.
function resolve (file) {
  if (fs.existsSync(file) && fs.statSync(file).isFile()) return file
  try {
    return require.resolve(file)
  } catch {
    return undefined
  }
}
