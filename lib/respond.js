'use strict'

const { Buffer } = require('buffer')
const statuses = require('statuses')
const { send, toStream } = require('./stream')

/**
 * Send status, headers and body of a context. Only this function and `ctx.onerror` end a response.
 *
 *    respond(ctx)
 *
 * @throws what JSON.stringify or a body that cannot be sent throws
 */
module.exports = function respond (ctx) {
  if (ctx.respond === false) return // the app responds by itself
  const { response, outgoing } = ctx
  if (!response.writable) return

  const { status } = response
  const { body } = ctx // as Koa: an app may have an accessor of its own, which wraps each body

  if (statuses.empty[status]) {
    response.body = null // strips the headers of a body
    return outgoing.end()
  }

  if (response.incoming.method === 'HEAD') {
    if (!outgoing.headersSent && !response.has('Content-Length')) {
      const { length } = response
      if (Number.isInteger(length)) response.length = length
    }
    return outgoing.end()
  }

  if (typeof body === 'string' || Buffer.isBuffer(body)) return outgoing.end(body)
  if (body === null || body === undefined) return respondStatus(ctx, response, outgoing)
  if (typeof body === 'object') {
    const stream = toStream(body)
    if (stream) return send(response, stream, body)
  }

  const json = JSON.stringify(body)
  if (json === undefined) throw new TypeError(`a body of type ${typeof body} has no JSON`)
  if (!outgoing.headersSent) response.length = Buffer.byteLength(json)
  outgoing.end(json)
}

// Without a body the reason phrase is sent, unless null was set explicitly. Then the length is 0 as
// in Koa 3; Koa 2 sends none and has to close the connection.
function respondStatus (ctx, response, outgoing) {
  if (response._explicitNullBody) {
    response.remove('Content-Type')
    response.remove('Transfer-Encoding')
    response.length = 0
    return outgoing.end()
  }
  const code = String(response.status)
  const text = response.incoming.httpVersionMajor >= 2 ? code : ctx.message || code
  if (!outgoing.headersSent) {
    response.type = 'text'
    response.length = Buffer.byteLength(text)
  }
  outgoing.end(text)
}
