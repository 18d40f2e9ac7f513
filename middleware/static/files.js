'use strict'

const { now } = require('../../lib/shared/timers')
const Cache = require('./cache')
const { Disk } = require('./disk')
const { Lookup, NOTHING } = require('./lookup')
const canonical = require('./path')

const { folderOf } = Cache

/**
 * The files of a directory, by the path of a request.
 *
 *     known(path)   an entry, NOTHING where there are no files; undefined: call look(path)
 *     look(path)    a promise of an entry
 *     open(file)    a promise of a descriptor
 */
module.exports = class Files {
  /**
   * @param {string} root
   * @param {object} options of static, with `encodings`
   */
  constructor (root, options) {
    this.cache = new Cache(options)
    this.disk = new Disk(root, options)
    this.lookup = new Lookup(this.disk, options)
    this.looking = new Map() // path to promise
  }

  known (path) {
    const wanted = decoded(path)
    return wanted === undefined ? undefined : this.cache.get(wanted)
  }

  forget (path) {
    this.cache.forget(canonical(path))
  }

  open (file, strictly) {
    return this.disk.open(file, strictly)
  }

  async look (path) {
    const wanted = canonical(path)
    if (wanted === undefined) return NOTHING

    let looking = this.looking.get(wanted)
    if (looking === undefined) {
      looking = this.lookNow(wanted).finally(() => this.looking.delete(wanted))
      this.looking.set(wanted, looking)
    }
    return looking
  }

  async lookNow (wanted) {
    const since = now()
    const entry = await this.lookup.find(wanted, this.cache.last(wanted))
    this.cache.forget(wanted)
    if (entry !== NOTHING) this.cache.keep(wanted, entry, since)
    else await this.keepMissing(wanted, since)
    return entry
  }

  async keepMissing (wanted, since) {
    const folder = folderOf(wanted)
    const isEmpty = folder !== undefined && await this.disk.isMissing(folder)
    if (isEmpty) this.cache.keepEmpty(folder, since)
    else this.cache.keepMissing(wanted, since)
  }
}

/** The path that entries are kept by: `/%c3%a9` and `/%C3%A9` are one. Undefined: look(path) throws or finds none. */
function decoded (path) {
  if (!path.includes('%')) return path
  try {
    return canonical(path)
  } catch {}
}
