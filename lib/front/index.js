'use strict'

const http = require('http')
const net = require('net')
const { debuglog } = require('util')
const { Scope } = require('./call')
const { Connection } = require('./connection')
const { nodeListener, replaceListener, handOver, release } = require('./node/handover')
const { RESETS } = require('./node/probe')
const {
  PATCHED, hasAgent, isEmitPatched, isListening, isWatched, reasonForNode, requestArrived, special
} = require('./node/server')
const { isFresh, takeContext } = require('./node/socket')
const { Clock } = require('./timeouts')

const debug = debuglog('kone:http1')

/** Where a server keeps its front; other copies of kone in the process find it by the same symbol. */
const kFront = Symbol.for('kone.front')

/** `--max-http-header-size` in bytes, read once because it is a getter. */
const MAX_HEADER_SIZE = http.maxHeaderSize

/** Node's limit when `server.maxHeadersCount` is not set. */
const MAX_HEADERS = 1000

/** Since Node 26 closeIdleConnections() also closes connections that never had a request (nodejs/node#63470). */
const CLOSES_UNUSED = Number(process.versions.node.split('.')[0]) >= 26

const LISTENER = "a 'connection' listener in front of kone's"
const UNHEARD = "the host's listener is no 'request' listener of the server any more"

const EVENTS = ['connection', 'secureConnection']

const { closeAllConnections, closeIdleConnections } = http.Server.prototype

/** Servers that cannot have a front → why. */
const refused = new WeakMap()

/**
 * Install the front before node's own connection listener.
 *
 *    const server = http.createServer(listener)
 *    attach(server, host)
 *    server.listen(3000)
 *
 * Plain requests go to `dispatch` with objects of the front; everything else goes to node:http. A listener
 * finds the objects of the front by `res[Symbol.for('kone.outgoing')]`.
 *
 * @param {http.Server} server
 * @param {object} host
 * @param {Function} host.listener the app's 'request' listener: if other code sees every request (isWatched() in
 *   node/server.js), they go through `server.emit('request', req, res)` instead of `dispatch`
 * @param {(incoming: object, outgoing: object) => void} host.dispatch
 * @param {(owner: *, err: Error) => void} host.failed the connection failed; `owner` is what the host
 *   gave to the `setOwner()` of the first pending outgoing, or null. It throws nothing
 * @param {(server: http.Server, socket: net.Socket) => void} host.handedOver from now on node, or who
 *   accepted a handshake, owns this socket of a server that the app has created
 * @param {(reason: string, isAgents: boolean) => void} host.fellBack requests go to node:http from now on, for a new
 *   reason; `isAgents`: an agent is the reason, so somebody has chosen it
 * @param {() => string} host.reason why the app needs node:http now, or ''
 * @param {(server: http.Server, incoming: object) => object|undefined} [host.takesHandshake] a handshake of a
 *   WebSocket: what the host keeps for it, or undefined if node:http gets it
 * @return {boolean} false when this server cannot have a front
 */
function attach (server, host) {
  const event = EVENTS.find(name => server.listeners(name)[0] === nodeListener)
  if (server[kFront] !== undefined || event === undefined) {
    debug('no front: not a plain http.Server')
    return false
  }
  const reason = special(server)
  if (reason !== '') report(host, reason)
  else install(server, host, event, false)
  return reason === ''
}

function install (server, host, event, isOthers) {
  Object.defineProperty(server, kFront, { value: new Front(server, host, event, isOthers) })
}

/**
 * Install the front on a server that other code has created, and that has called `host.listener`: its later connections
 * are the front's, while nothing requires node:http. Other code must not notice, so the front does not take a server
 * where another listener calls the host's, nor one that has methods of its own in place of those that the front
 * replaces.
 *
 * @param {http.Server|https.Server|object} server that listens
 * @param {object} host as attach() gets it
 */
