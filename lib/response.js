'use strict'

const { Buffer } = require('buffer')
const { extname } = require('path')
const util = require('util')
const encodeUrl = require('encodeurl')
const escape = require('escape-html')
const statuses = require('statuses')
const vary = require('vary')
const { declare } = require('./core/body-length')
const node = require('./engines/node')
const { LONGEST_NAME, intern, measure } = require('./shared/text')
const { error } = require('./core/errors')
const lazy = require('./shared/lazy')
const only = require('./shared/only')
const { drop, dropWhenOver, isPlain, isStream, kSent, sizeOf, streams, watch } = require('./core/stream')
const { HOP_BY_HOP, isBlob, isResponse, isWebStream } = require('./shared/web')

const contentDisposition = lazy(() => require('content-disposition'))
const mime = lazy(() => require('mime-types'))
const typeis = lazy(() => require('type-is'))

/**
 * Prototype of `ctx.response`. The kind of a body is decided when it is set; headers are stored in
 * one place, `outgoing`.
 *
 * @api public
 */
module.exports = {
  // As in context.js.
  get incoming () { return this.req },
  get outgoing () { return node.complete(this.res) },
  [node.ENGINE]: node,

  /** @return {net.Socket} the connection */
  get socket () { return this.outgoing.socket },

  /**
   * The header fields set so far, lower-case names. `headers` is the same.
   *
   * @return {object}
   */
  get header () { return this.outgoing.getHeaders() },
  get headers () { return this.header },

  /**
   * The status code, 404 until something is set. Setting one that has no body drops the body.
   *
   * @return {number}
   * @throws {AssertionError} for anything but an integer from 100 to 999
   */
  get status () { return this.outgoing.statusCode },
  set status (code) {
    if (this.outgoing.headersSent) return
    if (!(Number.isInteger(code) && code >= 100 && code <= 999)) throw invalidStatus(code)
    this._explicitStatus = true
    this.outgoing.statusCode = code
    // RFC 9113, 8.3.2: HTTP/2 has no reason phrase
    if (!(this.incoming.httpVersionMajor >= 2)) this.outgoing.statusMessage = reason(code)
    if (this._body && statuses.empty[code]) this.body = null
  },

  /** @return {string} the reason phrase */
  get message () { return this.outgoing.statusMessage || reason(this.status) },
  set message (msg) { this.outgoing.statusMessage = msg },

  /**
   * The response's body: a string, a Buffer, a stream (node's or a web ReadableStream), a Blob, a
   * fetch Response, or anything that JSON.stringify takes; null or undefined for none. Sets
   * status, Content-Type and Content-Length where they are not set yet.
   *
   *    ctx.body = { name: 'tobi' }
   *
   * @return {string | Buffer | Stream | ReadableStream | Blob | Response | object | null | undefined}
   */
  get body () { return this._body },
  set body (val) {
    const original = this._body
    this._body = val
    const sent = this[kSent] !== undefined
    if (sent && hasBytes(val)) { // the sent length is that of the first stream
      this.ctx.onFinished(() => drop(val))
      return
    }

    if (typeof val === 'string') {
      if (!this._explicitStatus) this.status = 200
      if (!this.outgoing.hasHeader('Content-Type')) {
        this.type = looksLikeHtml(val) ? 'html' : 'text'
      }
      this.length = measure(val)
    } else if (val === null || val === undefined) {
      if (!statuses.empty[this.status]) this.status = 204
      if (val === null) this._explicitNullBody = true
      this.remove('Content-Type')
      this.remove('Content-Length')
      this.remove('Transfer-Encoding')
    } else {
      if (!this._explicitStatus) this.status = 200
      setBody(this, val, original)
    }

    // A replaced stream is destroyed, unless the new body may read from it.
    if (original && original !== val && !streams(val) && !sent) drop(original)
  },

  /**
   * Content-Length, or what it will be; undefined for a stream.
   *
   * @return {number | undefined} bytes
   */
  get length () {
    if (this.has('Content-Length')) return parseInt(this.get('Content-Length'), 10) || 0
    return this.body ? sizeOf(this.body) : undefined
  },
  set length (n) {
    // RFC 9112, 6.2: never both
    if (!this.outgoing.hasHeader('Transfer-Encoding')) this.set('Content-Length', n)
  },

  /** @return {boolean} whether the header section was sent, so that nothing can be set any more */
  get headerSent () { return this.outgoing.headersSent },

  /**
   * Add to Vary (RFC 9110, 12.5.5).
   *
   *    ctx.vary('Origin')
   *
   * @param {string | string[]} field
   * @throws {TypeError} for what is not the name of a field
   */
  vary (field) {
    if (this.outgoing.headersSent) return
    vary(this.outgoing, field)
  },

  /**
   * Redirect (302 unless another redirect status is set).
   *
   *    ctx.redirect('/login')
   *
   * @param {string} url absolute, relative, an app's own scheme, or 'back' (see `back`)
   * @param {string} [alt] where 'back' leads without a usable referrer
   * @throws {HttpError} for javascript:, data: and vbscript:, and for an invalid URL
   */
  redirect (url, alt) {
    if (url === 'back') return this.back(alt)
    const target = checkTarget(url)
    this.set('Location', encode(target))

    if (!statuses.redirect[this.status]) this.status = 302

    const html = this.ctx.accepts('html')
    this.type = html ? TEXT_HTML : TEXT_PLAIN
    this.body = `Redirecting to ${html ? escape(target) : target}.`
  },

  /**
   * Redirect to where the client came from, if that is a page of our host; otherwise to `alt`.
   *
   *    ctx.back('/index.html')
   *
   * @param {string} [alt='/']
   */
  back (alt) {
    this.redirect(sameHostReferrer(this.ctx) || alt || '/')
  },

  /**
   * Tell the client to save the response as a file. Sets Content-Type by the extension unless there is one.
   *
   *    ctx.attachment('report.pdf')
   *
   * @param {string} [filename]
   * @param {object} [options] of https://github.com/jshttp/content-disposition
   * @throws {TypeError} for a name that is not a string, and for its options
   */
  attachment (filename, options) {
    if (filename && !this.has('Content-Type')) this.type = extname(filename)
    this.set('Content-Disposition', contentDisposition()(filename, options))
  },

  /**
   * Content-Type without its parameters. Set by extension, name or whole value; what is unknown
   * removes it.
   *
   *    ctx.type = 'html'
   *
   * @return {string}
   */
  get type () {
    const type = this.get('Content-Type')
    return type && type.split(';', 1)[0]
  },
  set type (type) {
    type = contentType(type)
    if (type) this.set('Content-Type', type)
    else this.remove('Content-Type')
  },

  /** @return {Date|undefined} Last-Modified; set it to a Date, or to a string that Date understands */
  get lastModified () {
    const date = this.get('Last-Modified')
    if (date) return new Date(date)
  },
  set lastModified (val) {
    if (typeof val === 'string') val = new Date(val)
    this.set('Last-Modified', val.toUTCString())
  },

  /**
   * ETag; quotes are added where they are missing.
   *
   *    ctx.etag = 'md5-hash'
   *
   * @return {string}
   */
  get etag () { return this.get('ETag') },
  set etag (val) {
    this.set('ETag', /^(W\/)?"/.test(val) ? val : `"${val}"`)
  },

  /**
   * Whether the response's type is one of `types`: the matching one, or false.
   *
   *    ctx.response.is('json', 'html')
   *
   * @param {string | string[]} type
   * @param {...string} types
   * @return {string | false}
   */
  is (type, ...types) { return typeis().is(this.type, type, ...types) },

  /**
   * A header field set so far, or an empty string.
   *
   *    ctx.response.get('Content-Type')
   *
   * @param {string} field
   * @return {any} a list only where one was set
   */
  get (field) { return this.outgoing.getHeader(field) || '' },

  /**
   * Whether a header field is set.
   *
   * @param {string} field
   * @return {boolean}
   */
  has (field) { return this.outgoing.hasHeader(field) },

  /**
   * Set one header field, or each of an object. Does nothing once the header section was sent.
   *
   *    ctx.set('Cache-Control', 'no-cache')
   *
   * @param {string | object} field
   * @param {string | number | Array} [val]
   * @throws {TypeError} node's, for names and values that cannot be sent
   */
  set (field, val) {
    if (this.outgoing.headersSent) return
    if (arguments.length !== 2) {
      for (const name in field) this.set(name, field[name])
      return
    }
    if (typeof val !== 'string') val = Array.isArray(val) ? val.map(String) : String(val)
    this.outgoing.setHeader(field, val)
  },

  /**
   * Add a value to a header field. Does nothing once the header section was sent.
   *
   *    ctx.append('Link', '<http://localhost/>; rel="next"')
   *
   * @param {string} field
   * @param {string | string[]} val
   * @throws {TypeError} as `set`
   */
  append (field, val) {
    const prev = this.get(field)
    return this.set(field, prev ? [].concat(prev, val) : val)
  },

  /**
   * Remove a header field. Does nothing once the header section was sent.
   *
   * @param {string} field
   */
  remove (field) {
    if (this.outgoing.headersSent) return
    this.outgoing.removeHeader(field)
  },

  /** @return {boolean} whether a response can still be sent: it has not ended, and the client is connected */
  get writable () { return this[node.ENGINE].canRespond(this.outgoing) },

  /** Send the header section now, before the body. */
  flushHeaders () {
    if (this.incoming.httpVersionMajor >= 2) node.dropHttp1(this)
    declare(this, this.body && this.has('Content-Length') ? sizeOf(this.body) : undefined)
    this.outgoing.flushHeaders()
  },

  inspect () {
    if (!this.outgoing) return
    return { ...this.toJSON(), body: this.body }
  },

  /** @return {object} status, message and header as plain data */
  toJSON () {
    return only({ status: this.status, message: this.message, header: this.header })
  }
}

module.exports[util.inspect.custom] = module.exports.inspect

const TEXT_PLAIN = 'text/plain; charset=utf-8'
const TEXT_HTML = 'text/html; charset=utf-8'

// Read live: apps and tests patch `statuses`, those of statuses 1 by number.
function reason (code) {
  return statuses.message?.[code] || statuses[code]
}

function invalidStatus (code) {
  const { AssertionError } = require('assert')
  const message = Number.isInteger(code) ? `invalid status code: ${code}` : 'status code must be a number'
  return new AssertionError({ message, actual: false, expected: true, operator: '==' })
}

function looksLikeHtml (text) {
  const first = text.charCodeAt(0)
  if (first === 60) return true // <
  return (first <= 32 || first > 127) && /^\s*</.test(text)
}

function hasBytes (val) {
  return val !== null && val !== undefined && !isStream(val) && !isWebStream(val)
}

// A body that is neither a string nor null.
function setBody (response, val, original) {
  if (isPlain(val)) return setJson(response)
  const untyped = !response.has('Content-Type')

  if (Buffer.isBuffer(val)) {
    if (untyped) response.type = 'bin'
    response.length = val.length
  } else if (isStream(val)) {
    if (original !== val) {
      watch(response, val, val)
      if (original != null) response.remove('Content-Length')
    }
    if (untyped) response.type = 'bin'
  } else if (isWebStream(val)) {
    if (original !== val) dropWhenOver(response, () => drop(val))
    if (untyped) response.type = 'bin'
    if (original != null) response.remove('Content-Length')
  } else if (isBlob(val)) {
    if (untyped) response.type = val.type || 'bin'
    response.length = val.size
  } else if (isResponse(val)) {
    setResponse(response, val, original, untyped)
  } else {
    setJson(response)
  }
}

function setJson (response) {
  response.remove('Content-Length')
  response.type = 'json'
}

function setResponse (response, val, original, untyped) {
  if (val.body) dropWhenOver(response, () => drop(val))
  response.status = val.status
  if (untyped) response.type = 'bin'
  if (original != null) response.remove('Content-Length')
  for (const [name, value] of val.headers) {
    if (name !== 'set-cookie' && !isOfFetch(name, val)) response.set(name, value)
  }
  const cookies = val.headers.getSetCookie()
  if (cookies.length > 0) response.append('Set-Cookie', cookies)
}

// What fetch() decodes: zstd from undici 7.11 on, of Node 24.
const [MAJOR, MINOR] = String(process.versions.undici).split('.').map(Number)
const hasZstd = MAJOR > 7 || (MAJOR === 7 && MINOR >= 11)
const CODINGS = new Set(['gzip', 'x-gzip', 'deflate', 'br', ...hasZstd ? ['zstd'] : []])

/**
 * Whether a field is not one of what is sent: fetch() leaves those of its connection in the Response, and those of the
 * encoded body, although it has decoded that. A Response that an app made has no url.
 */
function isOfFetch (name, { body, headers, url }) {
  if (!url) return false
  if (name !== 'content-encoding' && name !== 'content-length') return HOP_BY_HOP.has(name)
  const codings = body && headers.get('Content-Encoding')
  return Boolean(codings) && codings.split(',').every(coding => CODINGS.has(coding.trim().toLowerCase()))
}

const contentTypes = new Map() // text given → Content-Type (saves 0.2 µs); bounded, because users may choose the text

function contentType (type) {
  if (typeof type !== 'string' || type.length > LONGEST_NAME) return type ? mime().contentType(type) : false
  let value = contentTypes.get(type)
  if (value !== undefined) return value
  if (contentTypes.size === 1000) contentTypes.clear()
  value = mime().contentType(type)
  contentTypes.set(intern(type), value)
  return value
}

/** Of a target that names a host, up to what ends its name: a backslash does, but no longer once it is encoded. */
const AUTHORITY = /^(?:\/\/|(?:https?|wss?|ftp):)[/\\]*[^/\\?#]*\\?/i

/**
 * A target that may be put into Location, as it is or as URL normalises it.
 *
 * @throws {HttpError}
 */
function checkTarget (url) {
  if (url === undefined || url === null || url === '') throw badTarget(url)
  url = String(url).replace(AUTHORITY, start => start.replaceAll('\\', '/'))
  // Browsers strip controls and blanks before they look for the scheme.
  // eslint-disable-next-line no-control-regex
  if (/^(?:javascript|data|vbscript):/i.test(url.replace(/[\u0000-\u0020\u007f-\u00a0]/g, ''))) {
    throw badTarget(url)
  }
  // Normalised, so that no two readers see different hosts in it.
  const isWhole = /^https?:\/\//i.test(url)
  try {
    const { href } = new URL(isWhole ? url : encode(url), 'http://localhost')
    return isWhole ? href : url
  } catch {
    throw badTarget(url)
  }
}

/** Browsers read a backslash as a slash: `/\evil.example` would be another host. `^` and `|` as Koa 2 has them. */
function encode (target) {
  return encodeUrl(target).replace(/[\\^|]/g, encodeURIComponent)
}

function badTarget (url) {
  return error('KONE_ERR_REDIRECT', 500, `redirect: ${util.inspect(url)} is no target for a client`)
}

/**
 * The Referer if it is http(s), of our own host and without credentials. The scheme is not
 * compared, as in Koa: after a proxy that ends TLS the app sees another one than the client. A
 * relative referrer (RFC 9110, 10.1.3) has to stay on whatever host it is resolved against.
 *
 * @param {object} ctx
 * @return {string | undefined}
 */
function sameHostReferrer (ctx) {
  const referrer = ctx.get('Referrer')
  if (!referrer) return
  const absolute = /^[a-z][a-z\d+.-]*:/i.test(referrer)
  const host = absolute ? ctx.host : 'localhost'
  let url
  try {
    url = new URL(referrer, 'http://localhost')
    // Parsed under the same scheme, whose default port may be named on one side only.
    if (url.host !== new URL(`${url.protocol}//${host}`).host) return
  } catch {
    return
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return
  if (url.username || url.password || url.pathname.startsWith('//')) return
  return absolute ? url.href : url.pathname + url.search + url.hash
}
