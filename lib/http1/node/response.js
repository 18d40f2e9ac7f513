'use strict'

const http = require('node:http')
const process = require('node:process')
const { setMessage } = require('./handover')
const watchers = require('./watchers')
const { Pieces } = require('../response/pieces')
const { lengthOf } = require('../response/outgoing')
const { REMOVED } = require('../response/names')

/**
 * A genuine http.ServerResponse whose bytes go through the front:
 *
 * - Its fields stay in the fast path's object, and so does the making of the header section, until node's own
 *   code reads them.
 * - Where node would write to the socket, piece by piece, the pieces are joined and given to Responses. So a
 *   response is one write instead of a `writev` of two or three pieces, and pipelined ones are batched.
 * - Its request is made when somebody reads it.
 *
 * All of it works with node's own methods, too, because express changes the prototype: what node's code reads
 * or calls is the object's own.
 */

/** Since Node 24 a response that was still queued is notified when the client has left. */
const NOTIFIES_QUEUED = Number(process.versions.node.split('.')[0]) >= 24

/** How much of a stream is joined into one write while the socket's own buffer is empty, in bytes. */
const JOINED = 64 * 1024

/** Other copies of kone in the process find the fast path's object by the same symbol. */
const kOutgoing = Symbol.for('kone.outgoing')
const kPieces = Symbol('kone.pieces')
const kHeaders = Symbol('kone.headers')     // node's object of fields; FAST while there is none
const kRequest = Symbol('kone.request')     // one that somebody assigned
const kPlainBody = Symbol('kone.plainBody') // of a response whose header section the fast path has made

const kShowRemoved = Symbol('kone.showRemoved')

const FAST = undefined
const NONE = Symbol('none')

const { _storeHeader, _writeRaw, _finish, _implicitHeader, _send, writeHead, setHeader } = http.ServerResponse.prototype

const symbols = Object.getOwnPropertySymbols(new http.ServerResponse({ method: 'GET' }))
const kOutHeaders = symbols.find(symbol => symbol.description === 'kOutHeaders')
const kNeedDrain = symbols.find(symbol => symbol.description === 'kNeedDrain')

const REQUEST = {
  configurable: true,
  enumerable: true,
  get () { return this[kRequest] ?? this[kOutgoing].incoming.materialize() },
  set (req) { this[kRequest] = req }
}

/** Where node's own code reads and keeps the fields. */
const OUT_HEADERS = {
  configurable: true,
  enumerable: true,
  get () {
    if (this[kHeaders] === FAST) this[kHeaders] = takeFields(this[kOutgoing])
    return this[kHeaders]
  },
  set (headers) { this[kHeaders] = headers }
}

/** As node's setHeader() keeps them. */
function takeFields (outgoing) {
  const { fields } = outgoing
  outgoing.releaseFields()
  if (fields.length === 0) return null
  const headers = { __proto__: null }
  for (let i = 0; i < fields.length; i += 2) headers[fields[i].key] = [fields[i].text, fields[i + 1]]
  return headers
}

class FrontResponse extends http.ServerResponse {
  constructor (connection, outgoing) {
    const { server, socket } = connection
    const { incoming } = outgoing
    // The constructor reads a few values of the request, and shows it to these subscribers.
    super(watchers.seesCreated() ? incoming.materialize() : incoming, {
      highWaterMark: socket.writableHighWaterMark,
      rejectNonStandardBodyWrites: server.rejectNonStandardBodyWrites
    })
    this[kOutgoing] = outgoing
    this[kPieces] = null
    this[kHeaders] = FAST
    this[kRequest] = null
    this[kPlainBody] = NONE
    this._storeHeader = storeHeader
    this._writeRaw = writeRaw
    this._finish = finish
    this._hasBody = !incoming.isHead
    this._keepAliveTimeout = server.keepAliveTimeout
    this._maxRequestsPerSocket = server.maxRequestsPerSocket
    this._onPendingData = onPendingData
    this.shouldKeepAlive = !outgoing.mustClose
    Object.defineProperty(this, 'req', REQUEST)
    if (kOutHeaders !== undefined) Object.defineProperty(this, kOutHeaders, OUT_HEADERS)
  }

