'use strict'

const { spawnSync } = require('node:child_process')
const { accessSync, constants } = require('node:fs')
const { delimiter, join } = require('node:path')

// Program → the Debian package that brings it. test/run.js installs what is missing where it may.
const PACKAGES = {
  'redis-server': 'redis-server',
  chromium: 'chromium',
  ip: 'iproute2',
  nginx: 'nginx',
  'systemd-analyze': 'systemd',
  python3: 'python3-venv',
  curl: 'curl',
  go: 'golang-go',
  javac: 'default-jdk-headless',
  ruby: 'ruby'
}

/** Of these, what only `make test-all` needs. */
const LONG = ['curl', 'go', 'javac', 'ruby']

// What a program must be able to do, where being there is not enough: Debian's python3 makes no venv by itself.
const PROBES = { python3: ['-c', 'import ensurepip'] }

/**
 * Where a program is that npm cannot bring.
 *
 *    const redis = need('redis-server')
 *    it('should …', { skip: missing('redis-server') }, …)
 */
function need (program) {
  const found = which(program)
  if (!found && process.env.CI === 'true') throw new Error(`${missingLine(program)} (a skip for that fails in CI)`)
  return found
}

/** The `skip` option of a test that needs `program`: false, or the line that says how to get it. */
function missing (program) {
  return need(program) ? false : missingLine(program)
}

function missingLine (program) {
  return `${program} is missing: apt-get install ${PACKAGES[program] || program}`
}

function which (program) {
  for (const folder of process.env.PATH.split(delimiter).concat('/usr/sbin', '/usr/local/sbin')) {
    const path = join(folder, program)
    try {
      accessSync(path, constants.X_OK)
      if (isAble(program, path)) return path
    } catch {}
  }
  return null
}

function isAble (program, path) {
  return !PROBES[program] || spawnSync(path, PROBES[program]).status === 0
}

module.exports = { LONG, PACKAGES, need, missing, which }
