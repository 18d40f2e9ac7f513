'use strict'

/**
 * Mark an error whose response is sent before the body is read to its end. Kone itself drops the rest of such a body;
 * Koa's connection would wait for a reader, and serve no other request.
 *
 *    throw closeAfterError(ctx, createError(413))
 *
 * @param {object} ctx
 * @param {Error} err
 * @return {Error} the same
 * @api private
 */
module.exports = function closeAfterError ({ onFinished, req, res }, err) {
  if (onFinished !== undefined) return err
  // RFC 9113 8.1: after the whole response a client of HTTP/2 is requested, without an error, to stop sending; node's
  // response is not finished before the stream is closed, its stream is.
  const stream = req.httpVersionMajor > 1 ? req.stream : undefined
  const sent = stream ?? res
  sent.once('finish', () => {
    stream?.close()
    req.resume() // discard the bytes that have arrived, which node would keep
  })
  return err
}