  setHeader (name, value) {
    if (isFast(this) && this[kOutgoing].setField(name, value)) return this
    return super.setHeader(name, value)
  }

  getHeader (name) {
    return isFast(this) && typeof name === 'string' ? this[kOutgoing].getField(name) : super.getHeader(name)
  }

  hasHeader (name) {
    if (isFast(this) && typeof name === 'string') return this[kOutgoing].getField(name) !== undefined
    return super.hasHeader(name)
  }

  getHeaders () {
    return isFast(this) ? this[kOutgoing].getFields() : super.getHeaders()
  }

  removeHeader (name) {
    if (!isFast(this) || typeof name !== 'string') return super.removeHeader(name)
    this[kShowRemoved](this[kOutgoing].removeField(name))
  }

  /** As node's own removeHeader() does. */
  [kShowRemoved] (removed) {
    if (removed === 0) return
    if (removed & REMOVED['content-length']) this._removedContLen = true
    if (removed & REMOVED['transfer-encoding']) this._removedTE = true
    if (removed & REMOVED.connection) this._removedConnection = true
    if (removed & REMOVED.date) this.sendDate = false
  }

  end (chunk, encoding, callback) {
    const outgoing = this[kOutgoing]
    const length = lengthOf(chunk)
    if (encoding !== undefined || !isFast(this) || !isUnchanged(this) || !outgoing.canEnd(length)) {
      return super.end(chunk, encoding, callback)
    }
    // Node's code ends it as if it had made the header section itself.
    const { statusCode } = this
    this.statusMessage ||= http.STATUS_CODES[statusCode] || 'unknown'
    if (statusCode === 204 || statusCode === 304) this._hasBody = false
    this._header = outgoing.header(length)
    this._contentLength = length
    this._last = outgoing.closes
    this.shouldKeepAlive = !outgoing.closes
    this[kPlainBody] = chunk
    return super.end(callback)
  }
}

Object.defineProperty(FrontResponse.prototype, 'constructor', { value: http.ServerResponse, writable: true, configurable: true })
Object.defineProperty(FrontResponse.prototype, 'req', REQUEST)
if (kOutHeaders !== undefined) Object.defineProperty(FrontResponse.prototype, kOutHeaders, OUT_HEADERS)

/** The fast path's object has its fields, and they were not sent. */
function isFast (res) {
  return res[kHeaders] === FAST && res._header === null
}

/** Is it its turn, and has nobody changed what decides how node's code would write it? */
function isUnchanged (res) {
  const { socket } = res
  const { incoming } = res[kOutgoing]
  return socket !== null && socket._httpMessage === res && socket.writable && socket.writableCorked === 0 &&
    res.outputData.length === 0 && !res.finished && !res.destroyed &&
    res.shouldKeepAlive !== incoming.section.closes && res._defaultKeepAlive && !res.maxRequestsOnConnectionReached &&
    res.useChunkedEncodingByDefault && !res.chunkedEncoding && !res.strictContentLength &&
    res.sendDate && res._trailer === '' &&
    res._hasBody !== incoming.isHead && !res._expect_continue &&
    res.writeHead === writeHead && res._implicitHeader === _implicitHeader && res._send === _send &&
    res._storeHeader === storeHeader && res._writeRaw === writeRaw && res._finish === finish
}

/**
 * @param {Connection} connection
 * @param {Outgoing} outgoing
 * @return {http.ServerResponse}
 */
function make (connection, outgoing) {
  const { fields } = outgoing
  const res = new FrontResponse(connection, outgoing)
  if (kOutHeaders === undefined) {
    outgoing.releaseFields()
    for (let i = 0; i < fields.length; i += 2) setHeader.call(res, fields[i].text, fields[i + 1])
  }
  res[kShowRemoved](outgoing.removed)
  return res
}

