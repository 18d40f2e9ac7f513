'use strict'

const fs = require('fs')
const os = require('os')
const path = require('path')
const busboy = require('busboy')
const createError = require('../../lib/shared/http-errors')
const { nextTick } = require('../../lib/shared/timers')
const { sizeOf } = require('../_shared/bytes')
const { described } = require('../_shared/described')
const { report } = require('../../lib/shared/error-path')
const hasBody = require('../_shared/has-body')
const dropRest = require('../_shared/drop-rest')
const whenFinished = require('../_shared/finished')
const form = require('../_shared/form')
const { misuse } = require('../_shared/usage-error')
const OPTIONS = require('./options')
const { custom, memoryStorage, temporary, WAITING } = require('./storage')

// What browsers write for a quote and for line breaks in names, and they write nothing else so: not even for `%`
// (https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data)
const ENCODED = /%(?:22|0d|0a)/gi
const CONTROLS = /[\x00-\x1f\x7f-\x9f]+/g // eslint-disable-line no-control-regex

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
 * After the response is sent, files that the handler did not move away are removed; so are files of a
 * form that is not complete by then. `originalname` is the name that the client sent, with `_` for control
 * characters: use it in no path.
 *
 * @param {object} [options] see options.js
 * @return {Function} middleware; throws 400 for a malformed body, 413 over a limit
 * @throws {TypeError} for an option of the wrong type, or a folder that does not exist
 * @api public
 */
function upload (options) {
  const settings = settingsOf(OPTIONS.check(options))

  function upload (ctx, next) {
    if (!/^multipart\/form-data *(?:;|$)/i.test(ctx.get('content-type')) || !hasBody(ctx)) return next()
    return new Upload(ctx, settings).receive().then(() => next())
  }

  described(upload, { body: { types: [], files: options?.fields ?? true } })
  return Object.assign(upload, notMulter('upload()', {
    single: "the file is ctx.request.files.find(({ fieldname }) => fieldname === 'avatar')",
    array: "the files are ctx.request.files.filter(({ fieldname }) => fieldname === 'photos')",
    fields: 'options.fields takes the same list, and the files of all fields are in ctx.request.files',
    any: 'the files of all fields are in ctx.request.files',
    none: 'refuse ctx.request.files in the next middleware'
  }))
}

module.exports = upload
module.exports.memoryStorage = memoryStorage // written like this, an ES module can import the name
Object.assign(upload, notMulter('upload', { diskStorage: 'files are written to options.dest' }))

function settingsOf ({ dest, limits, fields, filter, storage }) {
  if (dest !== undefined && storage !== undefined) {
    throw misuse('upload', 'options.dest has no effect beside options.storage: leave one of them out')
  }
  return {
    limits: { ...limits, fileSize: sizeOf(limits.fileSize), fieldSize: sizeOf(limits.fieldSize) },
    filter,
    storage: storage === undefined ? temporary(folderAt(dest ?? os.tmpdir())) : custom(storage),
    counts: fields && new Map(fields.map(({ name, maxCount = Infinity }) => [name, maxCount]))
  }
}

function decode (name) {
  return name?.replace(ENCODED, decodeURIComponent)
}

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

/**
 * Receives one multipart body. However its request ends, each file is either handed over or removed:
 *
 *     file()  ->  storing  ->  stored  -> finish() -> ctx.request.files, removed after the response if temporary
 *                    |            |
 *                    +- fail() ---+--> removed
 */
class Upload {
  storing = []
  stored = []
  fields = Object.create(null)
  fieldsLength = 0
  failed = null
  isFinished = false

