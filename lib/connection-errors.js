'use strict'

const kCtx = Symbol('kone.ctx')
const kWatched = Symbol('kone.watched')

/**
 * Report errors of the connection to `ctx.onerror`. One listener per connection replaces Koa's listeners per request,
 * so a request costs nothing. The front reports errors of its own connections.
 *
 * @param {object} ctx on node:http or node:http2
 * @api private
 */
module.exports = function reportConnectionErrors (ctx) {
  const { incoming, outgoing } = ctx
  const { socket } = incoming
  if (!socket || typeof socket.on !== 'function') return
  if (incoming.httpVersionMajor >= 2) {
    ctx.onFinished(err => ctx.onerror(err?.cause)) // a client that left is not an error of the app
    return
  }
  outgoing[kCtx] = ctx
  if (socket[kWatched] === undefined) {
    socket[kWatched] = true
    socket.once('error', connectionFailed)
  }
}

function connectionFailed (err) {
  const outgoing = this._httpMessage // the response in progress, as node keeps it
  if (outgoing && outgoing[kCtx]) outgoing[kCtx].onerror(err)
}
