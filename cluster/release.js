'use strict'

const { realpathSync } = require('node:fs')
const { basename, dirname, join, relative, resolve } = require('node:path')

/**
 * The files of an app by the paths as they were given. Where a symbolic link leads to the release (`current` →
 * `releases/2`), process.cwd() and __dirname know only where it leads now, and the next workers must follow it anew.
 */

/** The folder where the command was given, as the shell names it. */
function cwd () {
  const { PWD } = process.env
  return PWD !== undefined && isSame(resolve(PWD), process.cwd()) ? resolve(PWD) : process.cwd()
}

/**
 * @param {string} file as it was given
 * @param {string} worker the file of a worker
 * @return {{ app: string, cwd: string, worker: string }} absolute paths
 */
function releaseOf (file, worker) {
  const folder = cwd()
  const app = resolve(folder, file)
  const [link, target] = linkIn(app)
  const throughLink = path => {
    const given = join(link, relative(target, path))
    return isSame(given, path) ? given : path
  }
  return { app, cwd: folder === process.cwd() ? throughLink(folder) : folder, worker: throughLink(worker) }
}

/** `/srv/current/app.js` → `/srv/current` and `/srv/releases/1`. Both are one folder if there is no link. */
function linkIn (path) {
  let link = path
  let target = real(path) ?? join(real(dirname(path)) ?? dirname(path), basename(path)) // it may lack its extension
  while (link !== target && basename(link) === basename(target)) {
    link = dirname(link)
    target = dirname(target)
  }
  return [link, target]
}

function isSame (path, other) {
  const place = real(path)
  return place !== undefined && place === real(other)
}

function real (path) {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

module.exports = { cwd, releaseOf }