  constructor (ctx, { counts, filter, limits, storage }) {
    this.ctx = ctx
    this.left = counts && new Map(counts)
    this.filter = filter
    this.limits = limits
    this.storage = storage
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
        fileHwm: WAITING,
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
   * @return {Promise} resolves when every file is stored
   */
  receive () {
    const { ctx, parser } = this
    const { req } = ctx
    const gone = () => {
      if (!req.complete) this.abort()
    }

    return new Promise((resolve, reject) => {
      this.reject = reject
      whenFinished(ctx, () => this.end())
      parser.on('file', (name, stream, info) => this.file(name, stream, info))
      parser.on('field', (name, value, info) => this.field(name, value, info))
      parser.on('filesLimit', () => this.tooLarge('too many files'))
      parser.on('fieldsLimit', () => this.tooLarge('too many fields'))
      parser.on('partsLimit', () => this.tooLarge('too many parts'))
      parser.on('error', err => this.fail(createError(400, err.message)))
      parser.on('close', async () => {
        const files = await Promise.all(this.storing)
        if (this.failed !== null) return
        try {
          resolve(this.finish(files))
        } catch (err) {
          this.fail(err)
        }
      })
      req.on('error', gone)
      req.on('close', gone)
      if (req.readableEnded) this.fail(createError(500, 'the body was read before'))
      else if (req.destroyed) gone()
      else if (this.failed === null) req.pipe(parser)
    }).finally(() => {
      req.removeListener('error', gone)
      req.removeListener('close', gone)
    })
  }

  file (name, stream, { filename, mimeType }) {
    const fieldname = decode(name)
    stream.on('error', () => {}) // that of a form that is cut off, before anybody reads the file
    // without a file name the user chose no file
    if (fieldname !== undefined && filename !== undefined && this.failed === null) this.count(fieldname)
    if (fieldname === undefined) this.unnamed()
    if (filename === undefined || this.failed !== null) return stream.resume()

    const originalname = decode(filename).replace(CONTROLS, '_') // it may be logged, or be a part of a path
    this.storing.push(this.store({ fieldname, originalname, mimetype: mimeType }, stream).catch(err => {
      this.fail(err instanceof Error ? err : createError(500, 'options.filter threw what is no error', { cause: err }))
    }))
  }

  count (fieldname) {
    if (this.left === undefined) return
    const left = this.left.get(fieldname)
    if (left === undefined) this.fail(createError(400, 'a file in a field that takes none'))
    else if (left === 0) this.tooLarge('too many files')
    else this.left.set(fieldname, left - 1)
  }

  /**
   * @return {Promise<object|undefined>} the file; undefined if it was skipped
   */
  async store (file, stream) {
    const { filter, storage, ctx } = this
    const isWanted = filter === undefined || await filter(ctx, file)
    if (!isWanted || this.failed !== null) {
      stream.resume()
      return
    }

    if (stream.truncated) this.tooLarge('file too large')
    else stream.on('limit', () => this.tooLarge('file too large'))
    try {
      await storage.store(ctx.req, file, stream)
    } catch (err) {
      throw createError(500, 'an uploaded file cannot be written', { cause: err })
    }
    if (this.failed !== null) return this.remove(file)
    this.stored.push(file)
    return file
  }

  field (name, value, { valueTruncated }) {
    if (name === undefined) return this.unnamed()
    this.fieldsLength += Buffer.byteLength(name) + Buffer.byteLength(value)
    if (valueTruncated || this.fieldsLength > Math.max(this.limits.fieldSize, FIELDS_TOTAL)) {
      this.tooLarge('field too large')
    } else {
      form.add(this.fields, decode(name), value)
    }
  }

  unnamed () {
    this.fail(createError(400, 'a part of the form has no name'))
  }

  tooLarge (message) {
    this.fail(createError(413, message))
  }

  /** The response is sent, or the client has disconnected. */
  end () {
    if (this.isFinished) {
      if (this.storage.isTemporary) this.removeAll()
    } else if (!this.ctx.headerSent) {
      this.abort()
    } else {
      // AbortError: `timeout` reports none that follows from its own response
      this.fail(createError(500, 'the response was sent before the form was complete', {
        code: 'KONE_ERR_BODY_USED',
        name: 'AbortError'
      }))
      this.ctx.req.resume() // the connection may carry another request after this body
    }
  }

  abort () {
    this.fail(createError(400, 'request aborted', { code: 'KONE_ERR_BODY_ABORTED' }))
  }

  fail (err) {
    if (this.failed !== null) return
    const { ctx, parser } = this
    this.failed = ctx.headerSent ? err : dropRest(ctx, err)
    ctx.req.unpipe(parser)
    ctx.req.pause()
    this.removeAll()
    this.reject(err)
    // later, because busboy may be in the middle of a chunk
    nextTick(() => parser.destroy())
  }

  finish (files) {
    const { request } = this.ctx
    request.body = form.nest(this.fields)
    request.files = files.filter(file => file !== undefined)
    this.isFinished = true
  }

  removeAll () {
    for (const file of this.stored) this.remove(file)
  }

  async remove (file) {
    try {
      await this.storage.remove(this.ctx.req, file)
    } catch (err) {
      report(this.ctx, err)
    }
  }
}
