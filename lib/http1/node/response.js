'use strict'

const http = require('node:http')
const process = require('node:process')
const { setMessage } = require('./handover')
const { responseFinished } = require('./watchers')
const { Pieces } = require('../response/pieces')
const { REMOVED_LENGTH, REMOVED_ENCODING, REMOVED_CONNECTION, REMOVED_DATE } = require('../response/outgoing')

/**
 * A genuine http.ServerResponse whose bytes go through the front. All that decides about them is node's own
 * code; only where node would write to the socket, piece by piece, the pieces are joined and given to
 * Responses. So a response is one write instead of a `writev` of two or three pieces, and pipelined ones are
 * batched. These methods are the object's own, because express changes its prototype.
 */

/** Since Node 24 a response that never had its turn is told that the client has left. */
const TELLS_QUEUED = Number(process.versions.node.split('.')[0]) >= 24

/** Other copies of kone in the process find the fast path's object by the same symbol. */
const kOutgoing = Symbol.for('kone.outgoing')
const kPieces = Symbol('kone.pieces')

const { _storeHeader, _writeRaw, _finish } = http.ServerResponse.prototype

/**
 * @param {Connection} connection
 * @param {Outgoing} outgoing
 * @param {http.IncomingMessage} req
 * @return {http.ServerResponse}
 */
function make (connection, outgoing, req) {
  const { server, socket } = connection
  const res = new http.ServerResponse(req, {
    highWaterMark: socket.writableHighWaterMark,
    rejectNonStandardBodyWrites: server.rejectNonStandardBodyWrites
  })
  res[kOutgoing] = outgoing
  res[kPieces] = null
  res._storeHeader = storeHeader
  res._writeRaw = writeRaw
  res._finish = finish
  res._hasBody = !outgoing.incoming.isHead
  res._keepAliveTimeout = server.keepAliveTimeout
  res._maxRequestsPerSocket = server.maxRequestsPerSocket
  res._onPendingData = bytes => connection.responses.nodeQueued(bytes)
  res.shouldKeepAlive = !outgoing.mustClose

  const { removed, fields } = outgoing
  if (removed & REMOVED_LENGTH) res.removeHeader('content-length')
  if (removed & REMOVED_ENCODING) res.removeHeader('transfer-encoding')
  if (removed & REMOVED_CONNECTION) res.removeHeader('connection')
  if (removed & REMOVED_DATE) res.removeHeader('date')
  for (let i = 0; i < fields.length; i += 2) res.setHeader(fields[i].text, fields[i + 1])
  return res
}

// ---- node's own code calls these; `this` is the response

/** Whether the connection closes is decided now: the server may drain since the object was made. */
function storeHeader (firstLine, headers) {
  if (this[kOutgoing].mustClose) this.shouldKeepAlive = false
  return _storeHeader.call(this, firstLine, headers)
}

/** A piece of the response. Node's own code queues what comes before its turn, and drops what is late. */
function writeRaw (data, encoding, callback, size) {
  const { socket } = this
  if (socket === null || socket.destroyed || socket._httpMessage !== this || !socket.writable) {
    return _writeRaw.call(this, data, encoding, callback, size)
  }
  const pieces = this[kPieces] ??= new Pieces()
  const isFirst = pieces.isEmpty
  if (this.outputData.length > 0) takeOutput(this)
  if (typeof encoding === 'function') addPiece(this, data, null, encoding)
  else addPiece(this, data, encoding, callback)
  // In end() this may be the last piece, whose callback emits 'finish': _finish() takes it, in the same tick.
  if (isFirst) process.nextTick(writePieces, this)
  const hasRoom = socket.writableLength + pieces.size < socket.writableHighWaterMark
  if (!hasRoom) process.nextTick(goOnIfRoom, this)
  return hasRoom
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
  outgoing.endByNode(text, bytes, isLatin1, callbacks, this._last)
}

function writePieces (res) {
  if (!res.finished) flushPieces(res)
}

/** The kernel took all at once, or in writes of which none was large: then the socket emits no 'drain'. */
function goOnIfRoom (res) {
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

/** The socket has room again: notify the response that waits for it, as node does. */
function drain (socket) {
  const res = socket._httpMessage
  if (res instanceof http.ServerResponse && res.writableLength === 0) goOn(res)
}

// Node clears this mark of its own when it notifies a response that it may go on.
const kNeedDrain = Object.getOwnPropertySymbols(new http.ServerResponse({ method: 'GET' }))
  .find(symbol => symbol.description === 'kNeedDrain')

function goOn (res) {
  if (!res.writableNeedDrain) return
  if (kNeedDrain !== undefined) res[kNeedDrain] = false
  res.emit('drain')
}

// ---- its end

/**
 * The response was flushed, or lost.
 *
 * @param {http.ServerResponse} res
 * @param {Function[]|null} callbacks that node gave with its pieces, one of which emits 'finish'
 * @param {Function[]|null} listeners of onFinished()
 * @param {Error|null} failure
 */
function settled (res, callbacks, listeners, failure) {
  if (failure === null) {
    process.nextTick(emitFinish, res, callbacks, listeners)
  } else {
    if (callbacks !== null) process.nextTick(call, callbacks, failure)
    if (listeners !== null) for (const fn of listeners) process.nextTick(fn, failure)
  }
}

/** As node's own listener for 'finish': drop an unread body, let go of the socket. */
function emitFinish (res, callbacks, listeners) {
  const { req, socket } = res
  responseFinished(req.socket.server, req, res)
  if (!req._consuming && !req._readableState.resumeScheduled) req._dump()
  if (socket !== null && socket._httpMessage === res) setMessage(socket, null)
  res.socket = null
  process.nextTick(emitClose, res)
  if (callbacks !== null) call(callbacks, null)
  // A tick later, when an unread request is at its end: destroyed before, it would take the socket with it.
  if (listeners !== null) for (const fn of listeners) process.nextTick(fn, null)
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

/** The client has left: node notifies the response whose turn it was, and others too (see TELLS_QUEUED). */
function abort (outgoing, reason) {
  const { res } = outgoing
  if (outgoing.hadTurn) emitClose(res)
  else if (TELLS_QUEUED && res.socket === null) res.destroy(reason)
  else if (TELLS_QUEUED) process.nextTick(emitClose, res)
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
  else if (outgoing.isNotified) settled(res, null, null, null)
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
  return outgoing.isLost && (outgoing.hadTurn || TELLS_QUEUED)
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

module.exports = { make, makeEnded, makeLost, assign, settled, abort, drain }
