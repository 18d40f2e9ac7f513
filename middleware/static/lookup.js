'use strict'

const { DIRECTORY, FILE } = require('./disk')

const SUFFIXES = { br: '.br', zstd: '.zst', gzip: '.gz', identity: '' }

/** The entry of a path without a file. */
const NOTHING = Object.freeze({ files: [], offered: [], plain: undefined, isFolder: false })

/**
 * Finds the files of a path:
 *
 *     entry { files, offered: ['br', …, 'identity'], plain: the file if there is no other,
 *       isFolder: is it the index of a path without its slash, which redirects }
 */
class Lookup {
  /**
   * @param {object} disk
   * @param {object} options index, format, redirect, hidden, extensions, encodings
   */
  constructor (disk, options) {
    this.disk = disk
    this.options = options
  }

  /**
   * koa-send's order: the index of `x/`, then x.html for x, then x, then the index of x.
   *
   * @param {string} wanted canonical path
   * @param {object} last entry that was seen before, whose files are taken over if they are the same
   * @return {Promise<object>} entry
   */
  async find (wanted, last) {
    const { index, format, redirect, hidden, extensions } = this.options
    if (!hidden && wanted.includes('/.')) return NOTHING
    if (wanted.endsWith('/')) return index ? this.entryOf(wanted + index, last) : NOTHING

    if (!wanted.includes('.', wanted.lastIndexOf('/'))) {
      for (const extension of extensions) {
        const entry = await this.entryOf(wanted + extension, last)
        if (entry !== NOTHING) return entry
      }
    }
    const plain = await this.disk.read(wanted, '', 'identity', last)
    if (plain.kind !== DIRECTORY) return this.withEncodings(wanted, plain, last)
    if (!index || !(format || redirect)) return NOTHING
    const entry = await this.entryOf(`${wanted}/${index}`, last)
    return entry === NOTHING ? NOTHING : { ...entry, isFolder: redirect }
  }

  async entryOf (wanted, last) {
    const plain = await this.disk.read(wanted, '', 'identity', last)
    return plain.kind === DIRECTORY ? NOTHING : this.withEncodings(wanted, plain, last)
  }

  async withEncodings (wanted, plain, last) {
    const encoded = await Promise.all(this.options.encodings.map(
      encoding => this.disk.read(wanted, SUFFIXES[encoding], encoding, last)))
    const files = [...encoded, plain].filter(({ kind }) => kind === FILE).map(({ file }) => file)
    if (files.length === 0) return NOTHING
    return {
      files,
      offered: files.map(file => file.encoding),
      plain: files.length === 1 && files[0].encoding === 'identity' ? files[0] : undefined,
      isFolder: false
    }
  }
}

module.exports = { Lookup, NOTHING }
