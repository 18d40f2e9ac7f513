'use strict'

const fs = require('fs')
const { resolve } = require('path')
const middlewareAndFinal = require('../_shared/middleware-and-final')
const choose = require('../_shared/encoding')
const { given, manual, misuse } = require('../_shared/usage-error')
const cut = require('../../lib/shared/cut')
const { UNSATISFIABLE, WHOLE, outcomeOf, tagFor } = require('./conditions')
const { FILE } = require('./disk')
const Files = require('./files')
const { NOTHING } = require('./lookup')
const OPTIONS = require('./options')

const ATTEMPTS = 3
const MAX_SECONDS = 2 ** 31 // what caches take a longer max-age for (RFC 9111, 1.2.2); JavaScript prints 1e21 as 1e+21

const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/]*/i // of a target in absolute form: RFC 9112, 3.2.2

const { middleware, final } = middlewareAndFinal(function serve (root, options) {
  const responder = new Responder(root, options)
  return { act: ctx => responder.respondLast(ctx) }
})

/**
 * Serve the files of a directory.
 *
 *    app.use(serve(path.join(__dirname, 'public'), { maxAge: 3600000 }))
 *
 * Responds to GET and HEAD, with Range, If-Range and the conditions of RFC 9110 (13); if there is
 * no such file, or the path is not in its canonical form, the next middleware runs. No file outside of
 * `root` is served, not even by a link.
 *
 * @param {string} root
 * @param {object} [options] see options.js
 * @return {Function} middleware
 * @throws {Error} when `root` is not a directory; {TypeError} for an option of the wrong type
 * @api public
 */
module.exports = function staticFiles (root, options) {
  if (options?.defer) return middleware(root, options)
  const responder = new Responder(root, options)

  return function serve (ctx, next) {
    const { method } = ctx
    if (method !== 'GET' && method !== 'HEAD') return next()

    const entry = responder.files.known(ctx.path)
    if (entry === NOTHING) return next()
    const file = entry && fileFor(ctx, entry)
    if (file?.body && !entry.isFolder) return responder.send(ctx, entry, file)
    return responder.respond(ctx).then(responded => responded ? undefined : next())
  }
}

// `static` is a reserved word: no function declaration can have this name.
Object.defineProperty(module.exports, 'name', { value: 'static' })

/**
 * The same for `app.final`: serves as with `defer`.
 *
 *    app.final(serve.final('public'))
 *
 * @param {string} root
 * @param {object} [options] see options.js
 * @return {Function} (ctx) => Promise | undefined
 * @api public
 */
module.exports.final = final

class Responder {
  constructor (root, options) {
    this.options = settingsOf(root, OPTIONS.check(options))
    this.files = new Files(this.options.root, this.options)
  }

  /** If nobody responded to a GET or HEAD. */
  respondLast (ctx) {
    const { method } = ctx
    if ((method === 'GET' || method === 'HEAD') && ctx.body == null && ctx.status === 404) {
      return this.respond(ctx)
    }
  }

