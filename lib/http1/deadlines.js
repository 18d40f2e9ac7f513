'use strict'

const { requestTimeout } = require('./errors')

/** In place of a time: the clock's next tick replaces it, so that no deadline comes early. */
const NOW = 0

/**
 * Checks the server's timeouts for one connection: `headersTimeout`, `requestTimeout`, `keepAliveTimeout`, and the
 * socket's own. Each is read when it is used, as node does.
 */
class Deadlines {
  /** @param {Connection} connection */
  constructor (connection) {
    this.connection = connection
    this.idleSince = NOW
    this.hasExpired = false
  }

  /** Something was read or written: the idle time begins again. */
  touch () {
    this.idleSince = NOW
  }

  /**
   * Close the connection if one of its timeouts has passed. Called by the coarse clock.
   *
   * @param {number} ms now
   * @param {number} slack in ms that do not count
   * @param {boolean} checkMessages whether `server.connectionsCheckingInterval` has passed
   */
  tick (ms, slack, checkMessages) {
    const { connection } = this
    if (this.idleSince === NOW) this.idleSince = ms
    connection.reader.stamp(ms)
    if (checkMessages && this.isMessageLate(ms - slack)) {
      connection.reader.giveUp()
      connection.fail(requestTimeout())
    } else if (this.isIdleFor(ms - this.idleSince - slack)) {
      this.hasExpired = true
      connection.socket.emit('timeout')
      this.hasExpired = false
    }
  }

  isMessageLate (ms) {
    const { reader, server } = this.connection
    if (!reader.isReading) return false
    const age = ms - reader.since
    const isLate = timeout => timeout > 0 && age > timeout
    return isLate(server.requestTimeout) || (reader.receiving === null && isLate(server.headersTimeout))
  }

  isIdleFor (ms) {
    const { reader, responses, server } = this.connection
    if (!reader.hasServed || reader.receiving !== null || !responses.isFlushed) return false
    const { keepAliveTimeout, keepAliveTimeoutBuffer = 1000 } = server
    return keepAliveTimeout > 0 && ms >= keepAliveTimeout + keepAliveTimeoutBuffer
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

  /** Between two requests only keepAliveTimeout counts, not the socket's own timeout. */
  get ignoresSocket () {
    const { reader, responses, gate } = this.connection
    if (this.hasExpired || !reader.hasServed) return false
    return reader.receiving === null && responses.isFlushed && gate.isOpen
  }
}

module.exports = { Deadlines }
