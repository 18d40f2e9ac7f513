'use strict'

const { Buffer } = require('buffer')
const { EventEmitter } = require('events')
const http = require('http')
const process = require('process')
const { call, emit } = require('../call')
const { notWritten } = require('../errors')
const { NullSocket } = require('../../engines/objects/ended')
const { created } = require('./server')
const { setMessage } = require('./socket')
const { REMOVED } = require('../../engines/field-names')
const { nextTick } = require('../../shared/timers')

/**
 * A genuine http.ServerResponse whose bytes go through the front. One that is made while a sink sends the body is a
 * view: it shows the state, and writes to the sink.
 *
 * - Outgoing keeps the fields and builds the header section, until node's own code reads the fields.
 * - Where node would write to the socket, piece by piece, the pieces become the parts of Outgoing. So a
 *   response is one write instead of a `writev` of two or three pieces, and pipelined ones are batched.
 * - A request that does not exist yet is created when code reads `res.req`.
 *
 * Express changes the prototype, so everything node's code reads or calls is an own property.
 *
 * Private names of node that are used here:
 *
 * - replaced: `_storeHeader`, `_writeRaw`, `_finish`, `_onPendingData`, `kOutHeaders`
 * - set: `_hasBody`, `_keepAliveTimeout`, `_header`, `_headerSent`, `_contentLength`, `_last`, `_closed`,
 *   `_removedContLen`, `_removedTE`, `_removedConnection`, `outputData`, `outputSize`, `kNeedDrain`
 * - read: `_implicitHeader`, `_send`, `_defaultKeepAlive`, `_trailer`, `_expect_continue`, and `_httpMessage` of the
 *   socket
 */

/** Since Node 24 a response that was still queued is notified when the client has closed the connection. */
const NOTIFIES_QUEUED = Number(process.versions.node.split('.')[0]) >= 24

/** Other copies of kone in the process find the front's object by the same symbol. */
const kOutgoing = Symbol.for('kone.outgoing')
const kHeld = Symbol('kone.held')           // in place of node's fields while Outgoing has them, see HELD
const kRequest = Symbol('kone.request')     // what was assigned to `res.req` of an EarlyResponse
const kPlainBody = Symbol('kone.plainBody') // body of a response whose header section Outgoing has built, or NONE
const kCallback = Symbol('kone.callback')   //   and what node calls when it was flushed

const kMarkRemoved = Symbol('kone.markRemoved')

/** Of kPlainBody: no plain body (null and undefined are bodies). */
const NONE = Symbol('none')

const { _storeHeader, _writeRaw, _finish, _implicitHeader, _send, writeHead, setHeader } = http.ServerResponse.prototype

const symbols = Object.getOwnPropertySymbols(new http.ServerResponse(/** @type {any} */ ({ method: 'GET' })))
const kOutHeaders = symbols.find(symbol => symbol.description === 'kOutHeaders')
const kNeedDrain = symbols.find(symbol => symbol.description === 'kNeedDrain')

const REQUEST = {
  configurable: true,
  enumerable: true,
  get () { return this[kRequest] ?? this[kOutgoing].incoming.materialize() },
  set (req) { this[kRequest] = req }
}

/**
 * The traps of a Proxy. While Outgoing has the fields, kOutHeaders is this Proxy, and the first use by node's own code
 * moves them into an object of node's. A response without fields has null there, as on node. (An accessor instead costs
 * 110 to 130 ns, the Proxy 30.) Its target is Outgoing and not the response, because a Proxy must show the constant
 * properties of its target, and an app may define some of the response.
 */
const HELD = Object.fromEntries([
  'get', 'set', 'has', 'deleteProperty', 'ownKeys', 'getOwnPropertyDescriptor', 'defineProperty', 'getPrototypeOf'
].map(name => [name, ({ res }, ...args) => Reflect[name](releaseFields(res), ...args)]))