function onPendingData (bytes) {
  this[kOutgoing].responses.nodeQueued(bytes)
}

// ---- node's own code calls these; `this` is the response

/** Whether the connection closes is decided now: the server may drain since the object was made. */
function storeHeader (firstLine, headers) {
  if (this[kOutgoing].endsDrain) this.shouldKeepAlive = false
  return _storeHeader.call(this, firstLine, headers)
}

/** A piece of the response. Node's own code queues what comes before its turn, and drops what is late. */
function writeRaw (data, encoding, callback, size) {
  if (this[kPlainBody] !== NONE) {
    (this[kPieces] = new Pieces()).addCallback(callback) // the header section, to be sent with the body
    return true
  }
  const { socket } = this
  if (socket === null || socket.destroyed || socket._httpMessage !== this || !socket.writable) {
    return _writeRaw.call(this, data, encoding, callback, size)
  }
  const pieces = this[kPieces] ??= new Pieces()
  const isFirst = pieces.isEmpty
  if (this.outputData.length > 0) takeOutput(this)
  const done = typeof encoding === 'function' ? encoding : callback
  addPiece(this, data, typeof encoding === 'function' ? null : encoding, done)
  // Node corks the socket in write(). A piece that it writes to an uncorked socket, as flushHeaders() does, is sent at
  // once, unless end() wrote the piece: then its callback emits 'finish', and _finish() sends it in the same tick.
  if (socket.writableCorked === 0 && typeof done !== 'function') flushPieces(this)
  else if (isFirst) process.nextTick(writePieces, this, pieces.size)
  const { writableLength, writableHighWaterMark: mark } = socket
  const isBelowMark = writableLength + pieces.size < (writableLength === 0 ? Math.max(mark, JOINED) : mark)
  if (!isBelowMark) process.nextTick(goOnIfWritable, this)
  return isBelowMark
}

function addPiece (res, data, encoding, callback) {
  const pieces = res[kPieces]
  if (!pieces.add(data, encoding)) {
    flushPieces(res)
    pieces.add(data, encoding)
  }
  if (typeof callback === 'function') pieces.addCallback(callback)
}

/** What node has queued: all that was written before its turn, or a header section in front of a Buffer. */
function takeOutput (res) {
  const { outputData, outputSize } = res
  res.outputData = []
  res.outputSize = 0
  for (const { data, encoding, callback } of outputData) addPiece(res, data, encoding, callback)
  res._onPendingData(-outputSize)
}

/** Everything was written. */
function finish () {
  _finish.call(this)
  const pieces = this[kPieces]
  const outgoing = this[kOutgoing]
  if (pieces === null || !outgoing.isOpen) return
  const { text, bytes, isLatin1, callbacks } = pieces
  pieces.clear()
  if (this[kPlainBody] !== NONE) {
    const body = this[kPlainBody]
    this[kPlainBody] = NONE
    return outgoing.endPlain(this._header, body, this._contentLength, callbacks)
  }
  outgoing.endByNode(text, bytes, isLatin1, callbacks, this._last)
}

/** A response that grows within a tick may end in the next one: then it is one write. */
function writePieces (res, size) {
  if (res.finished || res[kPieces].isEmpty) return
  if (res[kPieces].size > size && !res.writableNeedDrain) process.nextTick(writePieces, res, Infinity)
  else flushPieces(res)
}

/** The kernel took all at once, or in writes of which none was large: then the socket emits no 'drain'. */
function goOnIfWritable (res) {
  const { socket } = res
  if (socket !== null && !socket.writableNeedDrain && res[kPieces].isEmpty) goOn(res)
}

/** The response is not at its end: these pieces cannot wait for the rest. */
function flushPieces (res) {
  const pieces = res[kPieces]
  const outgoing = res[kOutgoing]
  if (pieces.isEmpty || !outgoing.isOpen) return
  const { text, bytes, isLatin1, callbacks } = pieces
  pieces.clear()
  outgoing.responses.stream(outgoing, text, bytes, isLatin1, callbacks)
}

