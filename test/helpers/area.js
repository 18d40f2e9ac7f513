'use strict'

const { execFileSync } = require('node:child_process')
const { existsSync, mkdirSync, rmSync, statSync, utimesSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')

const INSTALL_TIMEOUT = 240_000 // ms

/**
 * The packages of a folder of tests that has a package.json and a lock of its own, because they are
 * too heavy for everybody who installs the checkout. Installed when they are first needed, and again when
 * the lock is newer.
 *
 *    const area = install('bundlers')
 *    area.require('esbuild')
 */
exports.install = function (name) {
  const folder = join(__dirname, '..', name)
  const modules = join(folder, 'node_modules')
  const lock = join(folder, 'package-lock.json')
  const stamp = join(modules, '.package-lock.json') // what npm writes last
  const isInstalled = () => existsSync(stamp) && statSync(stamp).mtimeMs >= statSync(lock).mtimeMs
  if (!isInstalled()) {
    exports.alone(join(folder, 'node_modules.lock'), () => {
      if (!isInstalled()) ci(folder, stamp)
    })
  }
  return {
    folder,
    require: createRequire(join(folder, 'package.json')),
    bin: program => join(modules, '.bin', program)
  }
}

function ci (folder, stamp) {
  execFileSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: INSTALL_TIMEOUT
  })
  const now = new Date()
  utimesSync(stamp, now, now)
}

/** Test files run beside each other: one of them installs, the others wait. A lock that was left behind expires. */
exports.alone = function alone (lock, fn) {
  for (;;) {
    try {
      mkdirSync(lock)
      break
    } catch (err) {
      if (err.code !== 'EEXIST') throw err
      const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
      if (age > INSTALL_TIMEOUT) rmSync(lock, { recursive: true, force: true })
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
    }
  }
  try {
    fn()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}
