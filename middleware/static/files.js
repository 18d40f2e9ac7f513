'use strict'

const { isAscii } = require('node:buffer')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { promisify } = require('node:util')
const mime = require('mime-types')
const canonical = require('./path')

const { realpath, stat } = fs.promises
const openFile = promisify(fs.open)
const fstat = promisify(fs.fstat)
const readFile = promisify(fs.read) // resolves to { bytesRead, buffer }
const closeFile = promisify(fs.close)

// ms for which what was seen on disk is taken to be so; with a look's own time well below 1 s
const FRESH = 500
// ms; a file system's clock may be as coarse, so a younger change can hide behind an older one
const CLOCK_TICK = 2000
const MAX_KNOWN_MISSING = 1000
const MAX_MISSING_PATH = 256 // characters
const WEIGHT = 1024 // bytes that an entry is reckoned to take beside its files
const MAX_TEXT = 16384 // bytes; copying more into one piece with the head costs more than it saves

// without O_NONBLOCK a pipe that nobody writes to would keep open() waiting
const READ = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0)
const NO_FILE = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ENXIO', 'EINVAL'])
const DIRECTORY = Symbol('directory')
const MOVED = Symbol('moved')
const ATTEMPTS = 3

/**
 * What a directory holds, by the path of a request. Small files are kept in memory, up to a limit
 * in bytes; nothing is believed for longer than FRESH.
 *
 *     known(path)   an entry; null where there is none; undefined: ask look(path)
 *     look(path)    a promise of an entry or null
 *     open(file)    a promise of a descriptor, undefined when the file is another by now
 *
 *     entry { files, offered: ['br', …, 'identity'], plain: the file if there is no other, … }
 *     file  { name, encoding, stats, size, type, etag, lastModified, body: Buffer or null,
 *             text: the same as a string, where that is as good, or '', … }
 */
module.exports = class Files {
  constructor (root, options) {
    this.root = root
    this.options = options
    this.fresh = options.dev ? 0 : FRESH
    this.entries = new Map() // the one looked at longest ago first
    this.missing = new Map() // path to when that was seen
    this.empty = new Map() // first segment of paths below which there is nothing, to when
    this.looking = new Map() // path to promise
    this.bytes = 0
  }

  known (path) {
    const entry = this.entries.get(path)
    if (entry !== undefined) return this.isFresh(entry.since) ? entry : undefined
    if (this.missing.size > 0 && this.isFresh(this.missing.get(path))) return null
    if (this.empty.size > 0 && this.isFresh(this.empty.get(firstSegment(path)))) return null
  }

  isFresh (since) {
    return performance.now() - since < this.fresh
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
    if (wanted === undefined) return null

    const since = performance.now()
    const entry = await this.find(wanted, this.entries.get(path))
    this.forget(path)
    if (entry === null) await this.rememberMissing(path, since)
    else this.remember(path, entry, since)
    return entry
  }

  remember (path, entry, since) {
    entry.since = since
    entry.weight = WEIGHT + path.length
    for (const file of entry.files) entry.weight += file.body === null ? 0 : file.size
    if (entry.weight > this.options.cacheSize) return

    this.entries.set(own(path), entry)
    this.bytes += entry.weight
    for (const oldest of this.entries.keys()) {
      if (this.bytes <= this.options.cacheSize) break
      this.forget(oldest)
    }
  }

  forget (path) {
    const entry = this.entries.get(path)
    if (entry === undefined) return
    this.entries.delete(path)
    this.bytes -= entry.weight
  }

  /** Where a path's first directory is missing, so is all below it: an API's paths, say. */
  async rememberMissing (path, since) {
    const first = firstSegment(path)
    const isEmpty = first !== path &&
      await stat(this.nameOf(canonical(first))).then(() => false, err => err.code === 'ENOENT')
    const [map, key] = isEmpty ? [this.empty, first] : [this.missing, path]
    if (key.length > MAX_MISSING_PATH) return

    if (map.size === MAX_KNOWN_MISSING) map.clear()
    map.set(own(key), since)
  }

  /** koa-send's order: the index of `x/`, then x.html for x, then x, then the index of x. */
  async find (wanted, before) {
    const { index, format, hidden, extensions } = this.options
    if (!hidden && wanted.includes('/.')) return null
    if (wanted.endsWith('/')) return index ? this.fileAt(wanted + index, before) : null

    if (!wanted.includes('.', wanted.lastIndexOf('/'))) {
      for (const extension of extensions) {
        const entry = await this.fileAt(wanted + extension, before)
        if (entry !== null) return entry
      }
    }
    const entry = await this.entryAt(wanted, before)
    if (entry !== DIRECTORY) return entry
    return format && index ? this.fileAt(`${wanted}/${index}`, before) : null
  }

  async fileAt (wanted, before) {
    const entry = await this.entryAt(wanted, before)
    return entry === DIRECTORY ? null : entry
  }

  async entryAt (wanted, before) {
    const name = this.nameOf(wanted)
    const plain = await this.inspect(name, 'identity', before)
    if (plain === DIRECTORY) return DIRECTORY

    const encoded = await Promise.all(this.options.encodings.map(
      encoding => this.inspect(name, encoding, before)))
    const files = [...encoded, plain].filter(file => file !== null && file !== DIRECTORY)
    if (files.length === 0) return null
    const isPlain = files.length === 1 && files[0] === plain
    return {
      files,
      offered: files.map(file => file.encoding),
      plain: isPlain ? plain : undefined,
      since: 0,
      weight: 0
    }
  }

  nameOf (wanted) {
    return path.join(this.root, wanted)
  }

  async inspect (name, encoding, before) {
    for (let i = 0; i < ATTEMPTS; i++) {
      const file = await this.inspectOnce(name, encoding, before)
      if (file !== MOVED) return file
    }
    return null
  }

  async inspectOnce (plainName, encoding, before) {
    const name = plainName + SUFFIXES[encoding]
    const now = Date.now()
    const fd = await openFile(name, READ).catch(orElse({ EISDIR: DIRECTORY }))
    if (typeof fd !== 'number') return fd

    try {
      const stats = await fstat(fd)
      if (stats.isDirectory()) return DIRECTORY
      if (!stats.isFile()) return null
      const refusal = await this.check(name, stats)
      if (refusal !== undefined) return refusal

      const last = before?.files.find(file => file.name === name)
      if (last && isSame(last.stats, stats) && last.readAt - stats.ctimeMs > CLOCK_TICK) return last

      const body = stats.size > this.options.cacheFileSize ? null : await readWhole(fd, stats.size)
      if (body === undefined) return MOVED
      return describe(name, plainName, encoding, stats, body, now)
    } finally {
      await closeFile(fd)
    }
  }

  /**
   * Whether what was opened lies below the root. The path is asked after the file was opened and
   * must lead to the same file, so that no link can be put there in between.
   */
  async check (name, stats) {
    const [root, real] = await Promise.all([realpath(this.root), realpath(name)]).catch(() => [])
    const there = real && await stat(real).catch(() => undefined)
    if (!there || !isIdentical(there, stats)) return MOVED

    const expected = path.join(root, name.slice(this.root.length))
    if (real === expected) return
    const inside = root.endsWith(path.sep) ? root : root + path.sep
    if (!real.startsWith(inside)) return null
    if (!this.options.hidden && real.includes(`${path.sep}.`, root.length)) return null
    // a file system that ignores case: the same file by a second spelling
    if (real.toLowerCase() === expected.toLowerCase()) return null
  }

  /**
   * @param {object} file
   * @param {boolean} strictly not even its content may be another
   */
  async open (file, strictly) {
    const fd = await openFile(file.name, READ).catch(orElse({}))
    if (fd === null) return
    try {
      const stats = await fstat(fd)
      if (strictly ? isSame(stats, file.stats) : isIdentical(stats, file.stats)) return fd
    } catch (err) {
      await closeFile(fd)
      throw err
    }
    await closeFile(fd)
  }
}

