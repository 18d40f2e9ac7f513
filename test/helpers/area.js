'use strict'

const { execFileSync } = require('node:child_process')
const { existsSync, statSync, utimesSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')

/**
 * The packages of a folder of tests that has a package.json and a lock of its own, because they are
 * too heavy for everybody who installs the checkout. Installed when they are first needed, and again when
 * the lock is newer.
 *
 *    const area = install('bundlers')
 *    area.require('esbuild')
 *
 * @param {String} name of the folder in test/
 * @return {{ folder: String, require: Function, bin: (name: String) => String }}
 */
exports.install = function (name) {
  const folder = join(__dirname, '..', name)
  const modules = join(folder, 'node_modules')
  const lock = join(folder, 'package-lock.json')
  if (!existsSync(modules) || statSync(modules).mtimeMs < statSync(lock).mtimeMs) {
    execFileSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: 240_000
    })
    const now = new Date()
    utimesSync(modules, now, now)
  }
  return {
    folder,
    require: createRequire(join(folder, 'package.json')),
    bin: program => join(modules, '.bin', program)
  }
}