// ---- its turn

/** Gives the socket to the response whose turn it is, and writes what node has queued until now. */
function assign (outgoing) {
  const { responses, res } = outgoing
  const { socket } = responses
  setMessage(socket, res)
  res.socket = socket
  if (res.listenerCount('socket') > 0) res.emit('socket', socket)
  if (res.destroyed) return responses.connection.end() // as Node 20: the responses in front of it are whole
  if (res.outputData.length === 0) return

  res[kPieces] ??= new Pieces()
  takeOutput(res)
  if (res.finished) {
    res._finish()
  } else {
    flushPieces(res)
    if (!socket.writableNeedDrain) goOn(res)
  }
}

/** The socket's buffer is empty again: notify the response that stopped for it, as node does. */
function drain (socket) {
  const res = socket._httpMessage
  if (res instanceof http.ServerResponse && res.writableLength === 0) goOn(res)
}

// Node clears this mark of its own when it notifies a response that it may go on.
function goOn (res) {
  if (!res.writableNeedDrain) return
  if (kNeedDrain !== undefined) res[kNeedDrain] = false
  res.emit('drain')
}

// ---- its end

/** As node when it emits 'finish'. */
function finished (outgoing) {
  const { server } = outgoing.responses.connection
  watchers.responseFinished(server, outgoing.res)
}

/** Lets go of the socket; 'close' follows. */
function close (res) {
  const { socket } = res
  if (socket !== null && socket._httpMessage === res) setMessage(socket, null)
  res.socket = null
  process.nextTick(emitClose, res)
}

function call (callbacks, err) {
  for (const fn of callbacks) fn(err)
}

function emitClose (res) {
  if (res._closed) return
  res.destroyed = true
  res._closed = true
  res.emit('close')
}

/** The client has left: node notifies the response whose turn it was, and others too (see NOTIFIES_QUEUED). */
function abort (outgoing, reason) {
  const { res } = outgoing
  if (outgoing.hadTurn) emitClose(res)
  else if (NOTIFIES_QUEUED && res.socket === null) res.destroy(reason)
  else if (NOTIFIES_QUEUED) process.nextTick(emitClose, res)
}

// ---- made late

/** Node's object of a response that has ended already, in the state that node's would be in. */
function makeEnded (outgoing) {
  const { res } = outgoing
  const sink = new Sink()
  res._writeRaw = _writeRaw
  res._finish = _finish
  res.assignSocket(sink)
  res.end() // before the status: it may have been set to anything since
  res.detachSocket(sink)
  res.statusCode = outgoing.status
  res.statusMessage = outgoing.message ?? (http.STATUS_CODES[outgoing.status] || 'unknown')
  if (outgoing.isPast || knowsLoss(outgoing)) markClosed(res)
}

/** Node's object of a response that was lost before it ended. */
function makeLost (outgoing) {
  const { res, responses } = outgoing
  if (outgoing.hadTurn) {
    setMessage(responses.socket, res)
    res.socket = responses.socket
  }
  if (knowsLoss(outgoing)) markClosed(res)
}

function knowsLoss (outgoing) {
  return outgoing.isLost && (outgoing.hadTurn || NOTIFIES_QUEUED)
}

function markClosed (res) {
  res.destroyed = true
  res._closed = true
}

class Sink {
  constructor () {
    this.writable = true
    this.destroyed = false
    this.writableLength = 0
    this.writableCorked = 0
    this._writableState = { corked: 0 }
    this._httpMessage = null
  }

  on () {}
  removeListener () {}
  cork () {}
  uncork () {}
  write (data, encoding, callback) {
    if (typeof callback === 'function') callback()
    return true
  }
}

module.exports = { make, makeEnded, makeLost, assign, finished, close, call, abort, drain }
