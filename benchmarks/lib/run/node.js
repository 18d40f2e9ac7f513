'use strict'

const { execFileSync } = require('node:child_process')
const { binary } = require('../servers/binaries')
const { OptionError } = require('./options')

/**
 * The binary that `--node` names: a file, or the newest of a version, which is downloaded where it is missing.
 *
 *    await nodeBinary('26') // '/home/ada/.cache/kone/node/26.10.0/node'
 */
exports.nodeBinary = async function (text) {
  if (!/^\d+(\.\d+){0,2}$/.test(text)) return text
  if (text === process.versions.node || text === process.versions.node.split('.')[0]) return process.execPath
  try {
    return (await binary(text)).file
  } catch (err) {
    throw new OptionError(`--node ${text}: ${err.message}`)
  }
}

/** The version of a Node binary: 'v20.20.2'. */
exports.nodeVersion = function (binary) {
  if (binary === process.execPath) return process.version
  try {
    const version = execFileSync(binary, ['-v'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    if (/^v\d+\.\d+\.\d+/.test(version)) return version
  } catch {}
  throw new OptionError(`--node must be a major version or a binary that runs here, as 26, not ${binary}`)
}
