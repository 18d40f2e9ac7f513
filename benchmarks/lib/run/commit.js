'use strict'

const { execFileSync } = require('node:child_process')
const { root } = require('../servers/kone')

// What a figure of kone depends on: not its documents.
const MEASURED = ['lib', 'middleware', 'package.json', ':(exclude,glob)**/*.md']

/** The commit that is measured. */
exports.commit = function () {
  const hash = git('rev-parse', 'HEAD')
  return hash === null ? null : { hash, dirty: git('status', '--porcelain', '--', ...MEASURED) !== '' }
}

/**
 * How many commits have changed kone's code since a commit; null where that is not known. Documents in lib/ do not count:
 * they cost nothing.
 */
exports.commitsSince = function (hash) {
  const said = git('rev-list', '--count', '--end-of-options', `${hash}..HEAD`, '--', ':(glob)lib/**/*.js')
  return said === null ? null : Number(said)
}

function git (...args) {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return null
  }
}
