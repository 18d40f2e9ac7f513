'use strict'

const { execFile, execFileSync } = require('node:child_process')
const { existsSync, mkdirSync, rmSync, statSync, utimesSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')
const { promisify } = require('node:util')

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
  const folder = placeOf(name)
  if (!isInstalled(folder)) {
    exports.alone(join(folder, 'node_modules.lock'), () => {
      if (isInstalled(folder)) return
      execFileSync('npm', ['ci', ...QUIETLY], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], timeout: INSTALL_TIMEOUT })
      stamp(folder)
    })
  }
  return {
    folder,
    require: createRequire(join(folder, 'package.json')),
    bin: program => join(folder, 'node_modules', '.bin', program)
  }
}

/**
 * The same of several, before the tests: beside each other, because npm waits more than it computes.
 *
 *    await installAll(['..', 'packages']) // the checkout, and test/packages
 */
exports.installAll = function (names) {
  return Promise.all(names.map(placeOf).filter(folder => !isInstalled(folder)).map(async folder => {
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', ...QUIETLY], { cwd: folder, timeout: INSTALL_TIMEOUT })
    stamp(folder)
  }))
}

const QUIETLY = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']

const placeOf = name => join(__dirname, '..', name)

/** What npm writes last. */
const written = folder => join(folder, 'node_modules', '.package-lock.json')

const isInstalled = folder => existsSync(written(folder)) &&
  statSync(written(folder)).mtimeMs >= statSync(join(folder, 'package-lock.json')).mtimeMs

/** Make looks at the folder. */
function stamp (folder) {
  const now = new Date()
  for (const path of [written(folder), join(folder, 'node_modules')]) utimesSync(path, now, now)
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
