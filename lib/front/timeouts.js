'use strict'

const { emit } = require('./call')
const { requestTimeout } = require('./errors')
const { now, setTimeout } = require('../shared/timers')

/** How often the connections are checked, in ms. */
const LONGEST_PERIOD = 500
const SHORTEST_PERIOD = 20

/** Node's default for `server.connectionsCheckingInterval`, in ms. */
const CHECKING_INTERVAL = 30000

/** In place of a time: the clock's next tick replaces NOW by its own time, so that no timeout is early. */
const NOW = Infinity
const NEVER = -1

/**
 * One coarse clock for all timeouts of a server's connections. A tick looks at the connections that read or wrote since
 * the last one, and at those that have been idle the longest: a silent connection costs nothing until its timeout.
 */
class Clock {
  constructor (server, connections) {
    this.server = server
    this.connections = connections
    this.touched = new Set() // that read or wrote since the last tick
    this.idle = new Set()    // all others, in the order of their last read or write
    this.ms = 1              // time of the last tick, exact enough for timeouts
    this.period = 0
    this.timer = null
    this.checked = 0
  }

  /** Runs while there are connections. */
  start () {
    if (this.timer !== null) return
    this.checked = this.ms = Math.ceil(now())
    this.schedule()
  }

  /** Its idle time begins at the next tick. */
  touch (connection) {
    this.touched.add(connection)
  }

  /** Nothing keeps a closed connection until the next tick. */
  forget (connection) {
    this.touched.delete(connection)
    this.idle.delete(connection)
  }

  schedule () {
    const { keepAliveTimeout, connectionsCheckingInterval } = this.server
    const shortest = Math.min(keepAliveTimeout || Infinity, connectionsCheckingInterval || Infinity)
    this.period = Math.max(SHORTEST_PERIOD, Math.min(LONGEST_PERIOD, shortest / 4))
    this.timer = setTimeout(() => this.tick(), this.period)
    this.timer.unref()
  }

  tick () {
    const { ms: previous, period } = this
    const ms = this.ms = Math.ceil(now())
    const { connectionsCheckingInterval = CHECKING_INTERVAL } = this.server
    const checksMessages = ms - this.checked >= connectionsCheckingInterval
    if (checksMessages) this.checked = ms
    // Time in which the process did not run does not count, because it read nothing.
    const slack = Math.max(0, ms - previous - 2 * period)
    // First, so that nothing that fails below can end the clock.
    if (this.connections.size > 0) this.schedule()
    else this.timer = null
    this.stamp(ms)
    if (checksMessages) for (const { deadlines } of this.connections) deadlines.checkMessage(ms - slack)
    this.expire(ms - slack)
  }

  stamp (ms) {
    const { touched } = this
    this.touched = new Set()
    for (const connection of touched) {
      this.idle.delete(connection)
      if (!this.connections.has(connection)) continue
      connection.deadlines.stamp(ms)
      this.idle.add(connection)
    }
  }

  expire (ms) {
    for (const connection of this.idle) {
      if (!connection.deadlines.isOver(ms)) break // those that follow read or wrote later
      this.idle.delete(connection)
      connection.deadlines.expire()
    }
  }
}

/**
 * Checks the server's timeouts for one connection: `headersTimeout`, `requestTimeout`, `keepAliveTimeout`, and the
 * socket's own. Each is read when it is used, as node does. The clock is notified of the first read or write after a
 * tick, and of no other.
 */
class Deadlines {
  constructor (connection) {
    this.connection = connection
    this.messageSince = NOW // when the current message began, the first one with the connection
    this.idleSince = NEVER
    this.isResting = false  // only keepAliveTimeout counts
    this.touch()
  }

  /** Something was read or written: the idle time begins again. */
  touch () {
    if (this.idleSince === NOW) return
    this.idleSince = NOW
    this.connection.front.clock.touch(this.connection)
  }

  /** All responses are flushed: from now on keepAliveTimeout replaces the timeout of the socket, as in node. */
  rest () {
    const { server, socket } = this.connection
    this.touch()
    if (!(server.keepAliveTimeout > 0)) return
    this.isResting = true
    if (socket.timeout) socket.setTimeout(0)
  }

  /** A request has arrived: server.timeout replaces keepAliveTimeout. */
  wake () {
    if (!this.isResting) return
    this.isResting = false
    const { server, socket } = this.connection
    const timeout = server.timeout || 0
    if (timeout > 0 || socket.timeout) socket.setTimeout(timeout)
  }

  // ---- the message that is being received

  beginMessage () {
    if (this.messageSince === NEVER) this.messageSince = NOW
  }

  /** It is complete, or no longer timed. */
  endMessage () {
    this.messageSince = NEVER
  }

  /** A message has begun and not ended. */
  get hasMessage () { return this.messageSince !== NEVER }

  // ---- called by the coarse clock, with its time in ms

  /** The first tick after it was touched. */
  stamp (ms) {
    this.idleSince = ms
    if (this.messageSince === NOW) this.messageSince = ms
  }

  /** `server.connectionsCheckingInterval` has passed. */
  checkMessage (ms) {
    const { connection } = this
    const { reader, server, socket } = connection
    if (socket.closed) return connection.onClose() // other code has removed the listener for 'close'
    const age = this.hasMessage ? ms - this.messageSince : 0
    const isLate = timeout => timeout > 0 && age > timeout
    if (!isLate(server.requestTimeout) && !(reader.receiving === null && isLate(server.headersTimeout))) return
    this.endMessage()
    connection.onProtocolError(requestTimeout())
  }

  /** Whether the keep-alive timeout has passed since the last read or write. */
  isOver (ms) {
    const { keepAliveTimeout, keepAliveTimeoutBuffer = 1000 } = this.connection.server
    return keepAliveTimeout > 0 && ms - this.idleSince >= keepAliveTimeout + keepAliveTimeoutBuffer
  }

  /**
   * It is over: close the connection if it waits for a request, or for the rest of a body whose response was sent. What
   * is under way touches it again.
   */
  expire () {
    const { reader, responses, socket } = this.connection
    if (reader.hasServed && responses.isFlushed) emit(socket, 'timeout')
  }

  /** No response is pending, or none can be written, and no request has begun. */
  get isIdle () {
    const { responses, gate } = this.connection
    return (responses.isFlushed || responses.isStuck) && !this.hasMessage && gate.isIdle
  }

  /** It never received a byte. */
  get isUnused () {
    const { reader, gate } = this.connection
    return !reader.hasServed && reader.partial === null && gate.isOpen
  }
}

module.exports = { Clock, Deadlines }
