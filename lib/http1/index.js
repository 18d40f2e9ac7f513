'use strict'

const { AsyncLocalStorage, AsyncResource } = require('node:async_hooks')
const http = require('node:http')
const net = require('node:net')
const { setImmediate, setTimeout } = require('node:timers') // jsdom has others, or none
const { debuglog } = require('node:util')
const { Connection } = require('./connection')
const aside = require('./aside')

const kFront = Symbol.for('kone.front')

const debug = debuglog('kone:http1')

/** Node's own connection listener: every http.Server gets it first. */
const [nodeListener] = new http.Server().listeners('connection')

/** `--max-http-header-size`; reading it is a getter's work. */
const MAX_HEADER_SIZE = http.maxHeaderSize

/** What node allows when `server.maxHeadersCount` says nothing. */
const MAX_HEADERS = 1000

/** How often to look for silent connections, in ms. */
const LONGEST_TICK = 500
const SHORTEST_TICK = 20

/**
 * Put the front before node's own connection listener.
 *
 *    const server = http.createServer(listener)
 *    attach(server, { listener, dispatch (incoming, outgoing) { outgoing.end('hi') }, reason: () => '' })
 *    server.listen(3000)
 *
 * Plain requests go to `dispatch` with lean objects; every other connection goes to node unchanged.
 *
 * @param {http.Server} server
 * @param {object} host
 * @param {Function} host.listener the app's 'request' listener; with another beside it the front stands aside
 * @param {(incoming: Incoming, outgoing: Outgoing) => void} host.dispatch
 * @param {(owner: *, err: Error) => void} [host.failed] the connection failed; `owner` is what the host
 *   put on the outgoing that was under way
 * @param {(socket: net.Socket) => void} [host.handedOver] node:http owns this socket from now on
 * @param {() => string} host.reason why the app does not want the front now, or ''
 * @return {boolean} false when this server cannot have a front
 */
function attach (server, host) {
  const event = ['connection', 'secureConnection'].find(name => server.listeners(name)[0] === nodeListener)
  if (server[kFront] === undefined && event !== undefined && !aside.special(server)) {
    Object.defineProperty(server, kFront, { value: new Front(server, host, event) })
    return true
  }
  debug('no front: not a plain http.Server')
  return false
}