/** @return {object|null} node's object of fields */
function releaseFields (res) {
  if (res[kHeld] !== null && res[kOutHeaders] === res[kHeld]) {
    const { fields } = res[kOutgoing]
    const headers = res[kOutHeaders] = { __proto__: null }
    for (let i = 0; i < fields.length; i += 2) headers[fields[i].key] = [fields[i].text, fields[i + 1]]
    res[kOutgoing].releaseFields()
  }
  return res[kOutHeaders]
}

function holdFields (res) {
  if (res[kHeld] === null) res[kOutHeaders] = res[kHeld] = new Proxy(res[kOutgoing], HELD)
}

class FrontResponse extends http.ServerResponse {
  constructor (outgoing) {
    const { incoming } = outgoing
    const { server, socket } = incoming.connection
    // @ts-expect-error -- node's second parameter is not declared
    super(incoming.req ?? incoming, { highWaterMark: socket.writableHighWaterMark })
    this[kOutgoing] = outgoing
    this[kHeld] = null
    this[kPlainBody] = NONE
    this[kCallback] = null
    this._storeHeader = storeHeader
    this._writeRaw = writeRaw
    this._finish = finish
    this._hasBody = !incoming.isHead
    this.useChunkedEncodingByDefault = incoming.section.takesChunks
    this._keepAliveTimeout = server.keepAliveTimeout
    this._onPendingData = onPendingData
    this.shouldKeepAlive = !outgoing.isLast
  }

  /** With the parts of this tick: node's code emits 'drain' when nothing is left. */
  // @ts-expect-error -- declared as a property
  get writableLength () {
    const { parts } = this[kOutgoing]
    // @ts-expect-error -- the same
    const length = super.writableLength
    return parts === null ? length : length + parts.size
  }

  /** See contract.js: only the front sees what node's own write() gets. */
  get reportsFlush () { return this.write === frontsWrite }

  setHeader (name, value) {
    if (!isFast(this) || !this[kOutgoing].setField(name, value)) return super.setHeader(name, value)
    holdFields(this)
    return this
  }

  getHeader (name) {
    return isHeld(this) && typeof name === 'string' ? this[kOutgoing].getField(name) : super.getHeader(name)
  }

  hasHeader (name) {
    if (isHeld(this) && typeof name === 'string') return this[kOutgoing].getField(name) !== undefined
    return super.hasHeader(name)
  }

  getHeaders () {
    return isHeld(this) ? this[kOutgoing].getFields() : super.getHeaders()
  }

  removeHeader (name) {
    if (!isFast(this) || typeof name !== 'string') return super.removeHeader(name)
    this[kMarkRemoved](this[kOutgoing].removeField(name))
  }

  /** Marks what was removed, as node's removeHeader() does, so that node does not add it again. */
  [kMarkRemoved] (removed) {
    if (removed === 0) return
    if (removed & REMOVED['content-length']) this._removedContLen = true
    if (removed & REMOVED['transfer-encoding']) this._removedTE = true
    if (removed & REMOVED.connection) this._removedConnection = true
    if (removed & REMOVED.date) this.sendDate = false
  }

  /** Earlier responses that are on their way are flushed first. What this tick has written is lost, as on node. */
  destroy () {
    const outgoing = this[kOutgoing]
    const isCurrent = this.socket !== null && !this.destroyed && outgoing.isOpen
    if (isCurrent) outgoing.sendDue(false)
    // @ts-expect-error -- declared as read-only
    if (isCurrent && outgoing.responses.delay(outgoing)) this.socket = null
    return super.destroy(...arguments)
  }

  /** A view gives it to the sink, but what node's own write() rejects. */
  write (chunk, encoding, callback) {
    const { isSinks, pipeSink } = this[kOutgoing]
    const isText = typeof chunk === 'string'
    if (!isSinks || this.finished || this.destroyed || !(isText || chunk instanceof Uint8Array)) {
      return super.write(chunk, encoding, callback)
    }
    if (typeof encoding === 'function') return this.write(chunk, null, encoding)
    const isBelowMark = pipeSink.write(isText && encoding ? Buffer.from(chunk, encoding) : chunk, callback)
    if (!isBelowMark) setNeedDrain(this, true)
    return isBelowMark
  }

