'use strict'

const http = require('http')
const { EventEmitter } = require('events')
const { debuglog } = require('util')
const { Scope } = require('./call')
const { Connection } = require('./connection')
const fallback = require('./node/fallback')
const { nodeListener, handOver } = require('./node/handover')
const { isFresh } = require('./node/socket')
const watchers = require('./node/watchers')
const { Clock } = require('./timeouts')

const debug = debuglog('kone:http1')

const { emit } = EventEmitter.prototype

/** Where a server keeps its front; other copies of kone in the process find it by the same symbol. */
const kFront = Symbol.for('kone.front')

/** `--max-http-header-size` in bytes, read once because it is a getter. */
const MAX_HEADER_SIZE = http.maxHeaderSize

/** Node's limit when `server.maxHeadersCount` is not set. */
const MAX_HEADERS = 1000

/** Since Node 26 closeIdleConnections() also closes connections that never had a request (nodejs/node#63470). */
const CLOSES_UNUSED = Number(process.versions.node.split('.')[0]) >= 26

const LISTENER = "a 'connection' listener in front of kone's"

/**
 * Install the front before node's own connection listener.
 *
 *    const server = http.createServer(listener)
 *    attach(server, { listener, dispatch (incoming, outgoing) { outgoing.end('hi') }, reason: () => '' })
 *    server.listen(3000)
 *
 * Plain requests go to `dispatch` with objects of the fast path; everything else goes to node:http. A listener
 * finds the objects of the fast path by `res[Symbol.for('kone.outgoing')]`.
 *
 * @param {http.Server} server
 * @param {object} host
 * @param {Function} host.listener the app's 'request' listener: if there is another one, or if `server.emit` is
 *   patched, requests go through `server.emit('request', req, res)` instead of `dispatch`
 * @param {(incoming: Incoming, outgoing: Outgoing) => void} host.dispatch
 * @param {(owner: *, err: Error) => void} [host.failed] the connection failed; `owner` is what the host
 *   gave to the `setOwner()` of the first pending outgoing
 * @param {(server: http.Server, socket: net.Socket) => void} [host.handedOver] from now on node owns this socket
 * @param {(reason: string) => void} [host.fellBack] requests go to node:http from now on, for a new reason
 * @param {() => string} host.reason why the app needs node:http now, or ''
 * @return {boolean} false when this server cannot have a front
 */
function attach (server, host) {
  const event = ['connection', 'secureConnection'].find(name => server.listeners(name)[0] === nodeListener)
  if (server[kFront] !== undefined || event === undefined) {
    debug('no front: not a plain http.Server')
    return false
  }
  const reason = fallback.special(server)
  if (reason !== '') report(host, reason)
  else Object.defineProperty(server, kFront, { value: new Front(server, host, event) })
  return reason === ''
}

/** One per server: lists the connections that it reads, and holds what they share. */
class Front {
  constructor (server, host, event) {
    this.server = server
    this.host = host
    this.event = event
    this.connections = new Set()
    this.clock = new Clock(server, this.connections)
    this.scope = null           // the async context of listen()
    this.drainListener = null   // the 'request' listener of lib/engines/drain.js while the server is closing
    this.reason = ''            // why node:http is used
    this.expected = null        // see expect()

    /** Calls the host, or emits 'request' with node's objects if other code sees this server's requests. */
    this.dispatch = (incoming, outgoing) => {
      if (!watchers.isWatched(server, host.listener, this.drainListener)) host.dispatch(incoming, outgoing)
      else watchers.request(server, incoming.materialize(), outgoing.materialize())
    }

    this.listener = socket => this.accept(socket)
    server.removeListener(event, nodeListener)
    server.prependListener(event, this.listener)
    server.on('close', () => this.onClose())

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
    if (first !== this.listener || !(isInMemory || isFresh(socket, this.server)) || this.fallsBack()) {
      this.handOver(socket)
      return
    }
    const { timeout } = this.server
    if (timeout) socket.setTimeout(timeout)
    this.clock.start()
    this.connections.add(new Connection(this, socket, isInMemory ? new Scope(false) : this.scopeOf(socket)))
  }

  /**
   * The async context of a connection: that of listen(), but a patched `emit` may call us in one of its own, and a TLS
   * socket has that in which its 'connection' was emitted.
   */
  scopeOf (socket) {
    const { scope, server } = this
    if (scope === null) return (this.scope = new Scope())
    return server.emit === emit && !socket.encrypted ? scope : scope.forCurrent()
  }

  forget (connection) {
    this.connections.delete(connection)
    this.clock.forget(connection)
    if (!connection.scope.isShared) connection.scope.release()
  }

  /** See handOver() in node/handover.js. */
  handOver (socket, reads, removed) {
    if (typeof this.host.handedOver === 'function') this.host.handedOver(this.server, socket)
    if (reads !== undefined) debug('handed over %d reads', reads.length)
    handOver(this.server, socket, reads, removed)
  }

  /** Checked at every read, because listeners and patches come and go at any time. */
  fallsBack () {
    const reason = fallback.reason(this.server, this.host)
    if (reason === '') return false
    this.report(reason)
    return true
  }

  report (reason) {
    if (reason === this.reason) return
    this.reason = reason
    report(this.host, reason)
  }

  // ---- the host

  failed (owner, err) {
    if (typeof this.host.failed === 'function') this.host.failed(owner, err)
  }

  // ---- closing

  /** The server is closing: from now on the last pending response of a connection has `Connection: close`. */
  startDraining (listener) {
    this.drainListener = listener
  }

  stopDraining () {
    this.drainListener = null
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
    for (const { deadlines, socket } of this.connections) {
      if (deadlines.isIdle || (CLOSES_UNUSED && deadlines.isUnused)) socket.destroy()
    }
  }

  /** The server and its last connection are closed. */
  onClose () {
    if (this.scope !== null) this.scope.release()
    this.scope = null
  }
}

function report (host, reason) {
  debug('falls back to node:http: %s', reason)
  if (typeof host.fellBack === 'function') host.fellBack(reason)
}

function define (object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false })
}

module.exports = { attach }
