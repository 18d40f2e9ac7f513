'use strict'

const fs = require('fs')
const path = require('path')
const nunjucks = require('nunjucks')
const { manual } = require('../_shared/usage-error')

/** Loads files of one directory. FileSystemLoader also loads those of a directory `<root>-other` beside it. */
module.exports = class Views extends nunjucks.Loader {
  constructor (root) {
    super()
    this.root = root
    this.inside = root.endsWith(path.sep) ? root : root + path.sep
    this.stamps = new Map()
  }

  /**
   * `user` is the file user, or user/index.html, or user.html.
   *
   * @return {string} absolute path
   */
  find (view, extension) {
    for (const name of [view, path.join(view, `index.${extension}`), `${view}.${extension}`]) {
      const file = path.resolve(this.root, name)
      if (!file.startsWith(this.inside)) continue
      if (fs.statSync(file, { throwIfNoEntry: false })?.isFile()) return file
    }
    throw new Error(`template: there is no view ${view} in ${this.root} (${manual('template')})`)
  }

  getSource (name) {
    const file = path.resolve(this.root, name)
    if (!file.startsWith(this.inside)) return null
    const stamp = stampOf(file)
    if (stamp === undefined) return null

    this.stamps.set(file, stamp)
    return { src: fs.readFileSync(file, 'utf8').replace(/^\uFEFF/, ''), path: file, noCache: false }
  }

  /** Has a file changed since it was read? */
  changed () {
    for (const [file, stamp] of this.stamps) {
      if (stampOf(file) === stamp) continue
      this.stamps.clear()
      return true
    }
    return false
  }
}

function stampOf (file) {
  const stats = fs.statSync(file, { throwIfNoEntry: false })
  if (stats?.isFile()) return `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`
}
