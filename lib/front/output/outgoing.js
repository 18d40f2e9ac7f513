'use strict'

const assert = require('assert')
const { STATUS_CODES } = require('http')
const contract = require('../../engines/contract')
const { OPEN, BEGUN, STREAMING, QUEUED, FLUSHED } = contract
const { responseLost } = require('../../engines/errors')
const { REMOVED, fieldName, isPlain } = require('../../engines/field-names')
const { ASCII, UTF8 } = require('./pieces')
const { Parts } = require('./parts')
const { Sink } = require('./sink')
const writer = require('./writer')
const { callAll } = require('../call')
const { makeResponse, notifyFlushed } = require('../node/message')
const { beginSwitch, endNowhere } = require('../node/response')
const { finished } = require('../node/server')
const turn = require('../turn')
const { nextTick } = require('../../shared/timers')

/**
 * A response of the front. It sends plain responses itself, and streams by its sink. For everything else (a
 * Transfer-Encoding set by the app, a status out of range, a value that node would reject …) it creates node's
 * ServerResponse, which sends it or throws.
 *
 * From its end on, only Responses changes its state (see contract.js). STREAMING: a part was written before the end.
 * QUEUED: ended while an earlier response was open, or while the client did not read. BATCHED: will be written together
 * with other responses. The first response skips QUEUED, and one that is alone also skips BATCHED.
 */
class Outgoing extends contract.Outgoing {
  /**
   * @param {import('./responses').Responses} responses of the connection
   * @param {import('../input/incoming').Incoming} incoming
   */
  constructor (responses, incoming) {
    super(incoming)
    this.responses = responses
    this.next = null        // the response after this one on the connection
    this.closes = false     // the connection closes after this response; decided when it ends
    this.removed = 0        // bits of REMOVED
    this.isUnusual = false  // a header was set that changes framing: node's code writes it
    this.wasFirst = false   // of a lost response: it was the first that was not flushed
    this.text = ''          // of a queued response: header section, or parts that are text
    this.encoding = ASCII   //   of the text, and of a body that is one: see pieces.js
    this.body = null        //   and what follows: a string or bytes
    this.flushedIn = turn.NEVER
    this.listeners = null
    this.callbacks = null   // callbacks of node's `write()` and `end()`
    this.parts = null       // of a body that is sent in parts
    this.pipeSink = null    // what a stream is piped into
  }

  get isClosed () { return this.isLost || this.isPast }

  /** As node does: null while earlier responses are open, and after the end. */
  get localSocket () { return this.responses.first === this || this.isLost ? this.responses.socket : null }

  /** Flushed in an earlier turn: node would have closed it. */
  get isPast () { return turn.isPast(this.flushedIn) }

  /** Whether the connection closes after it: final only at its end. */
  get isLast () { return this.incoming.section.closes || this.isLastOfDrain }

  /** Of node's response, once this one has begun: a body that ends with the connection does not change it. */
  get shouldKeepAlive () {
    const { section } = this.incoming
    return !(section.closes || (section.takesChunks && this.closes))
  }

  /** The server is closing, and no other request of this connection is pending. */
  get isLastOfDrain () { return this.next === null && this.incoming.connection.front.drainListener !== null }

  /** The end has not reached Responses yet. */
  get isOpen () { return this.state <= STREAMING }

  /** Behind an open response it has no socket yet. */
  get canRespond () {
    if (this.res !== null) return super.canRespond
    return this.isOpen && (this.responses.first !== this || this.responses.socket.writable)
  }

  /** Only the end of the connection ends its body: it has no length, and the request takes no chunks. */
  get needsClose () { return !this.incoming.section.takesChunks && this.getField('content-length') === undefined }
  get isChunked () { return this.pipeSink !== null && this.pipeSink.isChunked }
  get isSinks () { return this.pipeSink !== null && this.pipeSink.parts !== null }

  /** Bytes or characters that are queued. */
  get size () { return this.text.length + (this.body === null ? 0 : this.body.length) }

  // ---- for the app and the host; what ends with Field is also for node/response.js

  setField (name, value) {
    const field = fieldName(name)
    if (field === undefined || this.hasBegun || !field.accepts(value)) return false
    this.isUnusual ||= field.isUnusual || (field.key === 'content-disposition' && typeof value !== 'string')
    this.put(field, value)
    return true
  }

  /** @return {number} the bit of REMOVED if node remembers that this field was removed, otherwise 0 */
  removeField (name) {
    super.removeField(name)
    const removal = fieldName(name)?.removal ?? 0
    this.removed |= removal
    return removal
  }

  /** Node's own `end` ends a response that is not plain. */
  end (body, encoding, callback) {
    if (this.res !== null || encoding !== undefined || callback !== undefined) {
      this.materialize().end(...arguments)
      return this
    }
    const length = this.plainLength(body)
    if (length !== writer.NOT_PLAIN) this.endPlain(this.begin(length), body, length, null)
    else if (body || !this.hasEnded) this.materialize().end(body)
    return this
  }

  /** @return {number} of a body in bytes; NOT_PLAIN unless the front can write the header section that node would */
  plainLength (body) {
    const { statusCode, statusMessage } = this
    if (this.state !== OPEN || this.isUnusual) return writer.NOT_PLAIN
    if (!(statusCode >= 200 && statusCode <= 999 && statusCode === (statusCode | 0))) return writer.NOT_PLAIN
    if (statusMessage !== undefined && statusMessage !== STATUS_CODES[statusCode] &&
        !(typeof statusMessage === 'string' && isPlain(statusMessage))) return writer.NOT_PLAIN
    return this.removed === 0 || this.canWriteWithout() ? writer.lengthOf(body) : writer.NOT_PLAIN
  }