  end (chunk, encoding, callback) {
    const outgoing = this[kOutgoing]
    if (outgoing.isSinks && !outgoing.pipeSink.hasEnded && !this.finished && !this.destroyed) {
      const done = [chunk, encoding, callback].find(one => typeof one === 'function')
      if (done !== undefined) this.once('finish', done)
      if (chunk && chunk !== done) this.write(chunk, encoding === done ? null : encoding)
      outgoing.pipeSink.end()
      return this
    }
    const length = encoding === undefined && isFast(this) && isUnchanged(this) ? outgoing.plainLength(chunk) : -1
    if (length < 0) return super.end(...arguments)
    // Node's code ends it as if it had built the header section itself.
    const { statusCode } = this
    this.statusMessage ||= http.STATUS_CODES[statusCode] || 'unknown'
    if (statusCode === 204 || statusCode === 304) this._hasBody = false
    this._header = outgoing.begin(length)
    this._contentLength = length
    this._last = outgoing.closes
    this.shouldKeepAlive = outgoing.shouldKeepAlive
    this[kPlainBody] = chunk
    return super.end(callback)
  }
}

const { write: frontsWrite } = FrontResponse.prototype

/** One that is created before its request. */
class EarlyResponse extends FrontResponse {
  constructor (outgoing) {
    super(outgoing)
    this[kRequest] = null
    Object.defineProperty(this, 'req', REQUEST)
  }
}

Object.defineProperty(FrontResponse.prototype, 'constructor', {
  configurable: true,
  value: http.ServerResponse,
  writable: true
})
delete EarlyResponse.prototype.constructor
// Node's constructor assigns the request: an own value would make the object slow when the accessor replaces it.
Object.defineProperty(EarlyResponse.prototype, 'req', REQUEST)

/** Outgoing still holds the fields. Loggers read them when they were sent, which takes 7 µs through the Proxy. */
function isHeld (res) {
  return res[kOutHeaders] === res[kHeld]
}

/** The same, and they are unsent. */
function isFast (res) {
  return isHeld(res) && res._header === null
}

/**
 * It has the socket, and nothing node's write depends on has changed. Compares each property, because apps and
 * packages set any of them, and node reads them only inside of `end()`.
 */
function isUnchanged (res) {
  const { socket } = res
  const { incoming } = res[kOutgoing]
  return socket !== null && socket._httpMessage === res && socket.writable && socket.writableCorked === 0 &&
    res.outputData.length === 0 && !res.finished && !res.destroyed &&
    res.shouldKeepAlive !== incoming.section.closes && res._defaultKeepAlive && !res.maxRequestsOnConnectionReached &&
    res.useChunkedEncodingByDefault === incoming.section.takesChunks && !res.chunkedEncoding &&
    !res.strictContentLength && res.sendDate && res._trailer === '' &&
    res._hasBody !== incoming.isHead && !res._expect_continue &&
    res.writeHead === writeHead && res._implicitHeader === _implicitHeader && res._send === _send &&
    res._storeHeader === storeHeader && res._writeRaw === writeRaw && res._finish === finish
}

/** @return {http.ServerResponse} */
function make (outgoing) {
  const { fields, incoming } = outgoing
  if (created.hasSubscribers) incoming.materialize() // node's constructor passes it to them
  const res = incoming.req === null ? new EarlyResponse(outgoing) : new FrontResponse(outgoing)
  if (kOutHeaders === undefined) {
    outgoing.releaseFields()
    for (let i = 0; i < fields.length; i += 2) setHeader.call(res, fields[i].text, fields[i + 1])
  } else if (fields.length > 0) {
    holdFields(res)
  }
  res[kMarkRemoved](outgoing.removed)
  return res
}

function onPendingData (bytes) {
  this[kOutgoing].responses.addQueued(bytes)
}

// ---- node's own code calls these; `this` is the response

