'use strict'

const zlib = require('node:zlib')
const createError = require('http-errors')
const unread = require('./unread')

const INFLATE = {
  gzip: zlib.unzip,
  'x-gzip': zlib.unzip,
  deflate: zlib.unzip,
  br: zlib.brotliDecompress,
  zstd: zlib.zstdDecompress // Node 22.15 and later
}

/**
 * A request's body, decompressed, in one Buffer. On kone, if the bytes came with the headers,
 * no stream and no promise is made.
 *
 *    const bytes = await readBody(ctx, 1024 * 1024)
 *
 * @param {object} ctx
 * @param {number} limit in bytes, before and after decompression
 * @return {Buffer|Promise<Buffer>}
 * @throws {HttpError} or rejects: 400 when it is corrupt or cut short, 413 beyond the limit, 415
 * for an unknown Content-Encoding
 * @api private
 */
module.exports = function readBody (ctx, limit) {
  const encoding = ctx.get('content-encoding').toLowerCase()
  if (encoding === '' || encoding === 'identity') return take(ctx, limit)

  const inflate = Object.hasOwn(INFLATE, encoding) ? INFLATE[encoding] : undefined
  if (inflate === undefined) {
    throw createError(415, `unsupported content encoding "${encoding}"`, { type: 'encoding.unsupported', encoding })
  }
  // incompressible bytes grow a little when they are compressed
  const bytes = take(ctx, Math.ceil(limit * 1.01) + 64)
  if (Buffer.isBuffer(bytes)) return expand(ctx, inflate, encoding, bytes, limit)
  return bytes.then(bytes => expand(ctx, inflate, encoding, bytes, limit))
}

function take (ctx, limit) {
  const { request } = ctx
  const isKone = typeof request.readBody === 'function'
  const bytes = isKone ? request.readBody({ limit }) : collect(ctx.req, limit)
  if (Buffer.isBuffer(bytes)) return check(ctx, bytes, limit)
  return bytes.then(bytes => check(ctx, bytes, limit), err => { throw refusal(ctx, err) })
}

/**
 * Another middleware may have read the body before, with a higher limit.
 */
function check (ctx, bytes, limit) {
  if (bytes.length > limit) throw tooLarge(ctx, limit)
  return bytes
}

function refusal (ctx, err) {
  return err.status === 413 ? tooLarge(ctx, err.limit) : err
}

function tooLarge (ctx, limit) {
  return unread(ctx, createError(413, 'request entity too large', {
    code: 'KONE_ERR_BODY_LIMIT',
    type: 'entity.too.large',
    limit
  }))
}

function expand (ctx, inflate, encoding, bytes, limit) {
  if (bytes.length === 0) return bytes
  return new Promise((resolve, reject) => {
    inflate(bytes, { maxOutputLength: Math.max(limit, 1) }, (err, result) => {
      if (err === null && result.length <= limit) resolve(result)
      else if (err === null) reject(tooLarge(ctx, limit)) // a limit of 0, which zlib refuses
      else if (err.code === 'ERR_BUFFER_TOO_LARGE') reject(tooLarge(ctx, limit))
      else reject(createError(400, `corrupt ${encoding} body`, { type: 'encoding.corrupt', cause: err }))
    })
  })
}

/**
 * Koa has only the stream. The package is loaded only there.
 */
function collect (req, limit) {
  const rawBody = require('raw-body')
  return rawBody(req, { limit, length: req.headers['content-length'] }).catch(err => {
    const isCut = err.type === 'request.aborted' || (req.destroyed && !req.readableEnded)
    throw isCut ? aborted(err) : err
  })
}

function aborted (cause) {
  return createError(400, 'request aborted', { code: 'KONE_ERR_BODY_ABORTED', type: 'request.aborted', cause })
}
