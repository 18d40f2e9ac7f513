'use strict'

const fs = require('node:fs')
const path = require('node:path')
const choose = require('../_shared/encoding')
const { boolean, check, fn, list, number, off, string } = require('../_shared/options')
const Files = require('./files')
const parseRange = require('./range')
const FileStream = require('./stream')

const ATTEMPTS = 3

const ms = number({ min: 0, of: 'milliseconds' })
const bytes = number({ min: 0, max: Infinity, of: 'bytes' })
const OPTIONS = {
  maxAge: ms,
  maxage: ms,
  immutable: boolean,
  index: string.or(off),
  format: boolean,
  hidden: boolean,
  extensions: list(string, 'strings').or(off),
  br: boolean,
  brotli: boolean,
  gzip: boolean,
  gz: boolean,
  zstd: boolean,
  zst: boolean,
  etag: boolean,
  defer: boolean,
  setHeaders: fn,
  dev: boolean,
  cacheSize: bytes,
  cacheFileSize: bytes
}

/**
 * Serve the files of a directory.
 *
 *    app.use(serve(path.join(__dirname, 'public'), { maxAge: 3600000 }))
 *
 * Answers GET and HEAD, with Range, If-Range and the conditions of RFC 9110 (13); what is not
 * there, and every path that is not spelled in the one canonical way, is left to the next
 * middleware. Nothing outside of `root` is served, whatever links lead there.
 *
 * @param {string} root
 * @param {object} [options]
 * @param {number} [options.maxAge=0] of Cache-Control, in ms; also `maxage`
 * @param {boolean} [options.immutable=false] adds that to it
 * @param {string|false} [options.index='index.html'] served for a directory
 * @param {boolean} [options.format=true] the index also for a directory named without its slash
 * @param {boolean} [options.hidden=false] serve what begins with a dot
 * @param {string[]} [options.extensions] tried for a path without one
 * @param {boolean} [options.br=true] serve x.br for x; also `brotli`
 * @param {boolean} [options.gzip=true] x.gz; also `gz`
 * @param {boolean} [options.zstd=true] x.zst; also `zst`
 * @param {boolean} [options.etag=true]
 * @param {boolean} [options.defer=false] serve after the other middleware, if these did not
 * @param {Function} [options.setHeaders] (res, path, stats); makes kone build a `res`
 * @param {boolean} [options.dev=false] look at the disk for every request, not twice a second
 * @param {number} [options.cacheSize=16777216] bytes of files kept in memory
 * @param {number} [options.cacheFileSize=65536] bytes of the largest of them
 * @return {Function} middleware
 * @throws {Error} when `root` is no directory; {TypeError} for an option of the wrong type
 * @api public
 */
module.exports = function serve (root, options) {
  const server = new Server(root, options)
  if (options?.defer) {
    return async function serve (ctx, next) {
      await next()
      return server.serveAfter(ctx)
    }
  }

  return function serve (ctx, next) {
    const { method } = ctx
    if (method !== 'GET' && method !== 'HEAD') return next()

    const entry = server.files.known(ctx.path)
    if (entry === null) return next()
    const file = entry && fileFor(ctx, entry)
    if (file?.body) return server.send(ctx, entry, file, outcomeOf(ctx, file))
    return server.serve(ctx).then(served => served ? undefined : next())
  }
}

// A reserved word: no function declaration can have this name.
Object.defineProperty(module.exports, 'name', { value: 'static' })

/**
 * For `app.final`: as with `defer`.
 *
 *    app.final(serve.final('public'))
 *
 * @param {string} root
 * @param {object} [options]
 * @return {Function} (ctx) => Promise | undefined
 * @api public
 */
module.exports.final = function final (root, options) {
  const server = new Server(root, options)
  return function serve (ctx) {
    return server.serveAfter(ctx)
  }
}

class Server {
  constructor (root, options) {
    this.options = settingsOf(root, check('static', options, OPTIONS))
    this.files = new Files(this.options.root, this.options)
  }

  serveAfter (ctx) {
    const { method } = ctx
    if ((method === 'GET' || method === 'HEAD') && ctx.body == null && ctx.status === 404) {
      return this.serve(ctx)
    }
  }

  /** @return {Promise<boolean>} whether it answered */
  async serve (ctx) {
    const { path } = ctx
    let entry = this.files.known(path)
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      if (entry === undefined) entry = await this.look(ctx, path)
      const file = entry && fileFor(ctx, entry)
      if (!file) return false

      const outcome = outcomeOf(ctx, file)
      if (file.body !== null || !outcome.hasBody || ctx.method === 'HEAD') {
        this.send(ctx, entry, file, outcome)
        return true
      }
      const fd = await this.files.open(file, attempt < ATTEMPTS)
      if (fd !== undefined) {
        if (ctx.writable) this.send(ctx, entry, file, outcome, fd)
        else fs.close(fd)
        return true
      }
      this.files.forget(path)
      entry = undefined
    }
    return false
  }

  async look (ctx, path) {
    try {
      return await this.files.look(path)
    } catch (err) {
      if (err instanceof URIError) ctx.throw(400, 'failed to decode')
      throw err
    }
  }

  /** @param {number} [fd] of a file that is not in memory, unless nobody wants its bytes */
  send (ctx, entry, file, outcome, fd) {
    const { response } = ctx
    if (entry.plain === undefined) ctx.vary('Accept-Encoding')
    if (outcome.isRefusal) {
      if (outcome === UNSATISFIABLE) ctx.set('Content-Range', `bytes */${file.size}`)
      ctx.status = outcome.status
      return
    }

    const { setHeaders, etag, cacheControl } = this.options
    if (setHeaders) setHeaders(ctx.res, file.name, file.stats)
    if (etag && !response.get('ETag')) ctx.set('ETag', file.etag)
    if (!response.get('Last-Modified')) ctx.set('Last-Modified', file.lastModified)
    if (!response.get('Cache-Control')) ctx.set('Cache-Control', cacheControl)
    if (!outcome.hasBody) {
      ctx.status = outcome.status
      return
    }

    ctx.set('Accept-Ranges', 'bytes')
    if (file.encoding !== 'identity') ctx.set('Content-Encoding', file.encoding)
    if (!response.get('Content-Type')) ctx.set('Content-Type', file.type)
    if (outcome === WHOLE) sendBytes(ctx, file, fd, 0, file.size - 1)
    else sendRange(ctx, file, fd, outcome)
  }
}

