'use strict'

const { Buffer } = require('buffer')
const { Readable } = require('stream')
const statuses = require('statuses')
const { declare } = require('./core/body-length')
const { dropHttp1 } = require('./engines/node')
const { kUpgrade } = require('./engines/upgrade')
const { send, sizeOf, toStream } = require('./core/stream')
const { byteLength } = require('./shared/text')

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

  const isHttp2 = response.incoming.httpVersionMajor >= 2
  if (isHttp2) dropHttp1(response)
  const { status } = response
  if (status === 101 && response.incoming[kUpgrade]?.switchProtocols()) return
  const { body } = ctx // as Koa: an app may have an accessor of its own, which wraps each body

  if (statuses.empty[status]) {
    response.body = null // strips the headers of a body
    return endEmpty(outgoing, isHttp2)
  }

  if (response.incoming.method === 'HEAD') {
    // An empty body stands for one that the app does not make for HEAD: the length that it has set is that one's.
    const size = body === null || body === undefined ? null : sizeOf(body) ?? null
    const isStandIn = size === 0 && !outgoing.hasHeader('Transfer-Encoding')
    const declared = declare(response, isStandIn ? null : size)
    if (isStandIn && declared === Infinity) declare(response, 0)
    return endEmpty(outgoing, isHttp2)
  }

  if (typeof body === 'string') return end(response, body, byteLength(body), false)
  if (Buffer.isBuffer(body)) return end(response, body, body.length, false)
  if (typeof body === 'object' && body !== null) {
    const stream = toStream(body)
    if (stream) return send(response, stream, body)
  }

  const text = body === null || body === undefined ? textOf(ctx, response) : JSON.stringify(body)
  if (text === undefined) throw new TypeError(`a body of type ${typeof body} has no JSON`)
  end(response, text, byteLength(text), true)
}

// Node's HTTP/2 marks a response as ended before it throws for a field: the error's response could not be sent.
function endEmpty (outgoing, isHttp2) {
  if (isHttp2) outgoing.flushHeaders()
  return outgoing.end()
}

// A body of another length than what flushHeaders() has sent is a stream of that length, which is cut or fails.
function end (response, body, size, isAdded) {
  const declared = declare(response, size, isAdded)
  if (declared === size || declared === Infinity) response.outgoing.end(body)
  else send(response, Readable.from([body], { objectMode: false }), body)
}

// Without a body the reason phrase is sent, unless null was set explicitly. Then the length is 0 as
// in Koa 3; Koa 2 sends none and has to close the connection.
function textOf (ctx, response) {
  if (response._explicitNullBody) {
    response.remove('Content-Type')
    return ''
  }
  const code = String(response.status)
  if (!response.headerSent) response.type = 'text'
  return response.incoming.httpVersionMajor >= 2 ? code : ctx.message || code
}
