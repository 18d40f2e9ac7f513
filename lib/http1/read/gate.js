'use strict'

const { Held } = require('./held')

/**
 * Reading stops for a reason and goes on when none is left.
 */
const BODY = 1    // nobody reads the request's body
const FULL = 2    // responses pile up: the client does not take them, or they are queued
const MANY = 4    // too many requests are queued behind an open response
const LEAVE = 8   // what came is unsupported: it waits for the responses, then node gets the socket
const CLOSE = 16  // the response under way is the last one

/** Decides whether a connection reads, and holds what arrives while it does not. */
class Gate {
  /** @param {Connection} connection */
  constructor (connection) {
    this.connection = connection
    this.stops = 0
    this.held = null  // reads that arrived while reading was stopped
    this.probe = null // what node would make of them
  }

  get isOpen () { return this.stops === 0 }
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

  /** The reason is gone. */
  go (reason) {
    if ((this.stops & reason) === 0) return
    this.stops &= ~reason
    if (this.isReading) this.connection.readOn()
  }

  /** Bytes that cannot be read yet. */
  hold (chunk) {
    this.held ??= new Held()
    this.held.add(chunk)
    if (this.probe !== null) this.connection.probed(this.probe, chunk)
  }

  /** @return {Buffer|null} the oldest of the held reads, once reading goes on */
  next () {
    if (this.held === null || this.stops !== 0) return null
    const chunk = this.held.shift()
    if (this.held.isEmpty) this.held = null
    return chunk
  }

  /** Nothing is read any more: these bytes and all that follow are for node. */
  leave (bytes) {
    this.held ??= new Held()
    this.held.prepend(bytes)
    this.stop(LEAVE)
  }

  /** From now on `probe` sees the held bytes, so that what node would reject ends the connection at once. */
  showTo (probe) {
    this.probe = probe
    for (const chunk of this.held.reads) this.connection.probed(probe, chunk)
  }

  /** @return {Held} everything that is held, for node */
  release () {
    const { held } = this
    this.held = null
    return held
  }
}

module.exports = { Gate, BODY, FULL, MANY, LEAVE, CLOSE }
