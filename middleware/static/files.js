'use strict'

const Cache = require('./cache')
const { Disk } = require('./disk')
const { Lookup, NOTHING } = require('./lookup')
const canonical = require('./path')

const { firstSegment } = Cache

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
    return this.cache.get(path)
  }

  forget (path) {
    this.cache.forget(path)
  }

  open (file, strictly) {
    return this.disk.open(file, strictly)
  }

  look (path) {
    let looking = this.looking.get(path)
    if (looking === undefined) {
      looking = this.lookNow(path).finally(() => this.looking.delete(path))
      this.looking.set(path, looking)
    }
    return looking
  }

  async lookNow (path) {
    const wanted = canonical(path)
    if (wanted === undefined) return NOTHING

    const since = performance.now()
    const entry = await this.lookup.find(wanted, this.cache.last(path))
    this.cache.forget(path)
    if (entry !== NOTHING) this.cache.keep(path, entry, since)
    else await this.keepMissing(path, since)
    return entry
  }

  async keepMissing (path, since) {
    const first = firstSegment(path)
    const isEmpty = first !== path && await this.disk.isMissing(canonical(first))
    if (isEmpty) this.cache.keepEmpty(first, since)
    else this.cache.keepMissing(path, since)
  }
}
