'use strict'

const { Readable } = require('stream')
const types = require('mime-db')
const middlewareAndFinal = require('../_shared/middleware-and-final')
const { sizeOf } = require('../_shared/bytes')
const changed = require('../_shared/changed')
const choose = require('../_shared/encoding')
const transformed = require('../_shared/transformed')
const { given, misuse, noPromise } = require('../_shared/usage-error')
const { isBlob, isResponse, isWebStream } = require('../../lib/shared/web')
const ENCODERS = require('./encoders')
const OPTIONS = require('./options')

const { unchanged } = changed

const ENCODINGS = Object.keys(ENCODERS).filter(name => ENCODERS[name])

const EMPTY = new Set([204, 205])
const NO_TRANSFORM = /(?:^|,)\s*no-transform\s*(?:,|$)/i

/**
 * Compress the response with an encoding that the client accepts.
 *
 *    app.use(compress({ threshold: '2kb', br: { params: { … } }, zstd: false }))
 *
 * For one response: `ctx.compress = false` sends it uncompressed, `true` compresses any type, and
 * an object overrides `threshold` and the encodings.
 *
 * @param {object} [options] see options.js
 * @return {Function} middleware
 * @throws {TypeError|RangeError} for an invalid option, of node:zlib, too
 * @api public
 */
const { middleware, final } = middlewareAndFinal(function compress (options) {
  options = OPTIONS.check(options)
  const { filter = isCompressible, wildcardAcceptEncoding, defaultEncoding, encodingPreference = [] } = options
  const whenAny = wildcardAcceptEncoding === '*' ? 'gzip' : wildcardAcceptEncoding
  const whenSilent = defaultEncoding === '*' ? whenAny : defaultEncoding
  const preference = [...new Set([...encodingPreference, ...ENCODINGS, 'identity'])]
    .filter(encoding => encoding === 'identity' || ENCODINGS.includes(encoding))

  function act (ctx) {
    if (ctx.headerSent || !ctx.writable) return
    ctx.vary('Accept-Encoding')
    if (ctx.status === 304) return unchanged(ctx)
    if (!mayCompress(ctx, filter)) return

    const header = ctx.get('accept-encoding') || whenSilent
    const accepted = header === '*' ? whenAny : header
    if (isIdentity(choose(accepted, preference))) return

    const { type } = ctx.response
    const source = ctx.body ? sourceOf(ctx.body) : null
    const size = isWhole(source) ? Buffer.byteLength(source) : declaredLength(ctx)
    const settings = ctx.compress instanceof Object ? { ...options, ...ctx.compress } : options
    if (size < bytes(valueOf('threshold', settings.threshold ?? 1024, type, size, ctx))) return

    const values = ENCODINGS.map(name => valueOf(name, settings[name], type, size, ctx))
    const isOff = name => values[ENCODINGS.indexOf(name)] === false
    const encoding = choose(accepted, preference.filter(name => !isOff(name)))
    if (isIdentity(encoding)) return
    return encode(ctx, source, encoding, values[ENCODINGS.indexOf(encoding)])
  }

  return {
    act,
    preferredEncodings: ENCODINGS,
    encodingOptions: Object.fromEntries(ENCODINGS.map(name => [name, { ...ENCODERS[name].defaults, ...options[name] }]))
  }
})

module.exports = middleware

/**
 * The same for `app.final`.
 *
 *    app.final(compress.final({ threshold: 2048 }))
 *
 * @param {object} [options] see options.js
 * @return {Function} (ctx) => Promise | undefined
 * @api public
 */
module.exports.final = final

function mayCompress (ctx, filter) {
  const { body, response, status } = ctx
  // the response to HEAD may have the length of a body that only GET makes
  if (!body && (body != null || ctx.method !== 'HEAD' || !response.get('Content-Length'))) return false
  if (ctx.compress === false || EMPTY.has(status)) return false
  if (response.get('Content-Encoding') || isResponse(body)) return false
  // a range counts uncompressed bytes
  if (status === 206 || response.get('Content-Range')) return false
  const { type } = response
  // an encoder would hold events back until its buffer is full
  if (type === 'text/event-stream' || type === 'multipart/byteranges') return false
  if (NO_TRANSFORM.test(response.get('Cache-Control'))) return false
  return ctx.compress === true || noPromise('compress', 'options.filter', filter(type))
}

function isCompressible (type) {
  const name = type.toLowerCase()
  if (Object.hasOwn(types, name) && types[name].compressible !== undefined) {
    return types[name].compressible
  }
  return /^text\/|\+(?:json|text|xml)$/.test(name)
}

function isIdentity (encoding) {
  return encoding === undefined || encoding === 'identity'
}

/** A setting may be a function of the response, and its result a function again. */
function valueOf (name, setting, type, size, ctx) {
  while (typeof setting === 'function') setting = noPromise('compress', `options.${name}`, setting(type, size, ctx))
  return setting === null ? false : setting
}

function bytes (threshold) {
  if (threshold === false) return 0
  const size = sizeOf(threshold)
  if (size === undefined) throw misuse('compress', `ctx.compress.threshold must be ${OPTIONS.rule.members.threshold.must}, not ${given(threshold)}`)
  return size
}

/** The body as Koa sends it: text, bytes, streams and Blobs unchanged, everything else as JSON. */
function sourceOf (body) {
  const isStream = typeof body.pipe === 'function' || isWebStream(body)
  return isStream || isWhole(body) || isBlob(body) ? body : JSON.stringify(body)
}

function declaredLength (ctx) {
  const length = ctx.response.get('Content-Length')
  return length ? Number(length) : undefined
}

function isWhole (source) {
  return typeof source === 'string' || Buffer.isBuffer(source)
}

async function encode (ctx, source, encoding, options) {
  const { stream, whole } = ENCODERS[encoding]
  if (isWhole(source)) {
    // a Buffer is compressed to a Buffer: no stream is made, and the length is known, for HEAD too
    const body = await whole(source, options)
    if (ctx.headerSent || !ctx.writable) return
    ctx.body = body
  } else {
    if (source !== null) ctx.body = transformed(readable(source), stream(options), ctx.response.get('Content-Length'))
    ctx.remove('Content-Length')
  }
  ctx.set('Content-Encoding', encoding)
  changed(ctx)
}

function readable (source) {
  return source.pipe ? source : Readable.fromWeb(isBlob(source) ? source.stream() : source)
}
