'use strict'

const { Held } = require('./held')

/**
 * Reasons to stop reading. Reading continues when none is left.
 */
const BODY = 1    // nobody reads the request's body
const FULL = 2    // too many bytes of responses are buffered, because the client does not read or they are queued
const MANY = 4    // too many requests are queued behind an open response
const LEAVE = 8   // the bytes are unsupported: after the pending responses node gets them and the socket
const CLOSE = 16  // the connection closes after the current response
const READ = 32   // a read is being handled: the next one follows it

/** Decides whether a connection reads, and holds what arrives while it does not. */
class Gate {
  /** @param {Connection} connection */
  constructor (connection) {
    this.connection = connection
    this.stops = 0
    this.held = null  // reads that arrived while reading was stopped
    this.probe = null // gets a copy of them
  }

  /** May the next read be handled? Held ones come before it. */
  get isOpen () { return this.stops === 0 && this.held === null }

  /** May a held read be handled? */
  get hasNext () { return this.stops === 0 && this.held !== null }

  get leaves () { return (this.stops & LEAVE) !== 0 }

  /**
   * Should the socket be read? While unsupported bytes wait for pending responses, reading goes on up to the
   * high-water mark, because a FIN or an error must be noticed.
   */
  get isReading () {
    if (this.stops !== LEAVE) return this.stops === 0
    return this.held === null || this.held.bytes < this.connection.socket.readableHighWaterMark
  }

  stop (reason) {
    this.stops |= reason
  }

  /** The read was handled. Whoever called `stop(READ)` continues with what is held. */
  done () {
    this.stops &= ~READ
  }

  /** The reason no longer holds. */
  go (reason) {
    if ((this.stops & reason) === 0) return
    this.stops &= ~reason
    if (this.isReading) this.connection.readOn()
  }

  /** Keep bytes that cannot be read yet. */
  hold (chunk) {
    this.held ??= new Held()
    this.held.add(chunk)
    if (this.probe !== null) this.connection.probed(this.probe, chunk)
  }

  /** @return {Buffer|null} the oldest of the held reads, once reading continues */
  next () {
    if (!this.hasNext) return null
    const chunk = this.held.shift()
    if (this.held.isEmpty) this.held = null
    return chunk
  }

  /** Keep bytes that come before all held ones. */
  holdFirst (chunk) {
    this.held ??= new Held()
    this.held.prepend(chunk)
  }

  /** Stop reading for good: these bytes and all later ones are for node. */
  leave (bytes) {
    this.holdFirst(bytes)
    this.stop(LEAVE)
  }

  /** From now on `probe` gets a copy of held bytes, so that bytes that node would reject close the connection. */
  showTo (probe) {
    this.probe = probe
    for (const chunk of this.held.reads) this.connection.probed(probe, chunk)
  }

  /** @return {Held} all held reads, for node */
  release () {
    const { held } = this
    this.held = null
    return held
  }
}

module.exports = { Gate, BODY, FULL, MANY, LEAVE, CLOSE, READ }
