'use strict'

const { spawnSync } = require('node:child_process')
const { existsSync } = require('node:fs')
const { homedir } = require('node:os')
const { join } = require('node:path')
const { which } = require('./programs')

const VERSION = '1.7.12'

/** actionlint, from the PATH or by `go install`, kept outside of the checkout. */
module.exports = function actionlint () {
  const found = which('actionlint')
  if (found) return { path: found }

  const folder = join(process.env.KONE_CACHE || join(homedir(), '.cache', 'kone'), `actionlint-${VERSION}`)
  const path = join(folder, 'actionlint')
  if (existsSync(path)) return { path }
  const line = `actionlint is missing: go install github.com/rhysd/actionlint/cmd/actionlint@v${VERSION}`
  if (!which('go')) return { missing: line }
  const { status } = spawnSync('go', ['install', `github.com/rhysd/actionlint/cmd/actionlint@v${VERSION}`], {
    env: { ...process.env, GOBIN: folder },
    stdio: 'ignore',
    timeout: 240_000
  })
  return status === 0 ? { path } : { missing: line }
}
