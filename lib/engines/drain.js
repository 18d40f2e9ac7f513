'use strict'

const http = require('http')
const { clearInterval, setImmediate, setInterval } = require('timers') // jsdom has others, or none
const lazy = require('../lazy')

const performance = lazy(() => require('perf_hooks').performance)

/**
 * Stop a server without cutting a response short. Works for connections of kone's front, node:http, node:http2, and
 * listeners that upgraded one.
 *
 * The front is used by its methods only: `startDraining(requestListener)`, `stopDraining()`,
 * `sockets()` and `silentSockets()`.
 */

// Registered symbols, because the app may use another copy of kone than the code that stops its server.
const kFront = Symbol.for('kone.front')
const kSockets = Symbol.for('kone.sockets')
const kDraining = Symbol.for('kone.draining')

/** How often the connections are examined while draining, in ms. */
const PERIOD = 20

/**
 * Remember the connections of a server from now on, because node cannot list them later. A server
 * with a front needs this only for connections that the front hands over; see `remember`.
 */
function track (server) {
  if (server[kFront] !== undefined || server[kSockets] !== undefined) return
  Object.defineProperty(server, kSockets, { value: new Set() })
  const add = socket => remember(server, socket)
  server.on('connection', add)
  server.on('secureConnection', add)
  server.on('session', add)
}

/** Remember one connection that the front does not own, or an HTTP/2 session. */
function remember (server, socket) {
  if (server[kSockets] === undefined) Object.defineProperty(server, kSockets, { value: new Set() })
  const sockets = server[kSockets]
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
}

/**
 * Accept nothing new, finish the requests in flight, then end the connections.
 *
 *    await drain(server, { timeout: 10000, grace: 600 })
 *
 * @param {object} [options]
 * @param {number} [options.timeout=10000] ms until every connection that is left is destroyed
 * @param {number} [options.grace=600] ms that a kept connection may stay silent, so that a client
 *   that is about to send a request still gets its response, with `Connection: close`
 * @return {Promise<void>} resolves when the last connection is closed
 */
function drain (server, options) {
  if (server[kDraining] === undefined) {
    const draining = new Drain(server, options).done
    Object.defineProperty(server, kDraining, { value: draining, configurable: true })
    draining.then(() => delete server[kDraining])
    server.emit(kDraining) // those of sse() end
  }
  return server[kDraining]
}

class Drain {
  constructor (server, { timeout = 10000, grace = 600 } = {}) {
    this.server = server
    this.front = server[kFront]
    this.grace = grace
    this.deadline = performance().now() + timeout
    this.timer = null
    this.isOver = false
    this.silence = new Map() // socket → ms that it has been silent
    this.ended = new Set() // sockets that were ended: once each, because every call adds a listener
    this.examined = performance().now()
    this.done = new Promise(resolve => { this.resolve = resolve })
    this.start()
  }

  start () {
    const { server, front } = this
    if (front !== undefined) front.startDraining(closeAfterResponse)
    // For the connections of node:http; the front's responses close by themselves.
    server.prependListener('request', closeAfterResponse)
    for (const socket of this.others()) {
      const res = socket._httpMessage
      if (res instanceof http.ServerResponse && !res.headersSent) res.shouldKeepAlive = false
      // GOAWAY names the last request that gets a response: the client retries the others elsewhere.
      if (isSession(socket)) this.endOnce(socket)
    }

    if (server.listening) {
      server.once('close', () => this.conclude())
      stopListening(server)
    } else if (this.sockets().length === 0) {
      return this.conclude()
    }
    this.timer = setInterval(() => this.examine(), PERIOD)
    this.examine()
  }

  examine () {
    const now = performance().now()
    const sockets = this.sockets()
    if (now >= this.deadline) {
      for (const socket of sockets) socket.destroy()
    } else if (this.measureSilence(sockets, now - this.examined)) {
      setImmediate(() => this.endSilent()) // bytes that have arrived are read first
    }
    this.examined = now
    if (sockets.length === 0) this.concludeIfEmpty()
  }

  /**
   * Count for how long each connection has been silent. Time in which this process was not
   * scheduled does not count, because it read nothing meanwhile.
   *
   * @param {number} passed ms since the last count
   * @return {boolean} whether one has been silent for long enough
   */
  measureSilence (sockets, passed) {
    const counted = Math.min(passed, 2 * PERIOD)
    const silent = this.silentSockets()
    let enough = false
    for (const socket of sockets) {
      if (!silent.has(socket)) {
        this.silence.delete(socket)
        continue
      }
      const silence = this.silence.has(socket) ? this.silence.get(socket) + counted : 0
      this.silence.set(socket, silence)
      if (silence >= this.grace) enough = true
    }
    return enough
  }

  endSilent () {
    const silent = this.silentSockets()
    for (const [socket, silence] of this.silence) {
      if (!silent.has(socket)) this.silence.delete(socket)
      else if (silence >= this.grace) this.endOnce(socket)
    }
  }

  endOnce (socket) {
    if (this.ended.has(socket)) return
    this.ended.add(socket)
    if (isSession(socket)) socket.close()
    else if (typeof socket.destroySoon === 'function') socket.destroySoon()
    else socket.end()
  }

  /** A server that was closed before emits no second 'close'. */
  concludeIfEmpty () {
    this.server.getConnections((err, count) => {
      if (!err && count === 0) this.conclude()
    })
  }

  conclude () {
    if (this.isOver) return // 'close' and the count may both report it
    this.isOver = true
    clearInterval(this.timer)
    this.server.removeListener('request', closeAfterResponse)
    if (this.front !== undefined) this.front.stopDraining()
    this.resolve()
  }

  /** @return {Array} all sockets and HTTP/2 sessions of the server */
  sockets () {
    const own = this.front === undefined ? [] : this.front.sockets()
    return [...own, ...this.others()]
  }

  /** Those that the front does not own. A server may have been tracked before it got its front. */
  others () {
    const own = new Set(this.front === undefined ? [] : this.front.sockets())
    return Array.from(this.server[kSockets] ?? []).filter(socket => !own.has(socket))
  }

  /** @return {Set} connections without a request that has begun or a response that is pending */
  silentSockets () {
    const silent = new Set(this.front === undefined ? [] : this.front.silentSockets())
    const idle = nodesIdle(this.server)
    for (const socket of this.others()) {
      if (isSession(socket)) {
        if (!socket.closed) silent.add(socket) // it began while the server is closing
      } else if (!socket._httpMessage && (socket.bytesRead === 0 || idle.has(socket))) {
        silent.add(socket)
      }
    }
    return silent
  }
}

/** `server.close()` without its `closeIdleConnections()`, because idle connections get the grace period. */
function stopListening (server) {
  const own = Object.getOwnPropertyDescriptor(server, 'closeIdleConnections')
  server.closeIdleConnections = () => {}
  server.close()
  if (own) Object.defineProperty(server, 'closeIdleConnections', own)
  else delete server.closeIdleConnections
}

/** Checks for a method, because most processes never load node:http2. */
function isSession (connection) {
  return typeof connection.goaway === 'function'
}

/** A 'request' listener before the app's: this response is the last of its connection. */
function closeAfterResponse (req, res) {
  res.shouldKeepAlive = false
}

/** Only node's parser knows whether a header section is half-sent on one of its connections. */
function nodesIdle (server) {
  const symbol = Object.getOwnPropertySymbols(server).find(one => one.description === 'http.server.connections')
  const list = symbol && server[symbol]
  const parsers = list && typeof list.idle === 'function' ? list.idle() : []
  return new Set(parsers.map(parser => parser.socket))
}

module.exports = { drain, track, remember }
