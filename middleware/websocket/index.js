'use strict'

const { AsyncLocalStorage } = require('async_hooks')
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

const opened = new WeakMap() // server → its open sockets
const running = new WeakMap() // app → promises of its handlers

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
  const { maxConnections = Infinity } = settings
  const { WebSocketServer, WebSocket, subprotocol } = settings.ws ?? ws()
  const allows = originsOf(settings)
  const Socket = socketOf(WebSocket)
  const accepted = new WeakMap() // req → what its handshake needs
  let connections = 0
  const released = () => { connections-- } // made here: otherwise each socket would keep its ctx

  // ws's own server, which listens to nothing: it checks a handshake, sends the 101 and reads frames
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: settings.maxPayload,
    perMessageDeflate: settings.perMessageDeflate,
    handleProtocols: (offered, req) => accepted.get(req).protocol,
    WebSocket: Socket
  })
  server.on('headers', (lines, req) => {
    const { fields } = accepted.get(req)
    for (let i = 0; i < fields.length; i += 2) lines.push(`${fields[i]}: ${fields[i + 1]}`)
  })
  globalThis[kUpgrade] = (...handshake) => open(Socket, ...handshake)

  async function websocket (ctx) {
    const { upgrade, offered } = handshakeOf(ctx, subprotocol)
    await allows(ctx)
    const protocol = offered !== undefined && choose(settings.protocols, offered, ctx)
    if (connections >= maxConnections) ctx.throw(503)

    let isOpen = false
    connections++
    whenFinished(ctx, () => { if (!isOpen) connections-- })
    const inContext = AsyncLocalStorage.snapshot()
    ctx.status = 101
    upgrade.accept((connection, head, fields) => {
      accepted.set(ctx.req, { protocol, fields })
      server.handleUpgrade(ctx.req, connection, head, socket => {
        isOpen = true
        sockets.opened(ctx, { closed: socket.closed, bytes: () => connection.bytesWritten })
        endWithServer(socket, upgrade.server)
        socket.begin(inContext, settings, released)
        forbidFields(ctx)
        inContext(run, handler, socket, ctx)
      })
    })
  }

  return Object.defineProperty(websocket, kUpgrade, { value: true })
}

/** `app.close()` waits for it. */
function run (handler, socket, ctx) {
  const { app } = ctx
  if (!running.has(app)) {
    running.set(app, new Set())
    app.onClose(() => {
      const handlers = running.get(app)
      running.delete(app) // an app may listen again
      return Promise.all(handlers)
    })
  }
  const handlers = running.get(app)
  const handling = handle(handler, socket, ctx).then(() => handlers.delete(handling))
  handlers.add(handling)
}

async function handle (handler, socket, ctx) {
  try {
    await handler(socket, ctx)
    socket.finish()
  } catch (err) {
    socket.finish(1011)
    if (err?.code !== CLOSED) report(ctx, err)
  }
}

function choose (protocols, offered, ctx) {
  if (typeof protocols === 'function') return noPromise('websocket', 'options.protocols', protocols(offered, ctx))
  return protocols?.find(one => offered.has(one)) ?? false
}

/** The response was sent: Koa's ctx.set() would do nothing. */
function forbidFields ({ response }) {
  const refuse = () => {
    throw new Error(`the response to a handshake is sent before its handler runs: set headers in a middleware in front of websocket() (${manual('websocket')})`)
  }
  for (const name of ['set', 'append', 'remove']) Object.defineProperty(response, name, { value: refuse })
}

function endWithServer (socket, server) {
  if (!opened.has(server)) {
    opened.set(server, new Set())
    server.on(kDraining, () => { for (const one of opened.get(server)) one.leave() })
  }
  const open = opened.get(server)
  open.add(socket)
  socket.closed.then(() => open.delete(socket))
  if (server[kDraining] !== undefined) socket.leave()
}

function ws () {
  try {
    return require('ws')
  } catch (cause) {
    throw new Error(`websocket: the package ws is missing: npm install ws (${manual('websocket')})`, { cause })
  }
}
