'use strict'

const http = require('http')
const net = require('net')
const cut = require('../shared/cut')
const { LONGEST, clearInterval, clearTimeout, now, setImmediate, setInterval, setTimeout } = require('../shared/timers')

/**
 * Stop a server without cutting a response short. Works for connections of kone's front, of node:http and node:http2,
 * and for those that a listener of 'upgrade' has.
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

/** How long connections are accepted after the call, in ms: under load the queue may never be empty. */
const LONGEST_QUEUE = 1000

/** Longest turn of the event loop in which hardly anything was done, and the time between two looks for one, in ms. */
const SHORT_TURN = 0.2
const PAUSE = 1

/** Requests to the primary, one after the other: a whole turn of its event loop is between the first and last reply. */
const QUESTIONS = 3

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
 * @param {object} options those of app.close() (core/settings.js)
 * @param {number} options.timeout ms until every connection that is left is destroyed
 * @param {number} options.grace ms that a kept connection may stay silent, so that a client
 *   that is about to send a request still gets its response, with `Connection: close`
 * @return {Promise<void>} resolves when the last connection is closed
 */
function drain (server, options) {
  if (server[kDraining] === undefined) {
    const draining = new Drain(server, options).done
    Object.defineProperty(server, kDraining, { value: draining, configurable: true })
    draining.then(() => delete server[kDraining])
    server.emit(kDraining) // streams of sse() and WebSockets end, pending handshakes get a 503
  }
  return server[kDraining]
}

class Drain {
  constructor (server, { timeout, grace }) {
    this.server = server
    this.front = server[kFront]
    this.grace = grace
    this.deadline = now() + timeout
    this.timer = null
    this.isOver = false
    this.isAsking = false
    this.silence = new Map() // socket → ms that it has been silent
    this.ended = new Set() // sockets that were ended: once each, because every call adds a listener
    this.examined = now()
    this.done = new Promise(resolve => { this.resolve = resolve })
    this.start()
  }

  start () {
    const { server, front } = this
    front?.startDraining(closeAfterResponse)
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
      this.stopAccepting()
    } else if (this.sockets().size === 0) {
      this.conclude()
    } else {
      this.startExamining()
    }
  }

  stopAccepting () {
    const { server } = this
    let onConnection
    acceptQueued(fn => {
      onConnection = fn
      server.on('connection', fn)
    }, () => {
      if (server.listening) stopListening(server)
      server.removeListener('connection', onConnection)
      this.startExamining()
    }, this.deadline)
  }

  startExamining () {
    if (this.isOver) return
    this.timer = setInterval(() => this.examine(), PERIOD)
    this.examine()
  }

  examine () {
    const time = now()
    const sockets = this.sockets()
    if (time >= this.deadline) {
      for (const socket of sockets) destroy(socket)
    } else if (this.measureSilence(sockets, time - this.examined)) {
      setImmediate(() => this.endSilent()) // bytes that have arrived are read first
    }
    this.examined = time
    if (sockets.size === 0) this.concludeIfEmpty()
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

  /**
   * A server that was closed before emits no second 'close'. One of a primary counts the connections that it has sent
   * to its workers: it asks them, and they keep such connections beyond the deadline, or do not reply.
   */
  concludeIfEmpty () {
    if (now() >= this.deadline) return this.conclude()
    if (this.isAsking) return
    this.isAsking = true
    this.server.getConnections((err, count) => {
      this.isAsking = false
      if (!err && count === 0) this.conclude()
    })
  }

  conclude () {
    if (this.isOver) return // 'close' and the count may both report it
    this.isOver = true
    clearInterval(this.timer)
    this.server.removeListener('request', closeAfterResponse)
    this.front?.stopDraining()
    this.resolve()
  }

  /** @return {Set} all sockets and HTTP/2 sessions of a server, which may have been tracked before it had a front */
  sockets () {
    return new Set([...this.front?.sockets() ?? [], ...this.server[kSockets] ?? []])
  }

  /** @return {Set} those that are not the front's */
  others () {
    const others = this.sockets()
    for (const socket of this.front?.sockets() ?? []) others.delete(socket)
    return others
  }

  /** @return {Set} connections without a request that has begun or a response that is pending */
  silentSockets () {
    const silent = new Set(this.front?.silentSockets())
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

/**
 * Clients that had connected before wait in the system's queue, of which libuv accepts one connection per turn of the
 * event loop: it is empty when a turn brings none. A long turn does not count, because clients connect during it, and
 * without a pause the system interrupts this process in the middle of the last one.
 *
 *    acceptQueued(fn => server.on('connection', fn), () => server.close())
 *
 * @param {Function} watch gets a function to call at every connection
 * @param {Function} done called in the first short turn that brings none; at the latest after LONGEST_QUEUE, or at the
 *   deadline
 * @param {number} [deadline] by now()
 */
function acceptQueued (watch, done, deadline = Infinity) {
  const last = Math.min(deadline, now() + LONGEST_QUEUE)
  let isQuiet = true
  let isOver = false
  const end = () => {
    clearTimeout(timer)
    if (!isOver) done()
    isOver = true
  }
  const left = deadline - now()
  const timer = left > LONGEST ? null : setTimeout(end, left) // the primary may not reply
  watch(() => { isQuiet = false })
  const look = () => {
    isQuiet = true
    if (isWorker()) askPrimary(lookHere)
    else lookHere()
  }
  const lookHere = () => setImmediate(() => timeTurn(ms => {
    if (!isOver && !(isQuiet && ms < SHORT_TURN) && now() < last) return setTimeout(look, PAUSE)
    end()
  }))
  setTimeout(look, PAUSE)
}

/** `server.close()` without its `closeIdleConnections()`, because idle connections get the grace period. */
function stopListening (server) {
  server._handle?.close() // first of all: clients can connect until close() reaches it
  const replaced = Object.getOwnPropertyDescriptor(server, 'closeIdleConnections')
  server.closeIdleConnections = () => {}
  server.close()
  if (replaced) Object.defineProperty(server, 'closeIdleConnections', replaced)
  else delete server.closeIdleConnections
}

/** Calls back with the length of one turn of the event loop, in ms. */
function timeTurn (fn) {
  const since = now()
  setImmediate(() => fn(now() - since))
}

function isWorker () {
  // @ts-expect-error -- declared as an ES module
  return require('cluster').isWorker
}

/**
 * The primary accepts for its workers, and sends connections and replies in order: what it has accepted before it reads
 * a question arrives before the reply. No address of TEST-NET-1 is its own, so nobody listens.
 */
function askPrimary (done, questions = QUESTIONS) {
  if (questions === 0) return done()
  const next = () => askPrimary(done, questions - 1)
  const server = net.createServer().once('error', next)
  server.listen({ port: 0, host: '192.0.2.1' }, () => server.close(next))
}

/** Also a response that has begun: its client must not take half of it for the whole. */
function destroy (socket) {
  const { _httpMessage: res } = socket
  if (res?.headersSent) cut(res.materialize?.() ?? res, new Error('the server was closed while the response was sent'))
  socket.destroy()
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

module.exports = { acceptQueued, drain, track, remember }
