'use strict'

const { error } = require('./errors')
const { given, misuse } = require('./misuse')

const LIMIT = 1024 * 1024

/**
 * Read a request's body into one Buffer.
 *
 * @param {object} incoming node's request, or the front's, which may have the bytes already
 * @param {{limit?: number}} [options] limit in bytes, default 1 MiB
 * @return {Buffer|Promise<Buffer>}
 * @throws {HttpError} or rejects: 413 beyond the limit, 400 when it is cut short
 * @api private
 */
exports.readBody = function (incoming, { limit = LIMIT } = {}) {
  if (typeof limit !== 'number' || !(limit >= 0)) {
    throw misuse('request', `request.readBody({ limit }): limit must be a number of bytes, not ${given(limit)}`)
  }
  if (typeof incoming.collect !== 'function') return collect(incoming, limit)
  const body = incoming.collect(limit)
  return body === null ? collect(incoming.materialize(), limit) : body // null: node's stream holds it
}

function collect (req, limit) {
  return new Promise((resolve, reject) => {
    const declared = Number(req.headers['content-length'])
    if (declared > limit) return reject(tooLong(limit))
    if (req.destroyed && !req.readableEnded) return reject(cut(0))
    if (req.readableEnded || req.readableFlowing) {
      return reject(error('KONE_ERR_BODY_USED', 500, 'the body was read before, as a stream'))
    }

    const chunks = []
    let length = 0

    const settle = (err) => {
      req.removeListener('data', take)
      req.removeListener('end', settle)
      req.removeListener('error', lose)
      req.removeListener('close', lose)
      if (err) reject(err)
      else resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, length))
    }
    const take = (chunk) => {
      length += chunk.length
      if (length <= limit) return chunks.push(chunk)
      leave(req)
      settle(tooLong(limit))
    }
    const lose = () => settle(cut(length))

    req.on('data', take)
    req.on('end', settle)
    req.on('error', lose)
    req.on('close', lose)
  })
}

// A body over the limit is not read to its end. An HTTP/2 client gets a reset once it has the
// response (RFC 9113, 8.1); node closes an HTTP/1 connection or skips the rest.
function leave (req) {
  req.pause()
  const { stream } = req
  if (!stream) return
  stream.once('finish', () => {
    stream.close()
    req.resume()
  })
}

function cut (received) {
  return error('KONE_ERR_BODY_ABORTED', 400, 'the request was aborted', { received })
}

function tooLong (limit) {
  return error('KONE_ERR_BODY_LIMIT', 413, `the body is longer than ${limit} bytes`, { limit })
}