/** Decides whether the connection closes: the server may have begun to close since the object was created. */
function storeHeader (firstLine, headers) {
  const outgoing = this[kOutgoing]
  if (outgoing.isLastOfDrain) this.shouldKeepAlive = false
  // Node compares the object with the one that it keeps, which it no longer is once a field was read.
  _storeHeader.call(this, firstLine, headers === this[kHeld] ? releaseFields(this) : headers)
  outgoing.onHeader()
}

/**
 * Takes a piece of the response. Node's own code queues a piece that is early and drops one that is late.
 *
 * @this {any}
 */
function writeRaw (data, encoding, callback, size) {
  if (this[kPlainBody] !== NONE) {
    this[kCallback] = callback // with the header section, which is sent with the body
    return true
  }
  const { socket, [kOutgoing]: outgoing } = this
  if (socket !== null && !outgoing.isOpen && !outgoing.isLost) return dropLate(socket, callback)
  if (socket === null || socket.destroyed || socket._httpMessage !== this || !socket.writable) {
    return _writeRaw.call(this, data, encoding, callback, size)
  }
  const parts = partsOf(this)
  if (this.outputData.length > 0) takeOutput(this, parts)
  addPart(parts, data, encoding, callback)
  // Node corks the socket in write(). A piece that it writes to an uncorked socket, as flushHeaders() does, is sent at
  // once, unless end() wrote the piece: then its callback emits 'finish', and _finish() sends it in the same tick.
  if (socket.writableCorked === 0 && typeof callback !== 'function') parts.send()
  else parts.schedule(this.writableCorked === 0) // Node 26 keeps pieces itself for a tick
  const isBelowMark = parts.isBelowMark(socket)
  if (!isBelowMark) nextTick(goOnIfSent, this)
  return isBelowMark
}

/** An informational response after the end. */
function dropLate (socket, callback) {
  if (typeof callback === 'function') nextTick(callback, notWritten(socket))
  return false
}

function partsOf (res) {
  const outgoing = res[kOutgoing]
  return outgoing.parts ?? outgoing.beginParts()
}

function addPart (parts, data, encoding, callback) {
  if (data.length > 0) parts.add(data, encoding)
  if (typeof callback === 'function') parts.addCallback(callback)
}

/** Takes the pieces that node has queued: all written early ones, or a header section before a Buffer. */
function takeOutput (res, parts) {
  const { outputData, outputSize } = res
  res.outputData = []
  res.outputSize = 0
  for (const { data, encoding, callback } of outputData) addPart(parts, data, encoding, callback)
  res._onPendingData(-outputSize)
}

/** Ends the response: node's code has written the last piece. */
function finish () {
  try {
    _finish.call(this) // emits 'prefinish'
  } finally {
    sendEnd(this)
  }
}

function sendEnd (res) {
  const outgoing = res[kOutgoing]
  if (!outgoing.isOpen) return
  if (res[kPlainBody] !== NONE) {
    const body = res[kPlainBody]
    res[kPlainBody] = NONE
    outgoing.endPlain(res._header, body, res._contentLength, [res[kCallback]])
  } else if (outgoing.parts !== null) {
    outgoing.endParts(res._last)
  }
}

/** Its own `write()` returned false. Emits 'drain' where the socket does not. */
function goOnIfSent (res) {
  const { socket } = res
  res[kOutgoing].parts.send()
  if (socket !== null && !socket.writableNeedDrain) goOn(res)
}

// ---- when it has become the first response

/**
 * Gives the socket to the response, and writes the pieces that node has queued. One that is created now had the socket
 * from the beginning.
 */
function assign (outgoing, isCreated = false) {
  const { responses, res } = outgoing
  const { socket } = responses
  if (res.destroyed && responses.delay(outgoing)) return
  setMessage(socket, res)
  res.socket = socket
  responses.onAssigned()
  allowListeners(socket, responses.holders)
  if (!isCreated) emit(res, 'socket', socket)
  if (res.destroyed) return responses.connection.onLastWritten() // as Node 20 does: the earlier responses are complete
  if (res.outputData.length === 0) return

  const parts = partsOf(res)
  takeOutput(res, parts)
  if (res.finished) {
    call(() => res._finish())
  } else {
    parts.send()
    if (!socket.writableNeedDrain) goOn(res)
  }
}

