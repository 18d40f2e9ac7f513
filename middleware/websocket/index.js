'use strict'

const { AsyncResource } = require('async_hooks')
const { UNSAVED } = require('../_shared/context')
const { report } = require('../../lib/shared/error-path')
const { given, manual, misuse, noPromise } = require('../_shared/usage-error')
const whenFinished = require('../_shared/finished')
const sockets = require('../_shared/sockets')
const open = require('./client')
const handshakeOf = require('./handshake')
const OPTIONS = require('./options')
const originsOf = require('./origins')
const { CLOSED, socketOf } = require('./socket')

/** Of a middleware: it accepts handshakes; of globalThis: there is one, and this opens a socket of it in tests. */
const kUpgrade = Symbol.for('kone.upgrade')

/** A property of a server that drains, and the event of its beginning: see lib/engines/drain.js. */
const kDraining = Symbol.for('kone.draining')

/** Nothing waits for the resource to be collected. */
const ASYNC = { requireManualDestroy: true }

const opened = new WeakMap() // server → its open sockets
const running = new WeakMap() // app → its handlers that run, see handlersOf()

/**
 * Accept a WebSocket. The middleware in front of it run as for every request; when they have returned, the response is
 * sent, 101 with the fields that they have set, and then the handler runs.
 *
 *    router.get('/rooms/:id', login, websocket(async (socket, ctx) => {
 *      for await (const message of socket) await socket.send(`${ctx.session.user}: ${message}`)
 *    }))
 *
 * @param {Function} handler `(socket, ctx) => *`: when it has ended the connection closes, unless it has a listener for
 *   'message'
 * @param {object} [options] see options.js
 * @return {Function} middleware
 * @throws {TypeError} for an option that is wrong
 * @throws {Error} if the package ws is missing
 * @api public
 */
module.exports = function websocket (handler, options) {
  const settings = OPTIONS.check(options)
  if (typeof handler !== 'function') throw misuse('websocket', `handler must be a function, not ${given(handler)}`)
  const { maxConnections } = settings
  const { WebSocketServer, WebSocket, subprotocol } = settings.ws ?? ws()
  const allows = originsOf(settings)
  const Socket = socketOf(WebSocket)
  let connections = 0
  // made here: otherwise each socket would keep its ctx
  const released = maxConnections === undefined ? undefined : () => { connections-- }

  let accepted // the handshake that ws completes, which is synchronous
  // ws's own server, which listens to nothing: it checks a handshake, sends the 101 and reads frames
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: settings.maxPayload,
    perMessageDeflate: settings.perMessageDeflate,
    handleProtocols: () => accepted.protocol,
    WebSocket: Socket
  })
  server.on('headers', lines => {
    const { fields } = accepted
    for (let i = 0; i < fields.length; i += 2) lines.push(`${fields[i]}: ${fields[i + 1]}`)
  })
  globalThis[kUpgrade] = (path, protocols, options) => open(Socket, path, protocols, options)

  async function websocket (ctx) {
    const { upgrade, request, offered } = handshakeOf(ctx, subprotocol)
    const asking = allows(ctx)
    if (asking !== undefined) await asking
    const protocol = offered !== undefined && choose(settings.protocols, offered, ctx)
    if (connections >= maxConnections) ctx.throw(503)

    let isOpen = false
    if (released !== undefined) {
      connections++
      whenFinished(ctx, () => { if (!isOpen) released() })
    }
    const context = new AsyncResource('kone.websocket', ASYNC)
    ctx.status = 101
    upgrade.accept((connection, head, fields) => {
      accepted = { protocol, fields }
      const earlier = connection.bytesWritten
      server.handleUpgrade(request, connection, head, socket => {
        isOpen = true
        socket.begin(settings, { context, connection, earlier, others: openOf(upgrade.server), released })
        sockets.opened(ctx, socket)
        forbidFields(ctx)
        context.runInAsyncScope(run, undefined, handler, socket, ctx)
      })
    })
  }

  return Object.defineProperty(websocket, kUpgrade, { value: true })
}

async function run (handler, socket, ctx) {
  const handlers = handlersOf(ctx.app)
  handlers.count++
  try {
    await handler(socket, ctx)
    if (socket.hasListened && UNSAVED in ctx) socket.closed.then(() => { if (ctx[UNSAVED]) report(ctx, unsaved()) })
    else if (ctx[UNSAVED]) throw unsaved()
    socket.finish()
  } catch (err) {
    socket.finish(1011)
    if (err?.code !== CLOSED) report(ctx, err)
  }
  if (--handlers.count === 0) handlers.onEnd?.()
}

/** Nothing saves it by itself any more. */
function unsaved () {
  return new Error(`ctx.session was changed behind the handshake and not saved: await ctx.session.save() (${manual('websocket')})`)
}

/** Those that run, for which `app.close()` waits. */
function handlersOf (app) {
  if (!running.has(app)) {
    const handlers = { count: 0, onEnd: null }
    running.set(app, handlers)
    app.onClose(() => {
      running.delete(app) // an app may listen again
      if (handlers.count > 0) return new Promise(resolve => { handlers.onEnd = resolve })
    })
  }
  return running.get(app)
}

function choose (protocols, offered, ctx) {
  if (typeof protocols === 'function') return noPromise('websocket', 'options.protocols', protocols(offered, ctx))
  return protocols?.find(one => offered.has(one)) ?? false
}

/** The response was sent: Koa's ctx.set() would do nothing. */
function forbidFields ({ response }) {
  Object.assign(response, FORBIDDEN)
}

const FORBIDDEN = { set: refuse, remove: refuse } // append() calls set()

function refuse () {
  throw new Error(`the response to a handshake is sent before its handler runs: set headers in a middleware in front of websocket() (${manual('websocket')})`)
}

function openOf (server) {
  if (!opened.has(server)) {
    const open = new Set()
    opened.set(server, open)
    server.on(kDraining, () => { for (const one of open) one.leave() })
  }
  return opened.get(server)
}

function ws () {
  try {
    return require('ws')
  } catch (cause) {
    throw new Error(`websocket: the package ws is missing: npm install ws (${manual('websocket')})`, { cause })
  }
}
