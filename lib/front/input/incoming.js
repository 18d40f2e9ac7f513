'use strict'

const { EMPTY } = require('./body')
const contract = require('../../engines/contract')
const { aborted, tooLong, used } = require('../../engines/errors')
const { makeRequest } = require('../node/message')
const { Outgoing } = require('../output/outgoing')
const turn = require('../turn')

/** See ../../engines/upgrade.js. */
const kUpgrade = Symbol.for('kone.upgrade')

/** A request of the front: parses a value when it is first read. */
class Incoming extends contract.Incoming {
  /**
   * @param {import('../connection').Connection} connection
   * @param {string} method
   * @param {string} url
   * @param {import('./headers').HeaderSection} section
   * @param {import('./body').Body|null} body null when the request has none
   * @param {number} arrivedIn the turn in which a body came whole, with the header section; otherwise EARLIER
   */
  constructor (connection, method, url, section, body, arrivedIn) {
    super(method, url)
    this.connection = connection
    this.section = section
    this.body = body
    this.arrivedIn = arrivedIn
    this.outgoing = new Outgoing(connection.responses, this)
  }

  /** What the host's takesHandshake() returned, as node's request has it. */
  get [kUpgrade] () { return this.section.isHandshake ? this.connection.handshake : undefined }

  get localMinor () { return this.section.minor }

  makeHeaders () {
    return this.section.headers(this.joins)
  }

  findField (name) {
    return this.section.field(name, this.joins)
  }

  /** Other code may change the fields of node's object. The parser takes no target that names a host. */
  get namesHost () { return this.req === null && this.section.namesHost }

  /** server.joinDuplicateHeaders, read at use as node does */
  get joins () { return this.connection.server.joinDuplicateHeaders === true }

  get localSocket () { return this.connection.socket }

  /** Is nothing of its body missing? */
  get hasArrived () { return this.body === null || this.body.isComplete }

  /** As node has it: false while the handler is called; a body that came whole is complete in the next turn. */
  get isComplete () {
    if (this.connection.handling === this) return false
    return this.body === null || (this.body.isComplete && turn.isPast(this.arrivedIn))
  }

  /** As node has it: the request is gone with its response. */
  get destroyed () { return super.destroyed || (this.req === null && this.outgoing.isPast) }

  /** Node would have let go of it: nobody can read its body any more. */
  get isReleased () { return this.outgoing.isPast || (this.body !== null && this.body.isDropped) }

  /** The body was read to its end; node would have destroyed the stream. */
  get isSpent () { return this.isCollected && (this.body === null || (this.body.isComplete && this.body.isCollected)) }

  collect (limit) {
    if (this.section.contentLength > limit) return Promise.reject(tooLong(limit))
    if (!this.isCollected) {
      if (this.isReleased) return Promise.reject(used())
      if (this.aborted && this.body?.isComplete !== true) return Promise.reject(aborted(0))
    }
    if (this.body === null) {
      this.isCollected = true
      return EMPTY
    }
    if (this.body.buffered > limit) return this.refuse(limit)
    this.isCollected = true
    return this.body.collect(limit)
  }

  /** More chunks than the limit allows have arrived before their reader: node's stream knows how it leaves them. */
  refuse (limit) {
    if (this.isCollected) return Promise.reject(tooLong(limit))
    this.materialize()
    return this.readBody(limit)
  }

  /** The client has closed the connection before the response was sent. */
  cutOff () {
    this.aborted = true
    if (this.body !== null) this.body.cutOff()
  }

  makeRequest () {
    makeRequest(this)
  }
}

module.exports = { Incoming }
