'use strict'

const http = require('node:http')

/**
 * Stop a server without cutting anybody short, whoever owns its connections: the front, node:http,
 * node:http2, or somebody who upgraded one.
 */

// Of all copies of kone in a process: an app may have another one than who closes its server.
const kFront = Symbol.for('kone.front')
const kSockets = Symbol.for('kone.sockets')
const kClosing = Symbol.for('kone.closing')

/** How often to look at the connections while draining, in ms. */
const PERIOD = 20

/**
 * Remember the connections of a server from now on: once it drains it is too late to ask for them.
 *
 * @param {net.Server} server
 */
function track (server) {
  if (server[kFront] !== undefined || server[kSockets] !== undefined) return
  Object.defineProperty(server, kSockets, { value: new Set() })
  const add = socket => remember(server, socket)
  server.on('connection', add)
  server.on('secureConnection', add)
  server.on('session', add)
}

/** One connection that is not the front's (any more), or an HTTP/2 session on one. */
function remember (server, socket) {
  if (server[kSockets] === undefined) Object.defineProperty(server, kSockets, { value: new Set() })
  const sockets = server[kSockets]
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
}

/**
 * Accept nothing new, answer what is under way, then end the connections.
 *
 *    await close(server, { timeout: 10000, grace: 600 })
 *
 * @param {net.Server} server
 * @param {object} [options]
 * @param {number} [options.timeout=10000] ms until whatever is left is destroyed
 * @param {number} [options.grace=600] ms that a kept connection may stay silent, so that a client that
 *   is about to ask gets its answer and is told
 * @return {Promise<void>} when the last connection is gone
 */
function close (server, options) {
  if (server[kClosing] === undefined) {
    const closing = new Drain(server, options).done
    Object.defineProperty(server, kClosing, { value: closing, configurable: true })
    closing.then(() => delete server[kClosing])
  }
  return server[kClosing]
}

class Drain {
  constructor (server, { timeout = 10000, grace = 600 } = {}) {
    this.server = server
    this.front = server[kFront]
    this.grace = grace
    this.deadline = performance.now() + timeout
    this.timer = null
    this.silent = new Map() // socket → for how long, in ms
    this.looked = performance.now()
    this.done = new Promise(resolve => { this.resolve = resolve })
    this.begin()
  }

  begin () {
    const { server, front } = this
    if (front !== undefined) front.draining = true
    // Answers of node's own connections; the front sees to its own.
    server.prependListener('request', lastAnswer)
    for (const socket of this.sockets()) {
      const res = socket._httpMessage
      if (res instanceof http.ServerResponse && !res.headersSent) res.shouldKeepAlive = false
      // GOAWAY names the last request that is answered: the client knows which to ask elsewhere.
      if (isSession(socket)) socket.close()
    }

    if (server.listening) {
      server.once('close', () => this.end())
      // close() ends silent connections at once, and that is what grace is for.
      const own = Object.getOwnPropertyDescriptor(server, 'closeIdleConnections')
      server.closeIdleConnections = () => {}
      server.close()
      if (own) Object.defineProperty(server, 'closeIdleConnections', own)
      else delete server.closeIdleConnections
    } else if (this.sockets().length === 0) {
      return this.end()
    }
    this.timer = setInterval(() => this.look(), PERIOD)
    this.look()
  }

  look () {
    const now = performance.now()
    const sockets = this.sockets()
    if (now >= this.deadline) {
      for (const socket of sockets) socket.destroy()
    } else if (this.wait(sockets, now - this.looked)) {
      setImmediate(() => this.endSilent())
    }
    this.looked = now
    if (sockets.length === 0) this.ask()
  }

  /**
   * Count for how long each connection has been silent. While this process did not get to run it heard
   * nobody, so that does not count.
   *
   * @return {boolean} whether one has been silent for long enough
   */
  wait (sockets, passed) {
    const heard = Math.min(passed, 2 * PERIOD)
    const idle = this.idle()
    let enough = false
    for (const socket of sockets) {
      if (!idle.has(socket)) {
        this.silent.delete(socket)
        continue
      }
      const silent = this.silent.has(socket) ? this.silent.get(socket) + heard : 0
      this.silent.set(socket, silent)
      if (silent >= this.grace) enough = true
    }
    return enough
  }

  /** What has arrived meanwhile was read before this. */
  endSilent () {
    const idle = this.idle()
    for (const [socket, silent] of this.silent) {
      if (!idle.has(socket)) this.silent.delete(socket)
      else if (silent < this.grace) continue
      else if (isSession(socket)) socket.close()
      else socket.destroySoon()
    }
  }

  /** A server that had been closed before emits nothing any more. */
  ask () {
    this.server.getConnections((err, count) => {
      if (!err && count === 0) this.end()
    })
  }

  end () {
    clearInterval(this.timer)
    this.server.removeListener('request', lastAnswer)
    if (this.front !== undefined) this.front.draining = false
    this.resolve()
  }

  sockets () {
    const sockets = [...this.server[kSockets] || []]
    if (this.front !== undefined) {
      for (const connection of this.front.connections) sockets.push(connection.socket)
    }
    return sockets
  }

  /** Sockets on which no request has begun and no answer is owed; sessions that began while draining. */
  idle () {
    const idle = new Set()
    if (this.front !== undefined) {
      for (const connection of this.front.connections) {
        if (connection.idle || connection.unused) idle.add(connection.socket)
      }
    }
    const waiting = nodesIdle(this.server)
    for (const socket of this.server[kSockets] || []) {
      if (isSession(socket)) {
        if (!socket.closed) idle.add(socket)
      } else if (!socket._httpMessage && (socket.bytesRead === 0 || waiting.has(socket))) {
        idle.add(socket)
      }
    }
    return idle
  }
}

/** Of HTTP/2: told by what it can do, for `node:http2` is not loaded for those who never use it. */
function isSession (connection) {
  return typeof connection.goaway === 'function'
}

function lastAnswer (req, res) {
  res.shouldKeepAlive = false
}

/** Node alone knows whether a head is half-sent on one of its connections. */
function nodesIdle (server) {
  const symbol = Object.getOwnPropertySymbols(server).find(one => one.description === 'http.server.connections')
  const list = symbol && server[symbol]
  const parsers = list && typeof list.idle === 'function' ? list.idle() : []
  return new Set(parsers.map(parser => parser.socket))
}

module.exports = { close, track, remember, kFront }