function attachAtRequest (server, host) {
  const front = server[kFront]
  if (front !== undefined) return front.isOthers && front.changeHost(host)
  if (!(server instanceof net.Server) || !isListening(server, host.listener)) return refuse(server, 'another listener calls that of the app')
  const event = EVENTS.find(name => server.rawListeners(name).includes(nodeListener))
  if (event === undefined) return refuse(server, 'not a plain http.Server')
  if (server.closeAllConnections !== closeAllConnections || server.closeIdleConnections !== closeIdleConnections) {
    return refuse(server, 'closeAllConnections or closeIdleConnections is replaced')
  }
  const reason = (server.rawListeners(event)[0] === nodeListener ? '' : LISTENER) ||
    reasonForNode(server, host) || special(server)
  if (reason !== '') return refuse(server, reason, () => report(host, reason))
  install(server, host, event, true)
  debug('serves the new connections of a server that other code has created')
}

/** `tell` is not called again for the same reason. */
function refuse (server, reason, tell = () => debug('no front: %s', reason)) {
  const isNew = refused.get(server) !== reason
  refused.set(server, reason)
  if (isNew) tell()
}

/** One per server: lists the connections that it reads, and holds what they share. */
class Front {
  /** @param {boolean} isOthers other code has created the server */
  constructor (server, host, event, isOthers) {
    this.server = server
    this.host = host
    this.event = event
    this.isOthers = isOthers
    this.connections = new Set()
    this.clock = new Clock(server, this.connections)
    this.scope = null           // the async context of listen()
    this.drainListener = null   // the 'request' listener of lib/engines/drain.js while the server is closing
    this.reason = ''            // why node:http is used
    this.expected = null        // see expect()
    this.section = null         // see lastSection()
    this.sectionLimit = 0       //   and the maxHeadersCount of its connection

    /** Calls the host, or emits 'request' with node's objects if other code sees this server's requests. */
    this.dispatch = (incoming, outgoing) => {
      const { host } = this
      if (!isWatched(server, host.listener, this.drainListener)) host.dispatch(incoming, outgoing)
      else requestArrived(server, incoming.materialize(), outgoing.materialize())
    }

    this.listener = socket => this.accept(socket)
    // Other code still finds node's own listener, and removes it.
    if (isOthers) this.listener.listener = nodeListener
    replaceListener(server, event, nodeListener, this.listener)
    if (event === 'secureConnection') takeContexts(server)

    const front = this
    define(server, 'closeIdleConnections', function closeIdleConnections () {
      front.closeIdle()
      return http.Server.prototype.closeIdleConnections.call(this)
    })
    define(server, 'closeAllConnections', function closeAllConnections () {
      for (const socket of front.sockets()) socket.destroy()
      return http.Server.prototype.closeAllConnections.call(this)
    })
  }

  get maxHeaderSize () {
    return this.server.maxHeaderSize || MAX_HEADER_SIZE
  }

  get maxHeadersCount () {
    const { maxHeadersCount } = this.server
    return typeof maxHeadersCount !== 'number' ? MAX_HEADERS : maxHeadersCount > 0 ? maxHeadersCount : Infinity
  }

  // ---- connections

  /**
   * The server's next 'connection' is one in memory (app.inject()), which the front reads as a socket that the server
   * accepted. Other streams that are emitted go to node.
   */
  expect (socket) {
    this.expected = socket
  }

  accept (socket) {
    const isInMemory = socket === this.expected
    this.expected = null
    const listeners = this.server._events[this.event]
    const first = typeof listeners === 'function' ? listeners : listeners && listeners[0]
    // A listener before ours may take the socket; node also serves other streams, and sockets of other servers.
    if (first !== this.listener) this.report(LISTENER)
    const isOurs = isFresh(socket, this.server)
    if (isOurs) takeContext(socket)
    if (first !== this.listener || !(isInMemory || isOurs) || this.fallsBack()) {
      this.handOver(socket)
      return
    }
    const { timeout } = this.server
    if (timeout) socket.setTimeout(timeout)
    this.clock.start()
    this.connections.add(new Connection(this, socket, isInMemory ? new Scope(false, false) : this.scopeOf(socket)))
  }

