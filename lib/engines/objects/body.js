'use strict'

const { aborted, tooLong, used } = require('../errors')
const { pendingOf } = require('./finished')
const { http2Stream } = require('./message')

/**
 * Read the body of node's own request into one Buffer.
 *
 * @param {number} limit in bytes
 * @return {Promise<Buffer>} rejects with an HttpError: 413 beyond the limit, 400 when it is cut short
 */
exports.readStream = function (req, limit) {
  return new Promise((resolve, reject) => {
    const give = bytes => bytes.length > limit ? reject(tooLong(limit)) : resolve(bytes)
    if (Buffer.isBuffer(req.rawBody)) return give(req.rawBody) // a cloud function has read the stream
    const socket = connectionOf(req)
    const declared = Number(req.headers['content-length'])
    if (declared > limit) return reject(tooLong(limit))
    const isGone = req.destroyed || (socket?.destroyed && !req.complete)
    if (http2Stream(req)?.rstCode) return reject(aborted(0))
    if (isGone && !req.readableEnded) {
      // The client has left, but all of its body is here.
      const rest = req.complete && !req.readableDidRead ? req.read() : null
      return Buffer.isBuffer(rest) ? give(rest) : reject(aborted(0))
    }
    // a 'data' listener of this tick has got no bytes yet: both get them
    const isOnlyWatched = !req.readableDidRead && req.listenerCount('data') > 0
    if (req.readableEnded || (req.readableFlowing && !isOnlyWatched)) return reject(used())

    const isBegun = req.readableDidRead // and may be put back, by unshift()
    const chunks = []
    let length = 0

    const settle = (err) => {
      req.removeListener('data', take)
      req.removeListener('end', end)
      req.removeListener('error', lose)
      req.removeListener('close', lose)
      pending?.delete(cut)
      if (err) reject(err)
      else resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, length))
    }
    const take = (chunk) => {
      if (typeof chunk === 'string') return settle(used('ctx.req.setEncoding() has made text of the body, and its bytes are read'))
      length += chunk.length
      if (length <= limit) return chunks.push(chunk)
      req.pause() // after the response the rest is dropped: see ../rest.js
      settle(tooLong(limit))
    }
    const lose = () => settle(aborted(length))
    // A stream of HTTP/2 that its client cancels ends as one that is complete.
    const end = () => {
      if (req.aborted || http2Stream(req)?.rstCode) lose()
      else settle(isBegun && length < declared ? used() : null)
    }
    // Once the response has ended, node does not tell the request that its socket closes.
    const cut = { close: () => { if (!req.complete) lose() } }
    const pending = socket === undefined ? null : pendingOf(socket)

    req.on('data', take)
    req.on('end', end)
    req.on('error', lose)
    req.on('close', lose)
    req.resume() // after a pause() a 'data' listener alone would wait for ever
    pending?.add(cut)
  })
}

// Of a request that ends with it: a stream of HTTP/2 has its own end, and so has the body of a web Request.
function connectionOf (req) {
  return http2Stream(req) === undefined && req.socket?.server !== undefined ? req.socket : undefined
}