  /** @return {Promise<boolean>} whether it responded */
  async respond (ctx) {
    const { path } = ctx
    let entry = this.files.known(path)
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      if (entry === undefined) entry = await this.look(ctx, path)
      if (entry.isFolder) {
        const location = locationOf(ctx)
        if (location !== undefined) {
          ctx.status = 301
          ctx.redirect(location)
          return true
        }
        if (!this.options.format) return false
      }
      const file = fileFor(ctx, entry)
      if (file === undefined) {
        // for another Accept-Encoding there is a file
        if (entry !== NOTHING) ctx.vary('Accept-Encoding')
        return false
      }

      // setHeaders may set what the conditions compare with
      const isForBody = this.options.setHeaders || outcomeOf(ctx, file).hasBody
      if (file.body !== null || !isForBody || ctx.method === 'HEAD') return this.send(ctx, entry, file)
      const { kind, fd } = await this.files.open(file, attempt < ATTEMPTS)
      if (kind === FILE) {
        const opened = { fd, isRead: false }
        try {
          return !ctx.writable || await this.send(ctx, entry, file, opened)
        } finally {
          if (!opened.isRead) fs.close(fd)
        }
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

  /**
   * @param {{ fd: number, isRead: boolean }} [opened] of a file that is not in memory; undefined if no bytes are needed
   * @return {boolean|Promise<boolean>}
   */
  send (ctx, entry, file, opened) {
    if (entry.plain === undefined) ctx.vary('Accept-Encoding')
    return this.options.setHeaders ? this.sendWithOwn(ctx, file, opened) : this.sendFile(ctx, file, opened)
  }

  async sendWithOwn (ctx, file, opened) {
    const before = { ...ctx.response.headers }
    await this.options.setHeaders(ctx.res, file.name, file.stats)
    return !ctx.writable || this.sendFile(ctx, file, opened, before)
  }

  /** @param {object} [before] the headers before setHeaders: what it has set is the file's, not a refusal's */
  sendFile (ctx, file, opened, before) {
    const { response } = ctx
    const { etag, cacheControl } = this.options
    const outcome = outcomeOf(ctx, file)
    if (outcome.isRefusal) {
      if (before !== undefined) replaceHeaders(ctx, before)
      if (outcome === UNSATISFIABLE) ctx.set('Content-Range', `bytes */${file.size}`)
      ctx.status = outcome.status
      return true
    }
    if (etag && !response.get('ETag')) ctx.set('ETag', tagFor(ctx, file))
    if (file.lastModified !== '' && !response.get('Last-Modified')) ctx.set('Last-Modified', file.lastModified)
    if (!response.get('Cache-Control')) ctx.set('Cache-Control', cacheControl)
    if (!outcome.hasBody) {
      ctx.status = outcome.status
      return true
    }

    ctx.set('Accept-Ranges', 'bytes')
    if (file.encoding !== 'identity') ctx.set('Content-Encoding', file.encoding)
    if (!response.get('Content-Type')) ctx.set('Content-Type', file.type)
    if (outcome === WHOLE) sendBytes(ctx, file, opened, 0, file.size - 1)
    else sendRange(ctx, file, opened, /** @type {any} */ (outcome))
    return true
  }
}

function replaceHeaders (ctx, headers) {
  for (const name of Object.keys(ctx.response.headers)) if (!Object.hasOwn(headers, name)) ctx.remove(name)
  ctx.set(headers)
}

/**
 * Where a folder without its slash is, as the client names it: below a mount ctx.path is only its end. Undefined
 * for a path that the app has rewritten, because the app may not rewrite the one with the slash.
 *
 * @return {string|undefined} a path of this host, which begins with one slash only
 */
function locationOf ({ originalUrl, path }) {
  const end = originalUrl.indexOf('?')
  const [target, query] = end === -1 ? [originalUrl, ''] : [originalUrl.slice(0, end), originalUrl.slice(end)]
  if (!target.endsWith(path)) return undefined
  const named = target.replace(ORIGIN, '').replaceAll('\\', '%5C')
  return `/${named.replace(/^\/+/, '')}/${query}`
}

function sendRange (ctx, file, opened, { start, end }) {
  ctx.status = 206
  ctx.set('Content-Range', `bytes ${start}-${end}/${file.size}`)
  sendBytes(ctx, file, opened, start, end)
}

function sendBytes (ctx, file, opened, start, end) {
  const length = end - start + 1
  if (file.body !== null) {
    // a query may name a callback of jsonp, for which text is a value, and bytes are what they are
    const whole = (ctx.querystring === '' && file.text) || file.body
    ctx.body = length === file.size ? whole : file.body.subarray(start, end + 1)
    return
  }
  if (opened === undefined) ctx.status = 200 // a HEAD
  else ctx.body = streamOf(ctx, opened, start, end)
  ctx.length = length
}

/** A file that has become shorter fails, although its stream ends. */
function streamOf (ctx, opened, start, end) {
  const stream = fs.createReadStream('', { fd: opened.fd, start, end })
  opened.isRead = true
  return stream.once('end', () => {
    if (stream.bytesRead < end - start + 1) fail(ctx, stream, new Error('the file was cut while it was sent'))
  })
}

/**
 * What reads from the stream, as compress does, has seen its end and no error: the response itself must fail. So it
 * must in Koa, which lets the client wait for the rest.
 */
function fail (ctx, stream, err) {
  const { headerSent } = ctx
  if (ctx.onFinished !== undefined) {
    stream.destroy(err) // what reads from it, as compress does, fails with the same error, which kone reports once
    if (headerSent && ctx.body === stream) return
  }
  ctx.onerror(err) // a 500, if the response has not begun
  if (headerSent) cut(ctx.res, err)
}

/** The encoding that the client prefers; undefined if it accepts none. */
function fileFor (ctx, entry) {
  if (entry.plain !== undefined) return entry.plain
  const encoding = choose(ctx.get('accept-encoding'), entry.offered)
  return entry.files.find(file => file.encoding === encoding)
}

function settingsOf (root, options) {
  if (typeof root !== 'string' || root === '') {
    throw misuse('static', `root must be the path of a directory, not ${given(root)}`)
  }
  const resolved = resolve(root)
  if (!fs.statSync(resolved, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`static: ${resolved} is not a directory (${manual('static')})`)
  }

  const { br, brotli, gzip, gz, zstd, zst, maxAge, immutable, cacheSize, cacheFileSize } = options
  return Object.assign(options, {
    root: resolved,
    extensions: (options.extensions || []).map(one => one.startsWith('.') ? one : `.${one}`),
    encodings: [br && brotli && 'br', zstd && zst && 'zstd', gzip && gz && 'gzip'].filter(Boolean),
    cacheControl: `max-age=${Math.min(Math.floor(maxAge / 1000), MAX_SECONDS)}${immutable ? ',immutable' : ''}`,
    cacheFileSize: Math.min(cacheFileSize, cacheSize)
  })
}
