'use strict'

const assert = require('assert')
const { Held } = require('./held')

/** Reasons to stop reading. Reading continues when none is left. */
const BODY = 1      // nobody reads the request's body
const FULL = 2      // too many bytes of responses are buffered, because the client does not read or they are queued
const MANY = 4      // too many requests are queued behind an open response
const HANDOVER = 8  // unsupported bytes or a handshake: after the pending responses others get the socket
const CLOSE = 16    // the connection closes after the current response: what arrives is dropped
const READ = 32     // a read is being handled: the next one follows it
const END = 64      // a body has arrived, its 'end' comes at the end of this turn

/** Of these reasons go() removes one; HANDOVER and CLOSE stay for good, and done() ends READ. */
const PASSING = BODY | FULL | MANY | END

/**
 * Decides whether a connection reads, and holds what arrives while it does not.
 *
 *    open ──▶ READ ──▶ open              a read is handled, and none inside it
 *      │ ▲
 *      ▼ │ all are gone, and what was held is read
 *    BODY | FULL | MANY | END            what arrives is held
 *      │
 *      ├──▶ HANDOVER ──▶ takeHeld()      what is held goes to node, or after a handshake to the WebSocket
 *      └──▶ CLOSE                        what arrives is dropped
 */
class Gate {
  constructor (connection) {
    this.connection = connection
    this.stops = 0
    this.held = null     // reads that arrived while reading was stopped
    this.hasEnd = false  // the client's FIN, which waits until they are read
  }

  /** May the next read be handled? Held ones come before it. */
  get isOpen () { return this.stops === 0 && this.held === null }

  /** May a held read be handled? */
  get hasNext () { return this.stops === 0 && this.held !== null }

  get isForNode () { return (this.stops & HANDOVER) !== 0 }

  /** Nothing is held and nothing stops reading, except the 'end' of a body. */
  get isIdle () { return (this.stops & ~END) === 0 && this.held === null }

  /** What arrives is dropped. */
  get isClosing () { return (this.stops & CLOSE) !== 0 }

  /**
   * Should the socket be read? While unsupported bytes or a handshake wait for responses, reading goes on up to the
   * high-water mark, because a FIN or an error must be noticed. While the last response is flushed all is read: when a
   * socket is closed with unread bytes, the system resets the connection, and the client loses what it has not read.
   */
  get isReading () {
    if (this.isClosing) return true
    if (this.stops !== HANDOVER) return (this.stops & ~END) === 0 // END passes before the next poll
    return this.held === null || this.held.bytes < this.connection.socket.readableHighWaterMark
  }

  /** May the next read be handled? Then nothing else is read until done(). */
  beginRead () {
    if (!this.isOpen) return false
    this.stops = READ
    return true
  }

  stop (reason) {
    this.stops |= reason
  }

  /** The read was handled. Whoever began it continues with what is held. */
  done () {
    if ((this.stops & READ) === 0) assert.fail('a read ended that had not begun')
    this.stops &= ~READ
  }

  go (reason) {
    if ((reason & ~PASSING) !== 0) assert.fail(`reading goes on after a stop for good: ${reason}`)
    if ((this.stops & reason) === 0) return
    this.stops &= ~reason
    if (this.isReading) this.connection.readOn()
  }

  /** Keep bytes that cannot be read yet. */
  hold (chunk) {
    if (this.isOpen) assert.fail('bytes are held that can be read')
    if (this.isClosing) return
    this.held ??= new Held()
    this.held.add(chunk)
  }

  holdFirst (chunk) {
    this.held ??= new Held()
    this.held.prepend(chunk)
  }

  /**
   * The client ended its side: that comes after what is held, and after responses and bodies that it would cut off.
   *
   * @return {boolean} whether it waits
   */
  holdEnd () {
    this.hasEnd = !this.isForNode && !this.isClosing && ((this.stops & PASSING & ~BODY) !== 0 || this.held !== null)
    return this.hasEnd
  }

  /** @return {boolean} whether the client's end was held and can be handled now */
  releaseEnd () {
    return this.hasEnd && !this.holdEnd()
  }

  /** @return {Buffer|null} the oldest of the held reads, once reading continues; handled until done() */
  shift () {
    if (!this.hasNext) return null
    this.stops = READ
    const chunk = this.held.shift()
    if (this.held.isEmpty) this.held = null
    return chunk
  }

  /** Stop reading for good: these bytes and all later ones are for node. */
  holdForNode (bytes) {
    if (this.isForNode) assert.fail('bytes were held for node twice')
    this.holdFirst(bytes)
    this.stop(HANDOVER)
  }

  /** @return {Buffer[]} all held reads, for node */
  takeHeld () {
    if (!this.isForNode || this.held === null) assert.fail('node gets the socket without the bytes that it must read first')
    return this.takeRest()
  }

  /** @return {Buffer[]} what came after a handshake */
  takeRest () {
    const reads = this.held === null ? [] : this.held.reads
    this.dropHeld()
    return reads
  }

  dropHeld () {
    this.held = null
  }
}

module.exports = { Gate, BODY, FULL, MANY, HANDOVER, CLOSE, READ, END }
