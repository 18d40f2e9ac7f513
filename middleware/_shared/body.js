'use strict'

const createError = require('../../lib/shared/http-errors')
const { decoderOf, decompress } = require('./decoders')
const dropRest = require('./drop-rest')

/**
 * A request's body, decompressed, in one Buffer. On kone, if the bytes came with the headers,
 * no stream and no promise is made.
 *
 *    const bytes = await readBody(ctx, 1024 * 1024)
 *
 * @param {object} ctx
 * @param {number} limit in bytes, before and after decompression
 * @param {number} [memory] of all decoders of the process together, in bytes
 * @return {Buffer|Promise<Buffer>}
 * @throws {HttpError} or rejects: 400 when it is corrupt or cut short, 413 beyond the limit, 415
 * for an unknown Content-Encoding, 503 when too many compressed bodies are queued
 * @api private
 */
module.exports = function readBody (ctx, limit, memory) {
  const { rawBody } = ctx.incoming ?? ctx.req
  if (Buffer.isBuffer(rawBody)) return check(ctx, rawBody, limit) // of a cloud function, which has decompressed it
  const encoding = ctx.get('content-encoding').toLowerCase()
  if (encoding === '' || encoding === 'identity') return take(ctx, limit)

  const decoder = decoderOf(encoding)
  if (decoder === undefined) {
    throw createError(415, `unsupported content encoding "${encoding}"`, { type: 'encoding.unsupported', encoding })
  }
  // incompressible bytes grow a little when they are compressed
  const bytes = take(ctx, Math.ceil(limit * 1.01) + 64)
  const expanded = bytes => bytes.length === 0 ? bytes : expand(ctx, decoder, bytes, limit, memory)
  return Buffer.isBuffer(bytes) ? expanded(bytes) : bytes.then(expanded)
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
  return dropRest(ctx, createError(413, 'request entity too large', {
    code: 'KONE_ERR_BODY_LIMIT',
    type: 'entity.too.large',
    limit
  }))
}

async function expand (ctx, decoder, bytes, limit, memory) {
  let result
  try {
    result = await decompress(decoder, bytes, limit, memory)
  } catch (err) {
    if (err.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(ctx, limit)
    if (err.status !== undefined) throw err
    throw createError(400, `corrupt ${ctx.get('content-encoding')} body`, { type: 'encoding.corrupt', cause: err })
  }
  if (result.length > limit) throw tooLarge(ctx, limit) // a limit of 0, which zlib refuses
  return result
}

/**
 * Koa has only the stream.
 */
async function collect (req, limit) {
  const declared = Number(req.headers['content-length'])
  if (declared > limit) throw createError(413, { limit })
  if (req.readableEnded) throw unreadable()
  if (req.readableEncoding) throw createError(500, 'stream encoding should not be set', { type: 'stream.encoding.set' })

  const isBegun = req.readableDidRead // and may be put back, by unshift()
  const chunks = []
  let length = 0
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      length += chunk.length
      if (length > limit) throw createError(413, { limit })
      chunks.push(chunk)
    }
  } catch (err) {
    throw err.status === 413 ? err : aborted(err)
  }
  if (isBegun && length < declared) throw unreadable()
  return Buffer.concat(chunks, length)
}

function unreadable () {
  return createError(500, 'stream is not readable', { type: 'stream.not.readable' })
}

function aborted (cause) {
  return createError(400, 'request aborted', { code: 'KONE_ERR_BODY_ABORTED', type: 'request.aborted', cause })
}