  /** The async context of a connection: that of listen(), unless a patched `emit` or TLS calls us in one of its own. */
  scopeOf (socket) {
    if (isEmitPatched(this.server) || socket.encrypted) return new Scope(false, RESETS)
    return (this.scope ??= new Scope(true, RESETS))
  }

  /** Another app's listener has taken the place of the host's. */
  changeHost (host) {
    if (!isListening(this.server, this.host.listener) && isListening(this.server, host.listener)) {
      this.host = host
    }
  }

  /**
   * The header section that the last connection began with, if its limit was the same. nginx, `ab` and health checks
   * send the same one on each. To compare it saves 6 to 9 % of the JavaScript of a connection with one request.
   */
  lastSection (maxHeadersCount) {
    return this.sectionLimit === maxHeadersCount ? this.section : null
  }

  keepSection (section, maxHeadersCount) {
    if (section?.isHandshake) return // its method counts, too
    this.section = section
    this.sectionLimit = maxHeadersCount
  }

  forget (connection) {
    this.connections.delete(connection)
    this.clock.forget(connection)
    if (!connection.scope.isShared) connection.scope.release()
  }

  /** Node gets one that others may see. */
  takesHandshake (incoming) {
    const { host, server } = this
    return isWatched(server, host.listener, this.drainListener) ? undefined : host.takesHandshake?.(server, incoming)
  }

  /** Other code gets the socket. */
  release (socket) {
    if (!this.isOthers) this.host.handedOver(this.server, socket)
    release(socket)
  }

  /** See handOver() in node/handover.js. */
  handOver (socket, reads, removed) {
    if (!this.isOthers) this.host.handedOver(this.server, socket)
    if (reads !== undefined) debug('handed over %d reads', reads.length)
    handOver(this.server, socket, reads, removed)
  }

  /** Checked at every read, because listeners and patches come and go at any time. */
  fallsBack () {
    const { host, server } = this
    if (this.isOthers && !isListening(server, host.listener)) {
      debug('falls back to node:http: %s', UNHEARD)
      return true
    }
    const reason = reasonForNode(server, host)
    if (reason === '') return false
    this.report(reason)
    return true
  }

  report (reason) {
    if (reason === this.reason) return
    this.reason = reason
    report(this.host, reason)
  }

  // ---- closing

  /** The server is closing: from now on the last pending response of a connection has `Connection: close`. */
  startDraining (listener) {
    this.drainListener = listener
  }

  stopDraining () {
    this.drainListener = null
    this.releaseScope()
  }

  /** @return {net.Socket[]} sockets that the front owns */
  sockets () {
    return Array.from(this.connections, connection => connection.socket)
  }

  /** @return {Set<net.Socket>} sockets without a request that has begun or a response that is pending */
  silentSockets () {
    const silent = new Set()
    for (const { deadlines, socket } of this.connections) {
      if (deadlines.isIdle || deadlines.isUnused) silent.add(socket)
    }
    return silent
  }

  closeIdle () {
    this.releaseScope() // server.close() calls this
    for (const connection of this.connections) {
      const { deadlines, socket } = connection
      if (deadlines.isIdle || (CLOSES_UNUSED && deadlines.isUnused)) socket.destroy()
      else connection.closeFlushed()
    }
  }

  /** The next connection gets a new one. */
  releaseScope () {
    if (this.scope !== null) this.scope.release()
    this.scope = null
  }
}

/** Before TLS's own listener, which may call the app before the handshake has ended, by events of these sockets. */
function takeContexts (server) {
  const [first] = server.rawListeners('connection')
  if (first === undefined) return
  const listener = socket => {
    takeContext(socket)
    first.call(server, socket)
  }
  listener.listener = first // other code still finds it, and removes it
  replaceListener(server, 'connection', first, listener)
}

function report (host, reason) {
  debug('falls back to node:http: %s', reason)
  host.fellBack(reason, reason === PATCHED && hasAgent())
}

function define (object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false })
}

module.exports = { attach, attachAtRequest }
