'use strict'

const fs = require('fs')
const path = require('path')
const { randomUUID } = require('crypto')
const { PassThrough } = require('stream')
const { buffer } = require('stream/consumers')
const { defineValue } = require('../_shared/context')
const { misuse } = require('../_shared/usage-error')

const { unlink } = fs.promises

// Bytes of a file that may wait for the disk: one write takes what several reads brought.
const WAITING = 512 * 1024

module.exports = { custom, memoryStorage, temporary, WAITING }

// Properties that only files of multer's storages have: reading one throws an error instead of returning undefined.
const NOT_THERE = Object.fromEntries([
  ['buffer', 'await fs.promises.readFile(file.path)'],
  ['filename', 'path.basename(file.path)'],
  ['destination', 'path.dirname(file.path)']
].map(([name, instead]) => [name, {
  configurable: true,
  get () { throw misuse('upload', `a file has no ${name}, take ${instead}`) },
  set (value) { defineValue(this, name, value) }
}]))

/**
 * Where the files of a form go. A storage has:
 *
 *     store(req, file, stream)   a promise; rejects when nothing was stored
 *     remove(req, file)          a promise
 *     isTemporary                whether files are removed after the response
 */

/**
 * A storage with random names in a folder.
 *
 * @param {string} folder
 * @return {{ store: Function, remove: Function, isTemporary: boolean }}
 * @api private
 */
function temporary (folder) {
  // not file.path: a handler that has moved a file may write there where it is now
  const paths = new WeakMap()

  return {
    isTemporary: true,

    async store (req, file, stream) {
      file.size = 0
      file.path = path.join(folder, randomUUID())
      paths.set(file, file.path)
      Object.defineProperties(file, NOT_THERE)
      // other users of the system must not read it, and a file that exists must not be overwritten
      const target = fs.createWriteStream(file.path, { flags: 'wx', mode: 0o600, highWaterMark: WAITING })
      const failure = await written(stream, target)
      file.size = target.bytesWritten
      if (failure === null) return
      await this.remove(req, file)
      throw failure
    },

    async remove (req, file) {
      try {
        await unlink(paths.get(file)) // rm() costs more
      } catch (err) {
        if (err.code !== 'ENOENT') throw err
      }
    }
  }
}

/** Resolves with an error or null when the target is closed: one that is removed before it is open is created later. */
function written (stream, target) {
  return new Promise(resolve => {
    let failure = null
    const fail = err => {
      failure ??= err
      target.destroy()
    }
    stream.on('error', fail).on('close', () => { if (!stream.readableEnded) fail(new Error('the file was cut off')) })
    target.on('error', fail).on('close', () => resolve(failure))
    stream.pipe(target) // pipeline() costs more
  })
}

/**
 * A storage of multer's shape. A file that is cut off ends early, as busboy ends one over a limit: most
 * storages pipe, and a pipe whose source fails keeps its descriptor for ever. `_removeFile` follows.
 *
 * @param {{ _handleFile: Function, _removeFile: Function }} storage
 * @return {object}
 * @api private
 */
function custom (storage) {
  return {
    isTemporary: false,

    store (req, file, stream) {
      const copy = new PassThrough()
      stream.on('error', () => copy.end())
      stream.pipe(copy)
      Object.defineProperty(file, 'stream', { value: copy, configurable: true })
      return new Promise((resolve, reject) => {
        copy.on('error', reject)
        copy.on('close', () => stream.resume()) // what the storage does not want
        storage._handleFile(req, file, (err, info) => {
          if (err) reject(err)
          else resolve(Object.assign(file, info))
        })
      })
    },

    remove (req, file) {
      return new Promise((resolve, reject) => {
        storage._removeFile(req, file, err => err ? reject(err) : resolve())
      })
    }
  }
}

/**
 * Keep files in memory, as `file.buffer`.
 *
 *    app.use(upload({ storage: upload.memoryStorage(), limits: { fileSize: '100kb', files: 2 } }))
 *
 * A request may take `limits.files` times `limits.fileSize` of memory.
 *
 * @return {{ _handleFile: Function, _removeFile: Function }} for `options.storage`
 * @api public
 */
function memoryStorage () {
  return {
    _handleFile (req, file, done) {
      buffer(file.stream).then(bytes => done(null, { size: bytes.length, buffer: bytes }), done)
    },

    _removeFile (req, file, done) {
      delete file.buffer
      done(null)
    }
  }
}
