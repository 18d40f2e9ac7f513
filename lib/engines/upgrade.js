'use strict'

const http = require('http')
const { NullSocket } = require('./objects/ended')
const { setImmediate } = require('../shared/timers')

/**
 * Gives handshakes of WebSockets to an app that has a route for them. The front keeps one that comes alone, for a route
 * that is visible, if no other code sees it (FrontUpgrade). All others are requests of node:http (NodeUpgrade):
 *
 *     node's parser ──▶ server.emit ──▶ unclaimed: the listeners of 'upgrade' or 'request', as without kone
 *                           └─▶ Upgrade ──▶ the app, with req and res ──▶ another status: res sends it, and closes
 *                                              └─▶ 101 ──▶ accepted(socket, bytes after the header section, fields)
 */

/**
 * Of a request: its Upgrade. Of a server: its Upgrades. Of a middleware: true if it may accept one. Of globalThis: once
 * an app has called websocket(), the function that opens a client's. Of a server's `emit`: true if it replaces none but
 * the prototype's.
 */
const kUpgrade = Symbol.for('kone.upgrade')

/** A property of a server that drains, and the event of its beginning: see drain.js. */
const kDraining = Symbol.for('kone.draining')

/** Of a request that node has emitted as 'request': the host that claims it, and its response. */
const kDetached = Symbol('kone.detached')

/** Bytes of a client that does not wait for the response. */
const MOST_HELD = 64 * 1024

/** The handshake decides about these fields, whatever the app has set. */
const HANDSHAKE_FIELDS = /^(?:connection|upgrade|keep-alive|trailer|transfer-encoding|content-.*|sec-websocket-.*)$/

/**
 * From now on this server gives handshakes to the app, if some code of the process can accept them. `emit` is replaced,
 * because a listener of 'upgrade' could not keep a handshake from the others: ws responds with 400 to a path that it
 * does not know.
 */
function hook (server, host) {
  if (globalThis[kUpgrade] === undefined) return false
  if (server[kUpgrade] === undefined) Object.defineProperty(server, kUpgrade, { value: new Upgrades(server) })
  server[kUpgrade].add(host)
  return true
}

/** Of one server. */
class Upgrades {
  constructor (server) {
    const upgrades = this
    const before = Object.hasOwn(server, 'emit') ? server.emit : undefined
    this.server = server
    this.hosts = new Set()
    this.pending = new Set() // those without a response
    server.on(kDraining, () => { for (const upgrade of this.pending) upgrade.refuse() })

    function emit (event, req, other, head) {
      if (event === 'upgrade' && upgrades.begin(req, other, head)) return true
      if (event === 'request' && upgrades.detach(req, other)) return true
      return Reflect.apply(before ?? Object.getPrototypeOf(server).emit, server, arguments)
    }

    emit[kUpgrade] = before === undefined // the front need not give this server's requests to 'request' listeners
    // eslint-disable-next-line kone/owners -- the server, of which no event shows whether others get one
    Object.defineProperty(server, 'emit', { value: emit, writable: true, configurable: true })
  }

  add (host) {
    this.hosts.add(host)
  }

  /** @return {object|undefined} the host that claims this handshake */
  hostOf (req, isAlone) {
    for (const host of this.hosts) if (host.claims(req, isAlone)) return host
  }

  /**
   * The front has parsed a handshake.
   *
   * @return {FrontUpgrade|undefined} undefined if it is not for this host, or other code of the app may take the socket
   */
  take (host, incoming) {
    const isFor = this.server[kDraining] === undefined && this.hostOf(incoming, false) === host
    return isFor ? new FrontUpgrade(this, incoming) : undefined
  }

  /** Does nobody else listen for handshakes? */
  get isAlone () {
    return this.server.listeners('upgrade').every(listener => listener === ignore)
  }

  /** Node has given up the connection. */
  begin (req, socket, head) {
    const { host, res } = req[kDetached] ?? { host: isHandshake(req) ? this.hostOf(req, this.isAlone) : undefined }
    if (res !== undefined) this.server.off('upgrade', ignore)
    if (host !== undefined) new NodeUpgrade(this, host, req, socket, head).start(res)
    return host !== undefined
  }

  /**
   * Without a listener of 'upgrade' node emits 'request' and reads on. Mark the request before node's parser has
   * returned, so that node gives up the connection after it and emits 'upgrade' as well.
   */
  detach (req, res) {
    const isNew = req[kDetached] === undefined && req[kUpgrade] === undefined
    const host = isNew && isHandshake(req) ? this.hostOf(req, this.isAlone) : undefined
    if (host === undefined) return false
    const { server } = this
    // eslint-disable-next-line kone/owners -- node's request
    Object.assign(req, { upgrade: true, [kDetached]: { host, res } })
    server.on('upgrade', ignore) // since Node 22 the connection is destroyed without one
    setImmediate(() => {
      if (req[kUpgrade] !== undefined) return
      server.off('upgrade', ignore)
      // eslint-disable-next-line kone/owners -- node's request
      req.upgrade = false // other code has called the app's listener later
      host.listener(req, res)
    })
    return true
  }
}

function ignore () {}

/** A handshake of the app, while its middleware run. */
class Upgrade {
  constructor (upgrades, socket, res) {
    this.upgrades = upgrades
    this.socket = socket
    this.res = res // or the front's, which has node's API
    this.accepted = null
  }

  get server () { return this.upgrades.server }

  /**
   * For a middleware: call `fn` when the response is a 101.
   *
   * @param {Function} fn `(socket, head, fields) => void`: it sends the response, with these fields (name, value, …)
   */
  accept (fn) {
    this.accepted = fn
  }

