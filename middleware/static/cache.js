'use strict'

const { now } = require('../../lib/shared/timers')
const { detach } = require('../../lib/shared/text')
const { NOTHING } = require('./lookup')

// ms that an entry is used before the disk is checked again; changes must show within 1 s
const FRESH = 500
const MAX_MISSING = 1000
const MAX_MISSING_PATH = 256 // characters
const WEIGHT = 1024 // bytes that an entry is estimated to take beside its files

/**
 * Caches the state of the disk by the path of a request: entries up to a limit in bytes, and a limited
 * number of paths without a file. After FRESH a cached state is not used.
 */
module.exports = class Cache {
  /**
   * @param {{ dev: boolean, cacheSize: number }} options dev: always check the disk; cacheSize in bytes
   */
  constructor ({ dev, cacheSize }) {
    this.fresh = dev ? 0 : FRESH
    this.limit = cacheSize
    this.bytes = 0
    this.entries = new Map() // the one that was looked at longest ago first
    this.missing = new Map() // path to when that was seen
    this.empty = new Map() // `/x/` of paths in a folder x that is missing, to when
  }

  /**
   * @param {string} path
   * @return {object|undefined} an entry, NOTHING if it has no files; undefined: look at the disk
   */
  get (path) {
    const entry = this.entries.get(path)
    if (entry !== undefined) return this.isFresh(entry.since) ? entry : undefined
    if (this.missing.size > 0 && this.isFresh(this.missing.get(path))) return NOTHING
    if (this.empty.size > 0 && this.isFresh(this.empty.get(folderOf(path)))) return NOTHING
  }

  /** The last entry of this path, even if it is stale. */
  last (path) {
    return this.entries.get(path) ?? NOTHING
  }

  isFresh (since) {
    return now() - since < this.fresh
  }

  keep (path, entry, since) {
    const weight = WEIGHT + path.length + bytesOf(entry)
    if (weight > this.limit) return
    this.entries.set(detach(path), { ...entry, since, weight })
    this.bytes += weight
    for (const oldest of this.entries.keys()) {
      if (this.bytes <= this.limit) break
      this.forget(oldest)
    }
  }

  forget (path) {
    const entry = this.entries.get(path)
    if (entry === undefined) return
    this.entries.delete(path)
    this.bytes -= entry.weight
  }

  /** Nothing is at this path. */
  keepMissing (path, since) {
    remember(this.missing, path, since)
  }

  /** This folder is missing, and so all that would be in it: the paths of an API, say. `/x` may be a file x.html. */
  keepEmpty (folder, since) {
    remember(this.empty, folder, since)
  }
}

module.exports.folderOf = folderOf

/** `/a/` of `/a/b/c`; undefined for `/a`. */
function folderOf (path) {
  const end = path.indexOf('/', 1)
  return end < 0 ? undefined : path.slice(0, end + 1)
}

function bytesOf ({ files }) {
  let bytes = 0
  for (const file of files) bytes += file.body === null ? 0 : file.size + file.text.length
  return bytes
}

function remember (map, path, since) {
  if (path.length > MAX_MISSING_PATH) return
  if (map.size === MAX_MISSING) map.clear()
  map.set(detach(path), since)
}
