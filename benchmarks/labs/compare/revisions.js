'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { execFileSync } = require('node:child_process')
const { OptionError } = require('../../lib/run/options')
const { root } = require('../../lib/servers/kone')

/**
 * The two sides of a comparison.
 *
 *    sides('main~1')    // { before: 'main~1', after: null }, where null is the checkout as it is
 *    sides('v1.0..v2')  // { before: 'v1.0', after: 'v2' }
 */
exports.sides = function (ref) {
  const [, before, after] = /^(.*?)(?:\.\.(.*))?$/s.exec(ref)
  return { before, after: after || null }
}

/**
 * kone as it was, unpacked into folders of its own that share the checkout's node_modules. The checkout is only
 * read, so that one can go on working in it.
 */
exports.folders = function () {
  const base = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-compare-'))

  /** One side: its folder, its version, and its dependencies as text. */
  function add (name, revision) {
    const commit = revision === null ? null : commitOf(revision)
    const folder = path.join(base, name)
    fs.mkdirSync(folder)
    if (commit) unpack(commit, folder)
    else for (const part of ['lib', 'middleware', 'package.json']) copy(part, folder)
    fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))

    const { version, dependencies = {} } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'))
    const which = commit ? `${revision}, ${commit.slice(0, 7)}` : 'the checkout'
    return { root: folder, version: `${version} (${which})`, dependencies: JSON.stringify(dependencies) }
  }

  return { add, remove: () => fs.rmSync(base, { recursive: true, force: true }) }
}

function commitOf (revision) {
  try {
    return git('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`).trim()
  } catch (err) {
    if (err.code === 'ENOENT') throw new OptionError('compare: git is missing: apt-get install git')
    throw new OptionError(`compare: ${revision} is no revision of ${root}: expected a branch, a tag or a commit`)
  }
}

function unpack (commit, folder) {
  const archive = `${folder}.tar`
  git('archive', '--format=tar', '-o', archive, commit)
  execFileSync('tar', ['-xf', archive, '-C', folder])
  fs.rmSync(archive)
}

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

const copy = (part, folder) => fs.cpSync(path.join(root, part), path.join(folder, part), { recursive: true })