  /** The server is closing. The middleware run on, and what they respond is dropped. */
  refuse () {
    const { res } = this
    if (res.headersSent) return
    for (const name of res.getHeaderNames()) res.removeHeader(name)
    res.statusCode = 503
    res.statusMessage = ''
    res.setHeader('Content-Type', 'text/plain; charset=utf-8')
    res.end('Service Unavailable')
  }

  /**
   * For respond.js: the response is decided, and it is a 101.
   *
   * @return {boolean} false if no middleware has accepted
   */
  switchProtocols () {
    const { accepted, res, socket } = this
    if (accepted === null) return false
    const fields = fieldsOf(res)
    this.accepted = null
    this.upgrades.pending.delete(this)
    accepted(socket, Buffer.concat(this.detach()), fields)
    if (socket.destroyed || socket.writableLength === 0) this.finish()
    else socket.write('', 'latin1', () => this.finish())
    return true
  }

  /** Take the socket from whoever has it. @return {Buffer[]} what was read after the handshake */
  detach () { return [] }

  /** The 101 was flushed, or the socket destroyed. */
  finish () {}
}

/** The front has the connection. */
class FrontUpgrade extends Upgrade {
  constructor (upgrades, { connection, outgoing }) {
    super(upgrades, connection.socket, outgoing)
    this.connection = connection
    upgrades.pending.add(this)
    outgoing.onFinished(() => upgrades.pending.delete(this))
  }

  detach () {
    return this.connection.switchProtocols(this.res)
  }

  finish () {
    this.res.endSwitch(this.socket.destroyed)
  }
}

/** Node has parsed it. */
class NodeUpgrade extends Upgrade {
  constructor (upgrades, host, req, socket, head) {
    super(upgrades, socket, null)
    this.host = host
    this.req = req
    this.held = [head]
    this.size = head.length
    this.listeners = null
    this.readers = 0 // listeners for 'data', with this one
    req[kUpgrade] = this
  }

  /** @param {http.ServerResponse} [res] that node has created for it */
  start (res) {
    const { socket } = this
    const before = socket._httpMessage
    if (res === undefined && before) { // the response to an earlier request
      before.once('close', () => this.start())
      return
    }
    this.res = res ?? new http.ServerResponse(this.req)
    Object.assign(this.res, { shouldKeepAlive: false }) // eslint-disable-line kone/owners -- node's response
    if (res === undefined) this.res.assignSocket(socket)
    else res.off('finish', /** @type {any} */ (res.listeners('finish')[0])) // node's, for the next request of the connection
    if (this.res.socket === null) this.res.once('socket', () => this.run())
    else this.run()
  }

  run () {
    const { host, req, res, server, socket, upgrades } = this
    if (socket.destroyed) return
    this.listeners = {
      data: bytes => this.onData(bytes),
      end: () => { if (!this.isTaken()) socket.destroy() }, // on node:http the client's end ends the connection, too
      error: () => {},
      drain: () => res.emit('drain'),
      close: () => this.onClose()
    }
    for (const event in this.listeners) socket.on(event, this.listeners[event])
    this.readers = socket.listenerCount('data')
    res.once('finish', () => this.onFinish())
    upgrades.pending.add(this)
    if (server[kDraining] === undefined) host.listener(req, res)
    else this.refuse()
  }

  /**
   * Other code of the app reads the socket (koa-easy-ws, in an app without a websocket() that is visible): from now on
   * it has the connection.
   */
  isTaken () {
    const { listeners, socket, upgrades } = this
    if (listeners === null || socket.listenerCount('data') === this.readers) return false
    this.listeners = this.held = null
    for (const event in listeners) socket.off(event, listeners[event])
    upgrades.pending.delete(this)
    return true
  }

  refuse () {
    if (!this.isTaken()) super.refuse()
  }

  onData (bytes) {
    if (this.isTaken() || this.res.writableEnded) return
    this.held.push(bytes)
    this.size += bytes.length
    if (this.size > MOST_HELD) this.socket.pause()
  }

  /** Another response than 101 is flushed. */
  onFinish () {
    const { res, socket } = this
    if (this.listeners === null) return
    socket.resume()
    res.detachSocket(socket)
    socket.destroySoon()
  }

  onClose () {
    this.upgrades.pending.delete(this)
    if (!this.res.writableEnded) this.req.destroy()
  }

  detach () {
    const { held, listeners, res, socket } = this
    this.listeners = this.held = null
    for (const event in listeners) socket.off(event, listeners[event])
    socket.readableFlowing = null // eslint-disable-line kone/owners -- ws's listener for 'data' makes it flow again
    res.detachSocket(socket)
    res.writeHead(101) // from now on nothing of it changes
    return held
  }

  finish () {
    const { res, socket } = this
    if (socket.destroyed) return
    const nowhere = new NullSocket()
    res.assignSocket(nowhere)
    res.once('finish', () => res.detachSocket(nowhere))
    res.end()
  }
}

/** @return {string[]} name, value, name, value, … */
function fieldsOf (res) {
  const fields = []
  for (const name of res.getRawHeaderNames()) {
    if (HANDSHAKE_FIELDS.test(name.toLowerCase())) continue
    for (const value of [res.getHeader(name)].flat()) fields.push(name, String(value))
  }
  return fields
}

/** Does node's parser end the HTTP of a connection after this request, and is it for a WebSocket? */
function isHandshake ({ headers, httpVersion, method }) {
  const { upgrade, connection, 'content-length': length, 'transfer-encoding': coding } = headers
  return upgrade !== undefined && upgrade.toLowerCase() === 'websocket' && method === 'GET' && httpVersion === '1.1' &&
    connection !== undefined && connection.split(',').some(one => one.trim().toLowerCase() === 'upgrade') &&
    coding === undefined && !(length > 0)
}

module.exports = { hook, kUpgrade }
