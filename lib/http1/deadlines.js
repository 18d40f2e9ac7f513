'use strict'

const { emit } = require('./call')
const { requestTimeout } = require('./errors')

/** In place of a time: the clock's next tick replaces it, so that no deadline comes early. */
const NOW = 0

const NEVER = -1

/**
 * Checks the server's timeouts for one connection: `headersTimeout`, `requestTimeout`, `keepAliveTimeout`, and the
 * socket's own. Each is read when it is used, as node does. The clock is notified of the first read or write after a
 * tick, and of no other.
 */
class Deadlines {
  /** @param {Connection} connection */
  constructor (connection) {
    this.connection = connection
    this.idleSince = NEVER
    this.isResting = false // only keepAliveTimeout counts
    this.touch()
  }

  /** Something was read or written: the idle time begins again. */
  touch () {
    if (this.idleSince === NOW) return
    this.idleSince = NOW
    this.connection.clock.touch(this.connection)
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

  // ---- called by the coarse clock, with its time in ms

  /** The first tick after it was touched. */
  stamp (ms) {
    this.idleSince = ms
    this.connection.reader.stamp(ms)
  }

  /** `server.connectionsCheckingInterval` has passed. */
  checkMessage (ms) {
    const { connection } = this
    if (connection.socket.closed) return connection.onClose() // other code has removed the listener for 'close'
    if (!this.isMessageLate(ms)) return
    connection.reader.giveUp()
    connection.fail(requestTimeout())
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
    if (!reader.hasServed || !responses.isFlushed) return
    emit(socket, 'timeout')
  }

  isMessageLate (ms) {
    const { gate, reader, server } = this.connection
    if (!reader.isReading || gate.isFull) return false
    const age = ms - reader.since
    const isLate = timeout => timeout > 0 && age > timeout
    const hasHeaders = gate.probe === null ? reader.receiving !== null : gate.probe.hasHeaders
    return isLate(server.requestTimeout) || (!hasHeaders && isLate(server.headersTimeout))
  }

  /** No response is pending and no request has begun. */
  get isIdle () {
    const { reader, responses, gate } = this.connection
    return responses.isFlushed && !reader.isReading && gate.isOpen
  }

  /** It never received a byte. */
  get isUnused () {
    const { reader, gate } = this.connection
    return !reader.hasServed && reader.partial === null && gate.isOpen
  }
}

module.exports = { Deadlines }