  /** Can the front begin a body that is sent in parts? Node's code queues one that is early. */
  get canStream () {
    return this.res === null && this.responses.first === this && this.plainLength('') === 0 && !this.isBodiless &&
      (this.removed & REMOVED['transfer-encoding']) === 0
  }

  /** What `stream` is piped into. */
  sink (stream) {
    if (this.pipeSink === null && this.canStream && Sink.takes(stream)) this.pipeSink = new Sink(this)
    return this.res === null && this.pipeSink !== null ? this.pipeSink : this.materialize()
  }

  /** A response to HEAD, or one whose status allows no body. */
  get isBodiless () {
    const { statusCode } = this
    return statusCode === 204 || statusCode === 304 || this.incoming.isHead
  }

  /**
   * The header section of a response with a `plainLength()` or `canStream`: nothing of it changes from now on. Decides
   * whether the connection closes. As on node, the reason phrase stays when the status changes.
   */
  begin (length) {
    this.become(BEGUN)
    this.message ||= STATUS_CODES[this.status] || 'unknown'
    const { needsClose } = this
    this.closes = needsClose || this.isLast
    const common = this.closes ? writer.close() : writer.keepAlive(this.incoming.connection.server.keepAliveTimeout)
    const hasNoLength = needsClose || this.isBodiless
    return writer.header(this.statusCode, this.statusMessage, this.fields, common, hasNoLength ? -1 : length)
  }

  /** End with a header section of the front: for `end` here and of node's object, whose callbacks it gets. */
  endPlain (header, body, length, callbacks) {
    if (this.parts !== null) this.parts.send() // informational responses
    this.callbacks = callbacks
    if (length === 0 || this.isBodiless) {
      this.responses.onEnd(this, header, ASCII, null)
    } else {
      this.responses.onEnd(this, header, length === body.length ? ASCII : UTF8, body)
    }
  }

  /** Can the front write what node would after these removals? */
  canWriteWithout () {
    if (this.removed & (REMOVED.connection | REMOVED.date)) return false
    if (this.isBodiless || (this.removed & REMOVED['content-length']) === 0) return true
    return this.getField('content-length') !== undefined
  }

  onFinished (fn) {
    if (this.state >= FLUSHED) nextTick(fn, this.failure)
    else if (this.listeners === null) this.listeners = [fn]
    else this.listeners.push(fn)
  }

  makeResponse () {
    makeResponse(this)
  }

  adopt (res) {
    super.adopt(res)
    if (this.pipeSink !== null) this.pipeSink.onMaterialized(res)
  }

  onDrain () {
    if (this.isSinks) this.pipeSink.onDrain()
  }

  /** The connection ends. @param {boolean} isAll also what this tick has written */
  sendDue (isAll) {
    if (this.parts !== null) this.parts.sendDue(isAll)
  }

  // ---- for Responses and the connection

  link (outgoing) {
    this.next = outgoing
  }

  /** From now on its body is sent in parts. */
  beginParts () {
    if (this.parts !== null || this.hasEnded) assert.fail('a response got a second writer')
    return (this.parts = new Parts(this))
  }

  /** Other code has built the header section. */
  onHeader () {
    if (this.state === OPEN) this.become(BEGUN)
  }

  /** End with the last parts. */
  endParts (closes) {
    const { responses, parts } = this
    this.onHeader() // other code may have written it
    this.callbacks = parts.takeCallbacks()
    this.closes = closes
    if (!parts.isPlain && responses.first === this && !responses.isBlocked) responses.stream(this)
    const { text, encoding, bytes } = parts.take()
    responses.onEnd(this, text, encoding, bytes)
  }

  /** Keep the bytes by reference until the earlier responses are sent. */
  queue (text, encoding, body) {
    this.become(QUEUED)
    this.text = text
    this.encoding = encoding
    this.body = body
  }

  unqueue () {
    this.text = ''
    this.body = null
  }

  onFlushed () {
    if (this.res === null && finished.hasSubscribers) this.materialize()
    this.become(FLUSHED)
    this.next = null // an app may keep this one
    this.flushedIn = turn.now()
    if (!this.closes) this.incoming.body?.onFlushed()
    this.notify()
  }

  /** The connection closed before the response was flushed. `wasFirst`: it was the first such response. */
  lose (err, wasFirst) {
    super.lose(err)
    this.next = null
    this.wasFirst = wasFirst
    this.unqueue()
    this.notify()
    if (this.parts !== null) this.parts.lose(this.responses.socket)
  }

  /** It is a 101, which other code sends: nothing of it changes from now on. */
  beginSwitch () {
    if (this.res !== null) beginSwitch(this.res)
    this.onHeader()
    this.closes = true
    this.responses.giveUp(this)
  }

  /** @param {boolean} isLost the socket was closed before the 101 was flushed */
  endSwitch (isLost) {
    if (isLost) return this.lose(responseLost(null), true)
    if (this.res !== null) endNowhere(this.res)
    this.onFlushed()
  }

  notify () {
    const { listeners, callbacks, failure } = this
    this.listeners = this.callbacks = null
    if (this.pipeSink !== null) this.pipeSink.onClose()
    if (failure === null && (this.res !== null || this.incoming.req !== null)) {
      nextTick(notifyFlushed, this, callbacks, listeners)
    } else {
      if (callbacks !== null) nextTick(callAll, callbacks, failure)
      if (listeners !== null) for (const fn of listeners) nextTick(fn, failure)
    }
  }
}

module.exports = { Outgoing }
