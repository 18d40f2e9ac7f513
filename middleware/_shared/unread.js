'use strict'

const { Kept } = require('../../lib/error-path')

const kept = new Kept(['Connection'])

/**
 * Mark an error whose response is sent before the body is read to its end: the connection then cannot
 * carry another request.
 *
 *    throw unread(ctx, createError(413))
 *
 * @param {object} ctx
 * @param {Error} err
 * @return {Error} the same
 * @api private
 */
module.exports = function unread (ctx, err) {
  const incoming = ctx.request.incoming || ctx.req
  if (incoming.httpVersionMajor > 1) {
    // RFC 9113 8.1: after the whole response the client is requested, without an error, to stop sending;
    // node's response is not finished before the stream is closed, its stream is
    const { stream } = incoming
    stream.once('finish', () => {
      stream.close()
      incoming.resume() // discard the bytes that have arrived, which node would keep
    })
  } else {
    ctx.set('Connection', 'close')
    kept.by(ctx)
  }
  return err
}
