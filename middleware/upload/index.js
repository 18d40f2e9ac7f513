'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { randomUUID } = require('node:crypto')
const { pipeline } = require('node:stream/promises')
const busboy = require('busboy')
const createError = require('http-errors')
const sizeOf = require('../_shared/bytes')
const { check, integer, refused, shape, size, text } = require('../_shared/options')
const report = require('../_shared/report')
const unread = require('../_shared/unread')
const whenFinished = require('../_shared/finished')
const form = require('../_shared/form')
const { misuse } = require('../_shared/misuse')

const LIMITS = { fileSize: '10mb', files: 20, fields: 100, fieldSize: '1mb' }

const count = integer({ min: 0 })
const OPTIONS = {
  dest: text,
  limits: shape({ fileSize: size, files: count, fields: count, fieldSize: size }),
  storage: refused('files are written to `dest`, move them from ctx.request.files'),
  fileFilter: refused('look at ctx.request.files in the next middleware'),
  preservePath: refused('originalname is the name without a path')
}

// bytes that all text fields together may take in memory
const FIELDS_TOTAL = 1024 * 1024

/**
 * Receive `multipart/form-data`: write files to temporary files, and put the other fields into
 * `ctx.request.body`.
 *
 *    app.use(upload({ limits: { fileSize: '2mb' } }))
 *    app.use(async ctx => {
 *      const [file] = ctx.request.files // { fieldname, originalname, mimetype, size, path }
 *      await fs.promises.rename(file.path, '/srv/avatars/1')
 *    })
 *
 * After the response is sent, files that the handler did not move away are removed. `originalname` is the
 * name that the client sent: use it in no path.
 *
 * @param {object} [options]
 * @param {string} [options.dest] an existing folder; default: the system's for temporary files
 * @param {object} [options.limits]
 * @param {string | number} [options.limits.fileSize='10mb'] bytes of each file
 * @param {number} [options.limits.files=20]
 * @param {number} [options.limits.fields=100]
 * @param {string | number} [options.limits.fieldSize='1mb'] bytes of each field; all fields together
 *   may have as much, or 1 MB if that is more
 * @return {Function} middleware; throws 400 for a malformed body, 413 over a limit
 * @throws {TypeError} for an option of the wrong type, or a folder that does not exist
 * @api public
 */
function upload (options) {
  const { dest = os.tmpdir(), limits: given } = check('upload', options, OPTIONS)
  const folder = folderAt(dest)
  const limits = { ...LIMITS, ...given }
  limits.fileSize = sizeOf(limits.fileSize)
  limits.fieldSize = sizeOf(limits.fieldSize)

  return Object.assign(function upload (ctx, next) {
    if (!/^multipart\/form-data *(?:;|$)/i.test(ctx.get('content-type'))) return next()
    return new Upload(ctx, folder, limits).receive().then(() => next())
  }, notMulter('upload()', {
    single: "the file is ctx.request.files.find(({ fieldname }) => fieldname === 'avatar')",
    array: "the files are ctx.request.files.filter(({ fieldname }) => fieldname === 'photos')",
    fields: 'the files of all fields are in ctx.request.files',
    any: 'the files of all fields are in ctx.request.files',
    none: 'refuse ctx.request.files in the next middleware'
  }))
}

module.exports = Object.assign(upload, notMulter('upload', {
  diskStorage: 'files are written to options.dest',
  memoryStorage: 'read the files at their path'
}))

/** multer's methods throw when they are called, at registration, and name what to use instead. */
function notMulter (owner, instead) {
  return Object.fromEntries(Object.entries(instead).map(([name, what]) => [name, () => {
    throw misuse('upload', `there is no ${owner}.${name}(): one app.use(upload()) takes every file of a form, ${what}`)
  }]))
}

function folderAt (dest) {
  const stat = fs.statSync(dest, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) throw misuse('upload', `options.dest must be a folder, and ${dest} is not one`)
  return path.resolve(dest)
}

// Properties that only multer's files have: reading one throws an error instead of returning undefined.
const NOT_THERE = Object.fromEntries([
  ['buffer', 'await fs.promises.readFile(file.path)'],
  ['filename', 'path.basename(file.path)'],
  ['destination', 'path.dirname(file.path)']
].map(([name, instead]) => [name, {
  configurable: true,
  get () { throw misuse('upload', `a file has no ${name}, take ${instead}`) },
  set (value) {
    Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true })
  }
}]))

/**
 * Writes one multipart body to files and fields.
 */
