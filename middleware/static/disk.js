'use strict'

const { isAscii } = require('buffer')
const { createHash } = require('crypto')
const fs = require('fs')
const path = require('path')
const { promisify } = require('util')
const mime = require('mime-types')
const { currentDate } = require('../../lib/shared/timers')
const { tagOf, versionOf } = require('./tags')

const { readdir, realpath, stat } = fs.promises
const openFile = promisify(fs.open)
const fstat = promisify(fs.fstat)
const readFile = promisify(fs.read) // resolves to { bytesRead, buffer }
const closeFile = promisify(fs.close)

// ms; a file system's clock may be as coarse, so a younger change can hide behind an older one
const CLOCK_TICK = 2000
const OLDEST = Date.UTC(1990, 0, 1) // ms; before it lie the times that reproducible builds give to all files
const MAX_TEXT = 16384 // bytes; copying more into one piece with the headers costs more than it saves

// without O_NONBLOCK a pipe that nobody writes to would keep open() waiting
const READ = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0)
const NO_FILE = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ENXIO', 'EINVAL'])
const ATTEMPTS = 3

const FILE = 'file'
const DIRECTORY = 'directory'
const MISSING = 'missing'
const MOVED = 'moved'

/**
 * The files below one directory, and nothing outside of it, whatever links lead there. What is at a path:
 *
 *     { kind: FILE, file }
 *     { kind: DIRECTORY }
 *     { kind: MISSING }     or not to be served
 *     { kind: MOVED }       another file by now: look again
 *
 *     file { name, encoding, stats, size, type, etag, lastModified: or '', body: Buffer or null,
 *            text: the same as a string, where that is as good, or '', … }
 */
class Disk {
  /**
   * @param {string} root
   * @param {{ hidden: boolean, etag: boolean, cacheFileSize: number }} options cacheFileSize: bytes of the largest file
   *   that is read into memory
   */
  constructor (root, { hidden, etag, cacheFileSize }) {
    this.root = root
    this.hidden = hidden
    this.hasTags = etag
    this.cacheFileSize = cacheFileSize
  }

  /**
   * @param {string} wanted canonical path
   * @param {string} suffix of the encoded variant
   * @param {string} encoding
   * @param {{ files: object[] }} last seen before: a file that has not changed is not read again
   * @return {Promise<{ kind: string, file?: object }>}
   */
  async read (wanted, suffix, encoding, last) {
    for (let i = 0; i < ATTEMPTS; i++) {
      const found = await this.readOnce(path.join(this.root, wanted), suffix, encoding, last)
      if (found.kind !== MOVED) return found
    }
    return { kind: MISSING }
  }

  async readOnce (plainName, suffix, encoding, last) {
    const name = plainName + suffix
    const now = currentDate().getTime()
    const { kind, fd } = await open(name)
    if (kind !== FILE) return { kind }

    try {
      const stats = await fstat(fd)
      if (stats.isDirectory()) return { kind: DIRECTORY }
      if (!stats.isFile()) return { kind: MISSING }
      const place = await this.placeOf(name, stats)
      if (place !== FILE) return { kind: place }

      const isLarge = stats.size > this.cacheFileSize
      const isOld = now - stats.ctimeMs > CLOCK_TICK
      let file = last.files.find(file => file.name === name)
      if (file === undefined || !isSame(file.stats, stats) || !(isLarge || file.readAt - stats.ctimeMs > CLOCK_TICK)) {
        const body = isLarge ? null : await readWhole(fd, stats.size)
        if (body === undefined) return { kind: MOVED }
        file = new File(name, plainName, encoding, stats, body, now)
      }
      if (isLarge && isOld && this.hasTags) file.tag.find(() => this.open(file, true))
      return { kind: FILE, file }
    } finally {
      await closeFile(fd)
    }
  }

  /**
   * Is the opened file below the root? The path is resolved after the file was opened, and must lead to the
   * same file: otherwise a link could be put there in between.
   */
  async placeOf (name, stats) {
    const [root, real] = await Promise.all([realpath(this.root), realpath(name)]).catch(() => [])
    const there = real && await stat(real).catch(() => undefined)
    if (!there || !isIdentical(there, stats)) return MOVED

    const expected = path.join(root, name.slice(this.root.length))
    if (real === expected) return FILE
    const inside = root.endsWith(path.sep) ? root : root + path.sep
    if (!real.startsWith(inside)) return MISSING
    if (!this.hidden && real.includes(`${path.sep}.`, root.length)) return MISSING
    return isSpelledSo(root, expected).then(isSo => isSo ? FILE : MISSING, () => MOVED)
  }

  /** Whether there is not even a directory. */
  isMissing (wanted) {
    return stat(path.join(this.root, wanted)).then(() => false, err => err.code === 'ENOENT')
  }

  /**
   * @param {object} file
   * @param {boolean} strictly not even its content may be another
   * @return {Promise<{ kind: string, fd?: number }>} a descriptor, or MOVED when it is another file by now
   */
  async open (file, strictly) {
    const { kind, fd } = await open(file.name)
    if (kind !== FILE) return { kind: MOVED }
    try {
      const stats = await fstat(fd)
      if (strictly ? isSame(stats, file.stats) : isIdentical(stats, file.stats)) return { kind: FILE, fd }
    } catch (err) {
      await closeFile(fd)
      throw err
    }
    await closeFile(fd)
    return { kind: MOVED }
  }
}

/**
 * Whether every part of a path is named as on the disk. By a second spelling a file, or a link to it, would get past a
 * guard: file systems may ignore case, also of `ſ`, take a character and its parts for the same, or have short names.
 */
async function isSpelledSo (root, name) {
  let folder = root
  for (const part of path.relative(root, name).split(path.sep)) {
    const there = path.join(folder, part)
    const real = await realpath(there)
    if (real !== there && !(await readdir(folder)).includes(part)) return false
    folder = real
  }
  return true
}

async function open (name) {
  try {
    return { kind: FILE, fd: await openFile(name, READ) }
  } catch (err) {
    if (err.code === 'EISDIR') return { kind: DIRECTORY }
    if (NO_FILE.has(err.code)) return { kind: MISSING }
    err.status = 500 // Koa would respond 404 for some codes
    throw err
  }
}

class File {
  constructor (name, plainName, encoding, stats, body, readAt) {
    const { size, mtimeMs } = stats
    const modified = Math.floor(mtimeMs / 1000) * 1000 // dates of HTTP have whole seconds
    const isPlausible = modified >= OLDEST && modified <= readAt
    this.name = name
    this.encoding = encoding
    this.stats = stats
    this.size = size
    this.body = body
    this.text = body !== null && size <= MAX_TEXT && isAscii(body) ? body.latin1Slice() : ''
    this.readAt = readAt
    this.type = mime.contentType(path.extname(plainName)) || 'application/octet-stream'
    this.ownTag = body === null ? '' : this.quote(versionOf(createHash('sha256').update(body)))
    this.tag = body === null ? tagOf(stats) : null
    this.modified = isPlausible ? modified : NaN
    this.lastModified = isPlausible ? stats.mtime.toUTCString() : ''
  }

  get etag () { return this.ownTag || this.quote(this.tag.version || this.tag.early) }

  /** What clients may still have of the same bytes, or ''. */
  get formerTag () { return this.ownTag || this.tag.version === '' ? '' : this.quote(this.tag.early) }

  quote (version) {
    return this.encoding === 'identity' ? `"${version}"` : `"${version}-${this.encoding}"`
  }
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

module.exports = { Disk, FILE, DIRECTORY, MISSING, MOVED }