const SUFFIXES = { br: '.br', zstd: '.zst', gzip: '.gz', identity: '' }

function describe (name, plainName, encoding, stats, body, readAt) {
  const { size, mtimeMs } = stats
  const version = body === null ? `${size.toString(16)}-${Math.round(mtimeMs * 1000).toString(16)}` : hash(body)
  return {
    name,
    encoding,
    stats,
    size,
    body,
    text: body !== null && size <= MAX_TEXT && isAscii(body) ? body.latin1Slice() : '',
    readAt,
    type: mime.contentType(path.extname(plainName)) || 'application/octet-stream',
    etag: encoding === 'identity' ? `"${version}"` : `"${version}-${encoding}"`,
    modified: Math.floor(mtimeMs / 1000) * 1000, // the wire's dates know no more
    lastModified: stats.mtime.toUTCString()
  }
}

function hash (body) {
  return createHash('sha256').update(body).digest('base64url').slice(0, 22)
}

/** @return {Promise<Buffer|undefined>} undefined when there was less than `size` */
async function readWhole (fd, size) {
  const body = Buffer.allocUnsafeSlow(size)
  for (let length = 0; length < size;) {
    const { bytesRead } = await readFile(fd, body, length, size - length, length)
    if (bytesRead === 0) return
    length += bytesRead
  }
  return body
}

function isIdentical (a, b) {
  return a.ino === b.ino && a.dev === b.dev
}

function isSame (a, b) {
  return isIdentical(a, b) && a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs
}

function orElse (values) {
  return err => {
    if (Object.hasOwn(values, err.code)) return values[err.code]
    if (NO_FILE.has(err.code)) return null
    err.status = 500 // Koa would make a 404 of some codes
    throw err
  }
}

function firstSegment (path) {
  const end = path.indexOf('/', 1)
  return end < 0 ? path : path.slice(0, end)
}

/** A copy: a part of a longer string would keep the whole, a connection's read, in memory. */
function own (path) {
  return Buffer.from(path).toString()
}