class Front {
  constructor (server, host, event) {
    this.server = server
    this.host = host
    this.event = event
    this.connections = new Set()
    this.draining = false
    this.drainListener = null
    this.timer = null
    this.time = 1         // ms of the last tick: exact enough for timeouts, and free
    this.checked = 0
    this.turn = 0         // of the event loop: what one turn reads and writes happened together
    this.turning = false
    this.aside = ''
    this.debug = debug
    this.resource = null  // the async context of listen()
    this.carries = true   //   and whether anything is in it

    this.listener = socket => this.accept(socket)
    server.removeListener(event, nodeListener)
    server.prependListener(event, this.listener)

    const front = this
    define(server, 'closeIdleConnections', function closeIdleConnections () {
      front.closeIdle()
      return http.Server.prototype.closeIdleConnections.call(this)
    })
    define(server, 'closeAllConnections', function closeAllConnections () {
      for (const connection of front.connections) connection.socket.destroy()
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

  accept (socket) {
    const listeners = this.server._events[this.event]
    const first = typeof listeners === 'function' ? listeners : listeners && listeners[0]
    // A listener in front of ours may want the socket for itself; other streams are node's.
    if (first !== this.listener || !(socket instanceof net.Socket) || !this.wants()) {
      this.handOver(socket)
      return
    }
    const { timeout } = this.server
    socket.server = this.server
    if (timeout) socket.setTimeout(timeout)
    if (this.timer === null) this.start()
    if (this.resource === null) {
      this.resource = new AsyncResource('KONEFRONT')
      this.carries = carries(this.resource)
    }
    this.connections.add(new Connection(this, socket))
  }

  handOver (socket) {
    if (typeof this.host.handedOver === 'function') this.host.handedOver(socket)
    nodeListener.call(this.server, socket)
  }

  /** Asked for every read: listeners and patches come and go at any time. */
  wants () {
    const reason = aside.reason(this.drainsAlone ? this.asUsual : this.server, this.host)
    if (reason === '') return true
    if (reason !== this.aside) {
      this.aside = reason
      debug('stands aside: %s', reason)
    }
    return false
  }

  /** Call `fn` in the server's async context: node's parser keeps it, a socket does not. */
  run (fn, ...args) {
    return this.resource.runInAsyncScope(fn, null, ...args)
  }

  /**
   * Call a handler there, so that what it puts into its context with `enterWith` is seen by nobody else.
   * A scope costs as much as two layers of middleware: not one more than needed.
   *
   * @param {Function} fn
   * @param {*} one
   * @param {*} two
   * @param {boolean} alone from the socket's own callback, and the last thing in it
   */
  enter (fn, one, two, alone) {
    if (LEAKS) {
      if (this.carries) this.run(inOwnResource, fn, one, two)
      else inOwnResource(fn, one, two)
    } else if (alone && !this.carries) {
      fn(one, two)
    } else {
      this.run(fn, one, two)
    }
  }

  dispatch (incoming, outgoing) {
    this.host.dispatch(incoming, outgoing)
  }

  /** Which turn of the event loop this is. Only those are counted in which somebody asks. */
  now () {
    if (!this.turning) {
      this.turning = true
      setImmediate(nextTurn, this)
    }
    return this.turn
  }

  failed (owner, err) {
    if (typeof this.host.failed === 'function') this.host.failed(owner, err)
  }

  /** Connections that wait for a request. Node up to 24 leaves those open that never had one. */
  closeIdle () {
    for (const connection of this.connections) {
      if (connection.idle || (CLOSES_UNUSED && connection.unused)) connection.socket.destroy()
    }
  }

  // ---- what lib/drain.js calls

  startDraining (requestListener) {
    this.draining = true
    this.drainListener = requestListener
    const request = this.host.listener
    this.asUsual = Object.create(this.server, { _events: { get: () => ({ request }) } })
  }

  stopDraining () {
    this.draining = false
    this.drainListener = null
  }

  /** The drain's own listener in front of the app's does not count as another one. */
  get drainsAlone () {
    if (this.drainListener === null) return false
    const { request } = this.server._events
    return Array.isArray(request) && request.length === 2 &&
      request[0] === this.drainListener && request[1] === this.host.listener
  }

  sockets () {
    return Array.from(this.connections, connection => connection.socket)
  }

  silentSockets () {
    const silent = new Set()
    for (const connection of this.connections) {
      if (connection.idle || connection.unused) silent.add(connection.socket)
    }
    return silent
  }

  // ---- one coarse clock for all timeouts

  start () {
    this.time = Math.ceil(performance.now())
    this.checked = this.time
    this.schedule()
  }

  schedule () {
    const { keepAliveTimeout, connectionsCheckingInterval } = this.server
    const shortest = Math.min(keepAliveTimeout || LONGEST_TICK, connectionsCheckingInterval || LONGEST_TICK)
    this.period = Math.max(SHORTEST_TICK, Math.min(LONGEST_TICK, shortest / 4))
    this.timer = setTimeout(tick, this.period, this).unref()
  }

  tick () {
    const now = this.time = Math.ceil(performance.now())
    const { connectionsCheckingInterval = 30000 } = this.server
    const checkMessages = now - this.checked >= connectionsCheckingInterval
    if (checkMessages) this.checked = now
    // a stamp may be one tick older than what it stands for
    for (const connection of this.connections) connection.tick(now, this.period, checkMessages)
    if (this.connections.size > 0) this.schedule()
    else this.timer = null
  }
}

/** Since 26 node's closeIdleConnections() also closes connections that were never used. */
const CLOSES_UNUSED = Number(process.versions.node.split('.')[0]) >= 25

function nextTurn (front) {
  front.turning = false
  front.turn++
}

function tick (front) {
  front.tick()
}

function define (object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false })
}

function inOwnResource (fn, one, two) {
  new AsyncResource('KONEREQUEST').runInAsyncScope(fn, null, one, two)
}

/** Is there more on it than its ids: the stores of an AsyncLocalStorage, or a frame of them? */
function carries (resource) {
  return Object.getOwnPropertySymbols(resource)
    .some(symbol => !IDS.includes(symbol.description) && resource[symbol] !== undefined)
}

const IDS = ['async_id_symbol', 'trigger_async_id_symbol']

/** Up to Node 22 `enterWith` writes into the resource that runs: there each request gets one of its own. */
const LEAKS = (() => {
  const storage = new AsyncLocalStorage()
  const resource = new AsyncResource('KONEREQUEST')
  resource.runInAsyncScope(() => storage.enterWith(true))
  const leaks = resource.runInAsyncScope(() => storage.getStore()) === true
  storage.disable()
  return leaks
})()

module.exports = { attach }
