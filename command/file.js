'use strict'

const fs = require('node:fs')
const path = require('node:path')

const STRIP = '--experimental-strip-types'

/**
 * Check an app's file before anything is started.
 *
 *    checkFile('app.ts') // { path: '/home/ada/app.ts', flags: [] }
 *
 * @param {String} file
 * @return {{ path: String, flags: String[] }} flags that node needs to run it
 * @throws {Error} if there is no such file, or it is TypeScript and this Node does not run that
 */
exports.checkFile = function (file) {
  const found = resolve(path.resolve(file))
  if (found === undefined) throw new Error(`there is no file ${file}`)
  if (!/\.[cm]?ts$/.test(found) || process.features.typescript) return { path: found, flags: [] }
  if (process.allowedNodeEnvironmentFlags.has(STRIP)) return { path: found, flags: [STRIP] }
  throw new Error(`${file} is TypeScript, which Node ${process.versions.node} does not run: ` +
    'compile it, or use Node 22.6 or later')
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
