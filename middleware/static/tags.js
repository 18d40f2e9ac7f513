'use strict'

const { createHash } = require('crypto')
const fs = require('fs')
const { promisify } = require('util')
const random = require('../_shared/random')

const fstat = promisify(fs.fstat)
const readFile = promisify(fs.read) // resolves to { bytesRead, buffer }
const closeFile = promisify(fs.close)

const START = random(6).toString('base64url') // of this process
const PIECE = 2 ** 18 // bytes that are read at a time
const MAX = 10_000

const tags = new Map() // by what identifies a state of a file
const waiting = new Map() // Tag → how to open its file; the first one is being read

/**
 * The ETag of a file that is not kept in memory. Until its content is read, it is one of this process.
 */
class Tag {
  constructor (stats) {
    this.stats = stats
    this.early = `${stats.size.toString(36)}-${micros(stats.mtimeMs)}-${micros(stats.ctimeMs)}-${START}`
    this.version = '' // of the content
  }

  /**
   * Read the content, in the background: one file after the other.
   *
   * @param {Function} open `() => Promise<{ fd?: number }>`
   */
  async find (open) {
    if (this.version !== '' || waiting.has(this)) return
    waiting.set(this, open)
    if (waiting.size > 1) return
    for (const [tag, open] of waiting) {
      await tag.read(open).catch(() => {}) // a file that cannot be read keeps its tag
      waiting.delete(tag)
    }
  }

  async read (open) {
    const { fd } = await open()
    if (fd === undefined) return
    try {
      const content = createHash('sha256')
      const piece = Buffer.allocUnsafeSlow(PIECE)
      for (let length = PIECE; length > 0;) {
        length = (await readFile(fd, piece, 0, PIECE, null)).bytesRead
        content.update(piece.subarray(0, length))
      }
      const { size, ctimeMs } = await fstat(fd)
      if (size === this.stats.size && ctimeMs === this.stats.ctimeMs) this.version = versionOf(content)
    } finally {
      await closeFile(fd)
    }
  }
}

/** @return {Tag} one for each state of a file, whoever serves it */
function tagOf (stats) {
  const { dev, ino, size, mtimeMs, ctimeMs } = stats
  const key = `${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}`
  let tag = tags.get(key)
  if (tag === undefined) {
    if (tags.size === MAX) tags.delete(tags.keys().next().value)
    tags.set(key, tag = new Tag(stats))
  }
  return tag
}

function micros (ms) {
  return Math.round(ms * 1000).toString(36)
}

function versionOf (hash) {
  return hash.digest('base64url').slice(0, 22)
}

module.exports = { tagOf, versionOf }