/**
 * On node one response has the socket at a time; here those whose 'finish' has not been emitted have it, too. Code that
 * watches them (on-finished) listens to the socket for each, which is no leak.
 */
function allowListeners (socket, holders) {
  const most = EventEmitter.defaultMaxListeners * holders
  const now = socket.getMaxListeners()
  if (holders > 1 && now > 0 && now < most) socket.setMaxListeners(most)
}

/** The socket's buffer is empty again: notifies the response that waits for 'drain'. */
function onDrain (socket) {
  const res = socket._httpMessage
  if (res instanceof http.ServerResponse && res.writableLength === 0) goOn(res)
}

// Node clears its kNeedDrain when it emits 'drain'.
function goOn (res) {
  if (!res.writableNeedDrain) return
  setNeedDrain(res, false)
  emit(res, 'drain')
}

function setNeedDrain (res, needs) {
  if (kNeedDrain !== undefined) res[kNeedDrain] = needs
}

// ---- its end

/** Releases the socket; 'close' follows. */
function releaseSocket (res) {
  const { socket } = res
  if (socket !== null && socket._httpMessage === res) setMessage(socket, null)
  if (socket !== null) res[kOutgoing].responses.onReleased()
  res.socket = null
  nextTick(emitClose, res)
}

function emitClose (res) {
  if (res._closed) return
  markClosed(res)
  emit(res, 'close')
}

/** The client has closed: node notifies the first response, and others too (see NOTIFIES_QUEUED). */
function cutOff (outgoing, reason) {
  const { res } = outgoing
  if (outgoing.wasFirst) emitClose(res)
  else if (NOTIFIES_QUEUED && res.socket === null) res.destroy(reason)
  else if (NOTIFIES_QUEUED) nextTick(emitClose, res)
}

// ---- created late

/** Brings `res` into the state of a response that its sink has begun. */
function showBegun (outgoing) {
  const { res } = outgoing
  res._storeHeader = _storeHeader
  res.shouldKeepAlive = outgoing.shouldKeepAlive
  res._implicitHeader()
  res._headerSent = true
  res._storeHeader = storeHeader
}

/** Brings `res` into the state of a response whose header section other code sends. */
function beginSwitch (res) {
  res.writeHead(res.statusCode)
  res.socket = null
}

function endNowhere (res, isChunked = false) {
  const socket = new NullSocket()
  res._storeHeader = _storeHeader
  res._writeRaw = _writeRaw
  res._finish = _finish
  res.assignSocket(socket)
  if (isChunked) res._implicitHeader()
  res.end()
  res.detachSocket(socket)
}

/** Brings `res` into the state of an ended response. */
function showEnded (outgoing) {
  const { res } = outgoing
  res.shouldKeepAlive = outgoing.shouldKeepAlive
  endNowhere(res, outgoing.isChunked) // before the status, which may be invalid by now
  res.statusCode = outgoing.status
  res.statusMessage = outgoing.message
  if (outgoing.isPast || isCloseVisible(outgoing)) markClosed(res)
}

/** Brings `res` into the state of a response that was lost before it ended. */
function showLost (outgoing) {
  const { res, responses } = outgoing
  if (outgoing.wasFirst) {
    setMessage(responses.socket, res)
    res.socket = responses.socket
  }
  if (isCloseVisible(outgoing)) markClosed(res)
}

/** Node closes such a response (since Node 24 also a queued one). */
function isCloseVisible (outgoing) {
  return outgoing.isLost && (outgoing.wasFirst || NOTIFIES_QUEUED)
}

function markClosed (res) {
  res.destroyed = true
  res._closed = true
}

module.exports = {
  make, beginSwitch, endNowhere, showBegun, showEnded, showLost, assign, releaseSocket, cutOff, onDrain
}
