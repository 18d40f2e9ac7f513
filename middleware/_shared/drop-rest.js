'use strict'

/**
 * For an error whose response is sent before the body is read to its end: in Koa, drop the rest of the body behind that
 * response. The connection would wait for a reader, and serve no other request. Kone drops it by itself.
 *
 *    throw dropRest(ctx, createError(413))
 *
 * @param {object} ctx
 * @param {Error} err
 * @return {Error} the same
 * @api private
 */
module.exports = function dropRest ({ onFinished, req, res }, err) {
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