function sendRange (ctx, file, fd, { start, end }) {
  ctx.status = 206
  ctx.set('Content-Range', `bytes ${start}-${end}/${file.size}`)
  sendBytes(ctx, file, fd, start, end)
}

function sendBytes (ctx, file, fd, start, end) {
  const length = end - start + 1
  if (file.body !== null) {
    ctx.body = length === file.size ? file.text || file.body : file.body.subarray(start, end + 1)
    return
  }
  if (fd === undefined) ctx.status = 200 // a HEAD
  else ctx.body = new FileStream(fd, start, end)
  ctx.length = length
}

/** Of a file's encodings the one that the client likes best. */
function fileFor (ctx, entry) {
  if (entry.plain !== undefined) return entry.plain
  const encoding = choose(ctx.get('Accept-Encoding'), entry.offered)
  return entry.files.find(file => file.encoding === encoding)
}

// RFC 9110, 13.2.2: what a request with conditions comes to

const WHOLE = { status: 200, hasBody: true, isRefusal: false }
const NOT_MODIFIED = { status: 304, hasBody: false, isRefusal: false }
const FAILED = { status: 412, hasBody: false, isRefusal: true }
const UNSATISFIABLE = { status: 416, hasBody: false, isRefusal: true }

function outcomeOf (ctx, file) {
  const match = ctx.get('If-Match')
  if (match) {
    if (!lists(match, file.etag, false)) return FAILED
  } else {
    const since = ctx.get('If-Unmodified-Since')
    if (since && file.modified > Date.parse(since)) return FAILED
  }

  const noneMatch = ctx.get('If-None-Match')
  if (noneMatch) {
    if (lists(noneMatch, file.etag, true)) return NOT_MODIFIED
  } else {
    const since = ctx.get('If-Modified-Since')
    if (since && file.modified <= Date.parse(since)) return NOT_MODIFIED
  }

  const range = ctx.get('Range')
  if (range && ctx.method === 'GET' && isCurrent(ctx.get('If-Range'), file)) {
    return rangeOf(range, file.size)
  }
  return WHOLE
}

/**
 *     If-Match = "*" / #entity-tag        entity-tag = [ "W/" ] opaque-tag
 *
 * Ours are strong, so a weak one can match only where the comparison is weak.
 */
function lists (header, etag, weakly) {
  if (header.trim() === '*') return true
  for (let tag of header.split(',')) {
    tag = tag.trim()
    if (tag === etag || (weakly && tag.startsWith('W/') && tag.slice(2) === etag)) return true
  }
  return false
}

function isCurrent (ifRange, file) {
  if (ifRange === '') return true
  return ifRange.includes('"') ? ifRange === file.etag : Date.parse(ifRange) === file.modified
}

/** Several ranges, or what is no range, are answered by the whole, as RFC 9110, 14.2 allows. */
function rangeOf (header, size) {
  const { first, last } = parseRange(header) ?? {}
  if (!first && !last) return WHOLE
  if (first && last && Number(last) < Number(first)) return WHOLE

  const start = first ? Number(first) : Math.max(size - Number(last), 0)
  const end = first && last ? Math.min(Number(last), size - 1) : size - 1
  if (start >= size) return UNSATISFIABLE
  return { status: 206, hasBody: true, isRefusal: false, start, end }
}

function settingsOf (root, options) {
  if (typeof root !== 'string' || root === '') {
    throw new TypeError('static: root directory is required to serve files')
  }
  const resolved = path.resolve(root)
  if (!fs.statSync(resolved, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`static: ${resolved} is not a directory`)
  }

  const { index = 'index.html', extensions, setHeaders, immutable = false } = options
  const maxAge = options.maxAge ?? options.maxage ?? 0
  const { cacheSize = 16 * 2 ** 20, cacheFileSize = 64 * 2 ** 10 } = options

  const isOn = (...names) => names.every(name => options[name] !== false)
  return {
    root: resolved,
    index,
    format: isOn('format'),
    hidden: Boolean(options.hidden),
    dev: Boolean(options.dev),
    extensions: (extensions || []).map(one => one.startsWith('.') ? one : `.${one}`),
    encodings: [
      isOn('br', 'brotli') && 'br',
      isOn('zst', 'zstd') && 'zstd',
      isOn('gz', 'gzip') && 'gzip'
    ].filter(Boolean),
    etag: isOn('etag'),
    cacheControl: `max-age=${Math.floor(maxAge / 1000)}${immutable ? ',immutable' : ''}`,
    setHeaders,
    cacheSize,
    cacheFileSize: Math.min(cacheFileSize, cacheSize)
  }
}