class Upload {
  files = []
  fields = Object.create(null)
  fieldsLength = 0
  writing = []
  failed = null

  constructor (ctx, folder, limits) {
    this.ctx = ctx
    this.folder = folder
    this.limits = limits
    this.parser = this.parse()
  }

  parse () {
    const { ctx, limits } = this
    if (!['', 'identity'].includes(ctx.get('content-encoding').toLowerCase())) {
      throw createError(415, 'unsupported content encoding')
    }
    try {
      return busboy({
        headers: { 'content-type': ctx.get('content-type') },
        defParamCharset: 'utf8',
        // one more each, because busboy already refuses the limit itself
        limits: {
          files: limits.files,
          fields: limits.fields,
          parts: limits.files + limits.fields + 1,
          fileSize: limits.fileSize + 1,
          fieldSize: limits.fieldSize + 1
        }
      })
    } catch (err) {
      throw createError(400, err.message)
    }
  }

  /**
   * @return {Promise} resolves when every file is written
   */
  receive () {
    const { ctx, parser } = this
    const { req } = ctx
    const gone = () => {
      if (!req.complete) this.fail(createError(400, 'request aborted', { code: 'KONE_ERR_BODY_ABORTED' }))
    }

    whenFinished(ctx, () => this.remove())
    parser.on('file', (name, stream, info) => this.file(name, stream, info))
    parser.on('field', (name, value, info) => this.field(name, value, info))
    parser.on('filesLimit', () => this.tooLarge('too many files'))
    parser.on('fieldsLimit', () => this.tooLarge('too many fields'))
    parser.on('partsLimit', () => this.tooLarge('too many parts'))
    parser.on('error', err => this.fail(createError(400, err.message)))
    req.on('error', gone)
    req.on('close', gone)

    return new Promise((resolve, reject) => {
      this.reject = reject
      parser.on('close', () => {
        if (this.failed !== null) return
        Promise.all(this.writing).then(() => this.finish()).then(resolve, err => this.fail(err))
      })
      if (req.readableEnded) return this.fail(createError(500, 'the body was read before'))
      if (req.destroyed) return gone()
      req.pipe(parser)
    }).finally(() => {
      req.removeListener('error', gone)
      req.removeListener('close', gone)
    })
  }

  file (fieldname, stream, { filename, mimeType }) {
    if (fieldname === undefined || filename === undefined || this.failed !== null) {
      stream.on('error', () => {}).resume()
      // no file name: the user chose no file
      if (fieldname === undefined) this.unnamed()
      return
    }

    const file = {
      fieldname,
      originalname: filename,
      mimetype: mimeType,
      size: 0,
      path: path.join(this.folder, randomUUID())
    }
    Object.defineProperties(file, NOT_THERE)
    this.files.push(file)
    stream.on('limit', () => this.tooLarge('file too large'))

    // other users of the system must not read it, and a file that exists must not be overwritten
    const target = fs.createWriteStream(file.path, { flags: 'wx', mode: 0o600 })
    const written = pipeline(stream, target).then(() => { file.size = target.bytesWritten })
    written.catch(err => this.fail(createError(500, 'an uploaded file cannot be written', { cause: err })))
    this.writing.push(written)
  }

  field (name, value, { valueTruncated }) {
    if (name === undefined) return this.unnamed()
    this.fieldsLength += Buffer.byteLength(name) + Buffer.byteLength(value)
    if (valueTruncated || this.fieldsLength > Math.max(this.limits.fieldSize, FIELDS_TOTAL)) {
      this.tooLarge('field too large')
    } else {
      form.add(this.fields, name, value)
    }
  }

  unnamed () {
    this.fail(createError(400, 'a part of the form has no name'))
  }

  tooLarge (message) {
    this.fail(createError(413, message))
  }

  fail (err) {
    if (this.failed !== null) return
    this.failed = unread(this.ctx, err)
    this.ctx.req.unpipe(this.parser)
    this.ctx.req.pause()
    // later, because busboy may be in the middle of a chunk
    process.nextTick(async () => {
      this.parser.destroy()
      await Promise.allSettled(this.writing)
      await this.remove()
      this.reject(err)
    })
  }

  finish () {
    const { request } = this.ctx
    request.body = form.nest(this.fields)
    request.files = this.files
  }

  async remove () {
    await Promise.all(this.files.map(async file => {
      try {
        await fs.promises.rm(file.path, { force: true })
      } catch (err) {
        report(this.ctx, err)
      }
    }))
  }
}
